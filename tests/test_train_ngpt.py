"""The trained nGPT of the book: its committed files, and its training script where torch is installed."""

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from ngeodesic.checkpoints import read_alphas
from ngeodesic.geodesic import angle, retract
from ngeodesic.offplane import off_plane_norm, predicted_off_plane_norm

DATA = Path(__file__).parent.parent / "notebooks" / "data"
SCRIPT = DATA / "train_ngpt.py"
SEEDS = sorted((DATA / "ngpt").glob("seed-*"))


def metadata(path):
    with safe_open(path, "numpy") as file:
        return file.metadata()


def alphas(folder, done):
    """The effective alphas of a folder after so many steps, in the order in which the model uses them."""
    path = folder / f"alphas-{done:04d}.safetensors"
    return [record.alpha for record in read_alphas(path, init_scaling=float(metadata(path)["base_scale"]))]


def fresh():
    """Which places that were looked at lie in no passage that the training text has too."""
    return ~load_file(DATA / "ngpt" / "text.safetensors")["places.recurring"]


def moments(folder):
    return load_file(folder / "run.safetensors")["moments"].tolist()


# --- the committed files ---


def test_three_seeds_are_there_and_small():
    assert [folder.name for folder in SEEDS] == ["seed-0", "seed-1", "seed-2"]
    files = [path for path in (DATA / "ngpt").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".safetensors"}
    assert sum(path.stat().st_size for path in files) < 2_000_000


