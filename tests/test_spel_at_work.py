"""The optimizers compared in the book: the committed results, and their script where torch is installed."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from ngeodesic.polar import msign
from ngeodesic.spel import spel_step
from ngeodesic.stiefel import random_point

DATA = Path(__file__).parent.parent / "notebooks" / "data"
STORED = DATA / "spel"
PARTS = ("drift", "network", "pca", "times")


def metadata(part):
    with safe_open(STORED / f"{part}.safetensors", "numpy") as file:
        return file.metadata()


def arrays(part):
    return load_file(STORED / f"{part}.safetensors")


def axes(part):
    return json.loads(metadata(part)["axes"])


# --- the committed files ---


def test_four_small_files_are_there():
    files = sorted(STORED.iterdir())
    assert [path.name for path in files] == [f"{part}.safetensors" for part in PARTS]
    assert sum(path.stat().st_size for path in files) < 300_000


def test_files_are_read_without_torch():
    code = """
import sys
sys.modules["torch"] = None
from pathlib import Path
from safetensors.numpy import load_file
print(sum(len(load_file(path)) for path in Path(sys.argv[1]).iterdir()))
"""
    result = subprocess.run(
        [sys.executable, "-c", code, STORED], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(result.stdout) == sum(len(arrays(part)) for part in PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_provenance_tells_how_to_make_the_files(part):
    about = metadata(part)
    assert about["command"] == f"python notebooks/data/spel_at_work.py --preset book --part {part}"
    assert all(about[name] for name in ("python", "torch", "numpy", "safetensors", "machine", "threads"))
    assert (part in ("network", "times")) == ("corpus_sha256" in about)


@pytest.mark.parametrize("part", PARTS)
def test_every_number_is_there(part):
    for name, array in arrays(part).items():
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(1, dtype=bool)
        assert not missing.any(), name


def test_what_was_chosen_is_the_best_of_the_grid():
    """The least median gap; then, each to one percent, the least worst gap, the soonest, the lowest rate."""
    stored, constant = arrays("pca"), axes("pca")["schedules"].index("constant")
    for p, m, limit in np.ndindex(stored["chosen"].shape[:3]):
        allowed = np.s_[:, :, constant : constant + 1] if limit else np.s_[:]
        gap, soon = (stored[f"tuning.{name}"][p, m][allowed] for name in ("gap", "soon"))
        good = np.ones(gap.shape[1:], dtype=bool)
        for value, slack in ((np.median(gap, 0), 1.01), (gap.max(0), 1.01), (np.median(soon, 0), 1)):
            good &= value <= slack * value[good].min()
        rate, schedule, momentum = stored["chosen"][p, m, limit]
        assert good[rate, schedule - constant * limit, momentum]
        assert not good[:rate].any()
    network = arrays("network")
    expected = np.median(network["tuning.loss"], axis=-1).argmin(axis=-1)
    np.testing.assert_array_equal(network["chosen"], expected)


def test_nothing_that_was_chosen_is_at_an_edge_of_what_was_tried():
    """Neither a rate nor, unless the gap is rounding anyhow, the steepest schedule."""
    stored = arrays("pca")
    rates = stored["chosen"][..., 0]
    assert rates.min() > 0
    assert rates.max() < len(stored["learning_rates"]) - 1
    solved = np.median(stored["tuning.gap"], axis=2).min(axis=(-3, -2, -1)) <= 1e-13
    assert np.all(solved | (stored["chosen"][:, :, 0, 1] < len(axes("pca")["schedules"]) - 1))
    network = arrays("network")
    assert network["chosen"].min() > 0
    assert network["chosen"].max() < network["tuning.rates"].shape[-1] - 1
    coarse = network["coarse.loss"].argmin(axis=-1)
    assert coarse.min() > 0
    assert coarse.max() < len(network["coarse.rates"]) - 1


def test_as_many_settings_for_every_method_and_other_seeds_to_report():
    preset = json.loads(metadata("pca")["preset"])
    assert len(preset["tuning_seeds"]) >= 3
    assert len(preset["network_seeds"]) >= 6
    assert not set(preset["tuning_seeds"]) & set(preset["seeds"])
    assert not set(preset["network_tuning_seeds"]) & set(preset["network_seeds"])
    assert arrays("network")["tuning.loss"].shape[2:] == (
        2 * preset["reach"] + 1,
        len(preset["network_tuning_seeds"]),
    )


def test_only_the_published_form_is_elsewhere_than_its_nearest_point():
    stored, names = arrays("pca"), axes("pca")["methods"]
    off = np.abs(stored["gap_as_it_is"] - stored["gap"])[..., 1:].max(axis=(0, 2, 3, 4))
    assert off[names.index("published")] > 1e-2
    assert np.delete(off, names.index("published")).max() <= 1e-12


def test_spel_is_on_the_manifold_wherever_it_was_looked_at():
    spel = axes("pca")["methods"].index("spel")
    assert arrays("pca")["defect"][:, spel].max() <= 1e-13
    kinds, defects = axes("drift")["methods"], arrays("drift")["defect"]
    for kind, bound in (("spel float64", 1e-13), ("spel float32", 1e-6), ("spel bfloat16", 1e-2)):
        assert defects[kinds.index(kind)].max() <= bound
    network, names = arrays("network"), axes("network")["methods"]
    for depth, method in product((1, 2), ("spel", "muon", "riemannian", "unmatched")):
        assert network[f"depth-{depth}.defect"][names.index(method)].max() <= 1e-6


def test_the_published_form_with_its_defaults_is_a_constant_way_off():
    kinds, defects = axes("drift")["methods"], arrays("drift")["defect"]
    off = defects[kinds.index("published quintic")]
    assert 1e-2 < off.min() < off.max() < 5e-2
    assert defects[kinds.index("published polar_express")].max() < 1e-6


def test_a_constant_on_the_loss_changes_no_step_of_the_projected_methods_without_momentum():
    """prop-at-work (a): rounding apart, which grows where the gradient is small."""
    stored, names = arrays("pca"), axes("pca")
    power, shifted = (names["spectra"].index(s) for s in ("power", "shifted"))
    for method in names["methods"]:
        tried = stored["tuning.gap"][[power, shifted], names["methods"].index(method)]
        for i, momentum in enumerate(stored["momenta"]):
            one, two = np.maximum(tried[..., i], 1e-5)
            expected = method in ("spel", "riemannian") and momentum == 0
            assert np.allclose(one, two, rtol=1e-3) == expected, (method, momentum)


def test_at_a_constant_rate_spel_does_not_end_nearer_than_half_a_step():
    """prop-at-work (b), which is about steps without momentum."""
    stored, spel = arrays("pca"), axes("pca")["methods"].index("spel")
    for p, (rate, _, momentum) in enumerate(stored["chosen"][:, spel, 1]):
        if stored["momenta"][momentum] == 0:
            half = np.sin(np.arctan(stored["learning_rates"][rate]) / 2)
            assert stored["error"][p, spel, 1, :, -10:].max(axis=-1).min() > 0.9 * half


def test_times_are_over_those_of_spel_in_the_same_turn():
    ratio, names = arrays("times")["ratio"], axes("times")["methods"]
    preset = json.loads(metadata("times")["preset"])
    assert ratio.shape == (preset["turns"], len(preset["timed_shapes"]) + 1, len(names))
    assert np.all(ratio[..., names.index("spel")] == 1)
    assert np.all(ratio > 0)


# --- the script ---


@pytest.fixture(scope="module")
def script():
    """The script as a module; torch's settings are put back afterwards."""
    torch = pytest.importorskip("torch", reason="the optimizers need torch")
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    sys.path.insert(0, str(DATA))
    spec = importlib.util.spec_from_file_location("spel_at_work", DATA / "spel_at_work.py")
    module = sys.modules["spel_at_work"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(DATA))
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)
        for name in ("spel_at_work", "train_ngpt"):
            sys.modules.pop(name, None)


def test_the_stored_preset_is_that_of_the_script(script):
    for part in PARTS:
        assert json.loads(metadata(part)["preset"]) == json.loads(json.dumps(asdict(script.PRESETS["book"])))


@pytest.mark.parametrize("problem", range(3))
@pytest.mark.parametrize("method", ["spel", "muon", "published", "riemannian"])
def test_stored_runs_are_those_of_the_script(script, method, problem):
    """The first steps of the first run."""
    preset, stored = script.PRESETS["book"], arrays("pca")
    m = script.METHODS.index(method)
    rate, schedule, momentum = stored["chosen"][problem, m, 0]
    setting = script.Setting(
        preset.learning_rates[rate], list(script.SCHEDULES)[schedule], preset.momenta[momentum]
    )
    spectrum = list(script.SPECTRA)[problem]
    every = script.looked_at_every(preset)
    again = list(islice(script.descend(preset, spectrum, method, setting, preset.seeds[0], every), 3))
    for column, name in enumerate(("gap", "gap_as_it_is", "error")):
        expected = stored[name][problem, m, 0, 0, :3]
        np.testing.assert_allclose([x[column] for x in again], expected, rtol=1e-4, atol=1e-12)


def test_stored_training_is_that_of_the_script(script):
    if script.about_text(script.corpus())["corpus_sha256"] != metadata("network")["corpus_sha256"]:
        pytest.skip("the text of this Python is another one")
    preset, stored = script.PRESETS["book"], arrays("network")
    m = script.NETWORK_METHODS.index("riemannian")
    lr = stored["tuning.rates"][0, m, stored["chosen"][0, m]]
    run = script.train(preset, 1, "riemannian", lr, preset.network_seeds[0], stored["looks"].tolist())
    expected = stored["depth-1.loss"][m, 0]
    np.testing.assert_allclose(run["loss"][:2], expected[:2], rtol=1e-3)
    np.testing.assert_allclose(run["loss"], expected, atol=0.05)
    np.testing.assert_allclose(run["turn"][0], stored["depth-1.turn"][m, 0, 0], rtol=1e-2)