def test_files_are_read_without_torch():
    code = """
import sys
sys.modules["torch"] = None
from pathlib import Path
from safetensors.numpy import load_file
from ngeodesic.checkpoints import read_alphas
files = sorted(Path(sys.argv[1]).rglob("*.safetensors"))
print(sum(len(read_alphas(path)) for path in files if path.name.startswith("alphas")))
print(sum(len(load_file(path)) for path in files if path.name == "run.safetensors"))
"""
    result = subprocess.run(
        [sys.executable, "-c", code, DATA / "ngpt"], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.split() == [str(3 * 9 * 8), str(3 * 7)]


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_provenance_tells_how_to_make_the_files(folder):
    about = metadata(folder / "run.safetensors")
    seed = folder.name.removeprefix("seed-")
    assert about["command"].startswith(f"python notebooks/data/train_ngpt.py --preset book --seeds {seed} ")
    assert json.loads(about["config"]) | {"layers": 4, "dim": 128, "steps": 2000} == json.loads(
        about["config"]
    )
    assert len(about["corpus_sha256"]) == 64
    assert about["corpus_licence"] == "PSF-2.0"
    assert all(about[name] for name in ("python", "torch", "numpy", "safetensors", "machine", "corpus"))
    for done in moments(folder):
        own = metadata(folder / f"alphas-{done:04d}.safetensors")
        assert own == about | {"iter_num": str(done)}


def test_recurring_passages_are_those_of_the_text_of_the_runs():
    about, run = (metadata(DATA / "ngpt" / name) for name in ("text.safetensors", "seed-0/run.safetensors"))
    assert {key: run[key] for key in about if key in run} == {k: about[k] for k in about if k in run}
    recurring = load_file(DATA / "ngpt" / "text.safetensors")
    assert len(recurring["held_out.recurring"]) == -(-int(about["corpus_bytes"]) // 10)
    assert recurring["places.recurring"].shape == (256,)
    assert 0 < recurring["held_out.recurring"].mean() < 0.1


def test_the_seeds_differ_in_nothing_but_the_seed():
    abouts = [metadata(folder / "run.safetensors") for folder in SEEDS]
    for about in abouts:
        del about["seed"], about["command"]
    assert abouts[0] == abouts[1] == abouts[2]


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_alphas_have_their_official_names(folder):
    stored = load_file(folder / "alphas-2000.safetensors")
    assert set(stored) == {f"transformer.h.{i}.{name}_alpha" for i in range(4) for name in ("attn", "mlp")}
    for i, alpha in enumerate(alphas(folder, 2000)):
        name = f"transformer.h.{i // 2}.{'mlp' if i % 2 else 'attn'}_alpha"
        np.testing.assert_allclose(alpha, np.abs(stored[name] * 0.05 * np.sqrt(128)), rtol=1e-6)


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_stored_states_are_the_steps_of_the_stored_alphas(folder):
    run = load_file(folder / "run.safetensors")
    states, targets = run["states"], run["targets"]
    assert states.shape[0] == targets.shape[0] + 1 == 9
    np.testing.assert_allclose(np.linalg.norm(states, axis=-1), 1, atol=1e-6)
    for h, target, after, alpha in zip(states, targets, states[1:], alphas(folder, 2000), strict=False):
        np.testing.assert_allclose(retract(h, target, alpha.astype(h.dtype)), after, atol=1e-6)


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_stored_geometry_is_that_of_the_stored_states(folder):
    run = load_file(folder / "run.safetensors")
    for i, alpha in enumerate(alphas(folder, 2000)):
        h, target = np.float64(run["states"][i]), np.float64(run["targets"][i])
        np.testing.assert_allclose(run["theta"][-1, i, ::6], angle(h, target), atol=1e-6)
        np.testing.assert_allclose(run["off_plane"][-1, i, ::6], off_plane_norm(h, target, alpha), atol=1e-6)


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_with_their_mean_alpha_the_states_stay_in_their_planes(folder):
    """The control, by QR: off_plane_norm gives 0 for equal alphas whatever the step does."""
    run = load_file(folder / "run.safetensors")
    h, target = np.float64(run["states"][:-1]), np.float64(run["targets"])
    basis = np.linalg.qr(np.stack([h, target], axis=-1)).Q
    alpha = np.array(alphas(folder, 2000))[:, None]

    def off_plane(alpha):
        step = retract(h, target, alpha)[..., None]
        rest = step - basis @ (np.swapaxes(basis, -1, -2) @ step)
        return np.linalg.norm(rest[..., 0], axis=-1)

    mean = np.broadcast_to(alpha.mean(axis=-1, keepdims=True), alpha.shape)
    assert off_plane(mean).max() < 1e-14
    np.testing.assert_allclose(off_plane(alpha), off_plane_norm(h, target, alpha), rtol=1e-13)


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_trained_steps_leave_their_planes(folder):
    """By more than one per cent of their length, and by less than the note's example."""
    off = load_file(folder / "run.safetensors")["off_plane"]
    assert off[0].max() < 1e-6
    assert off[-1].min() > 0.02  # no step is longer than 2
    assert off[-1].mean(axis=-1).max() < 0.18


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_alphas_spread_less_than_in_the_note(folder):
    alpha = np.array(alphas(folder, 2000))
    ratio = alpha.std(axis=-1) / alpha.mean(axis=-1)
    assert 0 < ratio.min() < ratio.max() < 1 / 3


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_the_law_holds_within_ten_percent_but_for_the_first_mlp(folder):
    """It gives too large a norm there, where the chord favours some dimensions: see the chapter."""
    run = load_file(folder / "run.safetensors")
    theta, measured = np.float64(run["theta"][-1]), run["off_plane"][-1]
    alpha = np.array(alphas(folder, 2000))
    law = predicted_off_plane_norm(alpha.mean(-1)[:, None], alpha.std(-1)[:, None], theta)
    for places in (fresh(), np.full(256, True)):
        ratio = law[:, places].mean(axis=-1) / measured[:, places].mean(axis=-1)
        assert np.flatnonzero(np.abs(ratio - 1) > 0.1).tolist() == [1]
        assert ratio[1] > 1
    chord = np.float64(run["targets"]) - run["states"][:-1]
    share = np.mean(chord**2 / np.sum(chord**2, axis=-1, keepdims=True), axis=1)
    assert np.argmax(np.sum(share**2, axis=-1)) == 1


@pytest.mark.parametrize("folder", SEEDS, ids=lambda folder: folder.name)
def test_the_law_holds_everywhere_for_shuffled_alphas(folder):
    """Within five per cent, of which up to two are the finite number of dimensions."""
    run = load_file(folder / "run.safetensors")
    h, target = np.float64(run["states"][:-1]), np.float64(run["targets"])
    alpha = np.array(alphas(folder, 2000))[:, None]
    law = predicted_off_plane_norm(alpha.mean(-1), alpha.std(-1), angle(h, target)).mean(axis=-1)
    rng = np.random.default_rng(0)
    shuffled = [off_plane_norm(h, target, rng.permuted(alpha, axis=-1)).mean(axis=-1) for _ in range(40)]
    np.testing.assert_allclose(law / np.mean(shuffled, axis=0), 1, atol=0.05)


# --- the script ---


@pytest.fixture(scope="module")
def script():
    """The training script as a module; torch's settings are put back afterwards."""
    torch = pytest.importorskip("torch", reason="training needs torch")
    spec = importlib.util.spec_from_file_location("train_ngpt", SCRIPT)
    module = sys.modules["train_ngpt"] = importlib.util.module_from_spec(spec)
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    spec.loader.exec_module(module)
    yield module
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)
    del sys.modules["train_ngpt"]


@pytest.fixture(scope="module")
def trained(script, tmp_path_factory):
    """The folder of a test-sized training: 2 layers, d = 32, 300 steps."""
    out = tmp_path_factory.mktemp("ngpt")
    assert script.main(["--preset", "test", "--out", str(out)]) == 0
    return out / "seed-0"


@pytest.fixture
def tiny(script, monkeypatch):
    """A preset that trains in a fraction of a second, with checkpoints every ten steps."""
    preset = script.Preset(1, 16, 2, 16, 40, 2, 5e-3, (0,))
    monkeypatch.setitem(script.PRESETS, "test", preset)
    monkeypatch.setattr(script, "CHECKPOINT_EVERY", 10)
    return preset


def test_training_learns(trained):
    before, *_, after = load_file(trained / "run.safetensors")["curve.held_out_loss"]
    assert before > np.log(200)
    assert after < 3  # nats per byte; bytes by their frequencies alone cost 3.2


def test_recurring_bytes_are_found(script):
    text, held_out = b"0123456789abcdef", b"__56789ab__ef"
    found = script.recurring(text, held_out, length=4)
    assert found.tolist() == [c not in b"_ef" for c in held_out]
    assert not script.recurring(text, held_out, length=8).any()
    assert not script.recurring(text, b"012", length=4).any()


def test_the_stored_recurring_bytes_are_those_of_this_text(script, tmp_path):
    about = metadata(DATA / "ngpt" / "text.safetensors")
    if hashlib.sha256(script.corpus()).hexdigest() != about["corpus_sha256"]:
        pytest.skip("this Python has another text")
    script.write_text(script.PRESETS["book"].context, tmp_path)
    stored = load_file(DATA / "ngpt" / "text.safetensors")
    for name, mask in load_file(tmp_path / "text.safetensors").items():
        np.testing.assert_array_equal(mask, stored[name])


def test_before_training_each_step_stays_in_its_plane(trained):
    assert np.max(load_file(trained / "run.safetensors")["off_plane"][0]) < 1e-6
    np.testing.assert_allclose(alphas(trained, 0), 0.05, rtol=1e-6)


def test_after_training_each_step_leaves_its_plane_as_the_law_says(trained):
    """In 32 dimensions the law is coarse: it has to be right within 40 %."""
    run = load_file(trained / "run.safetensors")
    for i, alpha in enumerate(alphas(trained, 300)):
        measured, theta = run["off_plane"][-1, i], np.float64(run["theta"][-1, i])
        assert measured.min() > 1e-3
        predicted = predicted_off_plane_norm(np.mean(alpha), np.std(alpha), theta)
        assert abs(predicted.mean() / measured.mean() - 1) < 0.4


def test_trained_states_have_norm_one(trained):
    run = load_file(trained / "run.safetensors")
    np.testing.assert_allclose(np.linalg.norm(run["states"], axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize(("precision", "tolerance"), [("float", 1e-6), ("double", 1e-15)])
def test_retract_is_the_step_of_the_module(script, precision, tolerance):
    """Acceptance: the official update, with alphas of both signs as stored, in both precisions."""
    import torch

    model = getattr(script.NGPT(script.PRESETS["test"], seed=1), precision)()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for layer in model.transformer["h"]:
            layer.attn_alpha.normal_(generator=generator)
            layer.mlp_alpha.normal_(generator=generator)
        trace = []
        model(torch.arange(64).view(2, 32), trace)
    stored = [a.detach() for layer in model.transformer["h"] for a in (layer.attn_alpha, layer.mlp_alpha)]
    assert len(trace) == 4
    for step, alpha in zip(trace, (torch.abs(0.05 * np.sqrt(32) * a) for a in stored), strict=True):
        assert torch.max(torch.abs(retract(step.h, step.target, alpha) - step.after)) < tolerance
        moved = retract(step.h.numpy(), step.target.numpy(), alpha.numpy())
        assert np.max(np.abs(moved - step.after.numpy())) < tolerance


def test_each_step_of_training_leaves_normalised_matrices(script, tiny, tmp_path):
    run = script.Run("test", tiny, 0, tmp_path)
    before = [p.detach().clone() for p in run.model.parameters()]
    run.train_step()
    for (name, after), old in zip(run.model.named_parameters(), before, strict=True):
        assert not after.equal(old), f"{name} has not moved"
        if after.ndim == 2:
            norms = after.detach().norm(dim=0 if name.endswith("c_proj") else 1)
            np.testing.assert_allclose(norms, 1, atol=1e-6)


def test_the_model_does_not_see_the_future(script, tiny):
    model = script.NGPT(tiny, seed=0)
    text = script.corpus()[:16]
    changed = text[:10] + bytes(6)
    first, second = (model(script.torch.tensor([list(t)])).detach().numpy() for t in (text, changed))
    np.testing.assert_allclose(first[:, :10], second[:, :10], atol=1e-6)
    assert np.max(np.abs(first[:, 10:] - second[:, 10:])) > 1e-3


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def interrupt(script, monkeypatch, at):
    """Let Ctrl-C come at the start of a step."""
    real = script.Run.train_step

    def train_step(run):
        if run.done == at:
            raise KeyboardInterrupt
        real(run)

    monkeypatch.setattr(script.Run, "train_step", train_step)
    return lambda: monkeypatch.setattr(script.Run, "train_step", real)


@pytest.mark.parametrize("at", [3, 27, 32])
def test_an_interrupted_training_resumes_to_the_same_files(script, tiny, tmp_path, monkeypatch, capsys, at):
    whole, parts = (
        ["--preset", "test", "--out", str(tmp_path / "a")],
        ["--preset", "test", "--out", str(tmp_path / "b")],
    )
    assert script.main(whole) == 0
    restore = interrupt(script, monkeypatch, at)
    assert script.main(parts) == 130
    assert "run.safetensors" not in files(tmp_path / "b")
    restore()
    assert script.main(parts) == 0
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert capsys.readouterr().err.count("seed 0") == 3  # one line a call and no progress bar: no terminal


def test_a_finished_training_is_not_repeated(script, tiny, tmp_path, monkeypatch, capsys):
    call = ["--preset", "test", "--out", str(tmp_path)]
    assert script.main(call) == 0
    interrupt(script, monkeypatch, 0)
    assert script.main(call) == 0
    assert "finished before" in capsys.readouterr().err


def test_the_checkpoint_of_another_run_is_refused(script, tiny, tmp_path, monkeypatch):
    call = ["--preset", "test", "--out", str(tmp_path)]
    interrupt(script, monkeypatch, 20)
    assert script.main(call) == 130
    monkeypatch.setitem(script.PRESETS, "test", script.Preset(1, 16, 2, 16, 40, 3, 5e-3, (0,)))
    with pytest.raises(SystemExit, match=r"unfinished\.pt belongs to another run"):
        script.main(call)


def test_help_says_that_the_text_depends_on_the_python_version(script, capsys):
    with pytest.raises(SystemExit, match="0"):
        script.main(["--help"])
    assert "differs between Python\nversions" in capsys.readouterr().out