@pytest.mark.parametrize("kind", ["spel float64", "spel bfloat16", "published quintic"])
def test_stored_drift_is_that_of_the_script(script, kind):
    stored, moments = arrays("drift"), np.arange(1, 4)
    again = script.wander(kind, (256, 64), moments, 3)
    np.testing.assert_allclose(again, stored["defect"][axes("drift")["methods"].index(kind), 0, :3], rtol=0.5)


def step_of(script, method, W, G, lr, **newton):
    """W after one step of a method, with the momentum 0."""
    torch = script.torch
    p = torch.nn.Parameter(torch.from_numpy(W.copy()))
    p.grad = torch.from_numpy(G)
    script.optimizer(method, [p], lr, 0.0).step()
    return p.detach().numpy()


def test_without_a_normal_part_muon_takes_the_step_of_spel_bit_for_bit(script):
    """With W the first columns of I, the projection of a tangent momentum changes no bit of it."""
    W, G = np.eye(24)[:, :8], np.random.default_rng(0).standard_normal((24, 8))
    G[:8] -= G[:8].T
    spel, muon = (step_of(script, method, W, G, 0.1) for method in ("spel", "muon"))
    np.testing.assert_array_equal(spel, muon)
    assert not np.allclose(step_of(script, "muon", W, G + W, 0.1), spel)
    assert np.allclose(step_of(script, "spel", W, G + W, 0.1), spel)


def test_the_projection_is_back_after_a_step_without_it_whatever_happens(script):
    before, p = script.optim.tangent_part, script.nn.Parameter(script.torch.eye(4))
    muon = script.optimizer("muon", [p], 0.1, 0.0)
    for grad in (script.torch.ones(4, 4), script.torch.full((4, 4), np.nan)):
        p.grad = grad
        script.attempt(muon.step, None)
        assert script.optim.tangent_part is before


@pytest.mark.parametrize("shape", [(24, 6), (6, 24), (12, 12)])
def test_unmatched_turns_as_one_rate_does_in_the_other_scale_mode(script, shape):
    W, G = random_point(shape, seed=0), np.random.default_rng(1).standard_normal(shape)
    sigma = np.sqrt(shape[0] / shape[1])
    expected = spel_step(sigma * W, G, 0.1, scale_mode="unit_rms_to_rms_norm") / sigma
    np.testing.assert_allclose(step_of(script, "unmatched", W, G, 0.1), expected, atol=1e-4)


def frobenius_newton_schulz(X):
    """Five quintic steps from X / |X|_F, with the coefficients that Emerging-Optimizers publishes."""
    X = X / np.linalg.norm(X)
    for a, b, c in (
        (4.0848, -6.8946, 2.9270),
        (3.9505, -6.3029, 2.6377),
        (3.7418, -5.5913, 2.3037),
        (2.8769, -3.1427, 1.2046),
        (2.8366, -3.0525, 1.2012),
    ):
        gram = X.T @ X
        X = a * X + X @ (b * gram + c * gram @ gram)
    return X


@pytest.mark.parametrize("shape", [(24, 8), (8, 24), (12, 12)])
def test_one_step_of_each_method_is_its_formula(script, shape):
    W, G = random_point(shape, seed=0), np.random.default_rng(1).standard_normal(shape)
    tall = shape[0] >= shape[1]
    normal = W @ (W.T @ G + G.T @ W) / 2 if tall else (G @ W.T + W @ G.T) @ W / 2
    expected = {
        "spel": msign(W - 0.1 * msign(G - normal)),
        "muon": msign(W - 0.1 * msign(G)),
        "riemannian": msign(W - 0.1 * (G - normal)),
        "published": frobenius_newton_schulz(W - 0.1 * frobenius_newton_schulz(G)),
    }
    for method, W_next in expected.items():
        np.testing.assert_allclose(step_of(script, method, W, G, 0.1), W_next, atol=1e-4)


def test_the_turn_of_a_square_weight_is_the_angle_asked_for(script):
    W, G = random_point((12, 12), seed=0), np.random.default_rng(1).standard_normal((12, 12))
    before, after = (script.torch.from_numpy(X) for X in (W, step_of(script, "spel", W, G, 0.1)))
    assert script.turn(before, after) == pytest.approx(np.arctan(0.1), rel=1e-4, abs=0)


def test_the_gap_is_zero_at_the_leading_space_and_one_at_the_trailing_one(script, monkeypatch):
    preset, setting = script.PRESETS["test"], script.Setting(0.1, "constant", 0.0)
    m, n = preset.shape
    for rows, gap, error in ((slice(n), 0, 0), (slice(m - n, m), 1, 1)):
        W = np.eye(m)[:, rows]
        monkeypatch.setattr(
            script, "point", lambda shape, seed, W=W: script.nn.Parameter(script.torch.tensor(W))
        )
        for spectrum in script.SPECTRA:
            seen = next(script.descend(preset, spectrum, "spel", setting, 0, 1))
            np.testing.assert_allclose(seen, [gap, gap, error, 0], atol=1e-14)


def test_the_least_median_wins_then_the_worst_seed_then_the_soonest_then_the_lowest_rate(script):
    settings = {
        "a bad median": ([1, 9, 9], [1, 1, 1]),
        "a bad seed": ([1, 1.005, 9], [1, 1, 1]),
        "late": ([1, 1.005, 1.005], [7, 7, 1]),
        "good": ([1, 1, 1.005], [5, 5, 9]),
        "as good at a higher rate": ([1, 1, 1], [5, 1, 5]),
    }
    gaps, soon = (np.transpose([scores[k] for scores in settings.values()]) for k in (0, 1))
    chosen = [script.best(gaps, soon, np.arange(5) < stop) for stop in (5, 3, 2, 1)]
    assert [list(settings)[i] for i in chosen] == ["good", "late", "a bad seed", "a bad median"]


def test_tuning_goes_on_until_the_best_rate_is_inside(script, monkeypatch, tmp_path):
    """On the seed of the coarse grid another rate is best than on the others."""

    def train(preset, depth, method, lr, seed, look_at):
        return {"loss": [abs(6 * np.log10(lr) - (-12 if seed == 0 else -1))]}

    monkeypatch.setattr(script, "train", train)
    kept = script.Kept(tmp_path / "kept.json", {}, lambda _: None)
    tuned = script.tune(script.PRESETS["book"], 1, "spel", kept)
    assert tuned.exponents[tuned.chosen] == -1
    assert 0 < tuned.chosen < len(tuned.exponents) - 1


def test_no_byte_of_a_held_out_window_is_in_a_passage_that_recurs(script):
    text, held_out = script.split(script.corpus())
    again = script.recurring(text, held_out)
    fresh = bytes(np.where(again, 0, np.frombuffer(held_out, np.uint8)).astype(np.uint8))
    assert b"\0" not in held_out
    windows = script.texts()[1].numpy().astype(np.uint8)
    assert windows.shape == (script.HELD_OUT, script.CONTEXT + 1)
    assert all(window.tobytes() in fresh for window in windows[::16])


def files(folder):
    return {path.name: load_file(path) for path in folder.glob("*.safetensors")}


def same(one, two):
    """Whether two folders hold the same numbers."""
    assert one.keys() == two.keys()
    for name, stored in one.items():
        assert stored.keys() == two[name].keys()
        for key in stored:
            np.testing.assert_array_equal(stored[key], two[name][key], err_msg=f"{name}: {key}")


@pytest.fixture(scope="module")
def made(script, tmp_path_factory):
    """The folder of a test-sized run of all parts."""
    out = tmp_path_factory.mktemp("spel")
    assert script.main(["--preset", "test", "--out", str(out)]) == 0
    return out


def test_a_run_makes_what_is_stored(made):
    assert sorted(path.name for path in made.iterdir()) == [f"{part}.safetensors" for part in PARTS]
    for part in PARTS:
        small, stored = load_file(made / f"{part}.safetensors"), arrays(part)
        assert {k: (v.dtype, v.ndim) for k, v in small.items()} == {
            k: (stored[k].dtype, stored[k].ndim) for k in small
        }


def test_every_method_finds_the_leading_space_and_learns(made):
    pca, network = (load_file(made / f"{part}.safetensors") for part in ("pca", "network"))
    assert pca["error"][0, :, 0, :, -1].max() < 0.1 < pca["error"][0, :, 0, :, 0].min()
    assert np.all(network["depth-1.loss"][..., -1] < network["depth-1.loss"][..., 0])


def test_an_interrupted_run_resumes_to_the_same_numbers(script, made, tmp_path, monkeypatch, capsys):
    call, real = ["--preset", "test", "--part", "drift", "pca", "--out", str(tmp_path)], script.descend

    def descend(preset, spectrum, method, setting, seed, every):
        if (spectrum, method) == ("power", "muon"):
            raise KeyboardInterrupt
        return real(preset, spectrum, method, setting, seed, every)

    monkeypatch.setattr(script, "descend", descend)
    assert script.main(call) == 130
    assert "resumes" in capsys.readouterr().err
    assert not (tmp_path / "pca.safetensors").exists()
    monkeypatch.setattr(script, "descend", real)
    assert script.main(call) == 0
    assert "drift: finished before" in capsys.readouterr().err
    same({name: v for name, v in files(made).items() if name[:3] in ("dri", "pca")}, files(tmp_path))


def test_the_unfinished_part_of_another_preset_is_refused(script, tmp_path):
    (tmp_path / "drift.unfinished.json").write_text(json.dumps({"about": {}, "results": {}}))
    with pytest.raises(SystemExit, match=r"drift\.unfinished\.json belongs to another run"):
        script.main(["--preset", "test", "--part", "drift", "--out", str(tmp_path)])
