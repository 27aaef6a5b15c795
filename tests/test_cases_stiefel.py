"""Faults that others reported in public, restated for the Stiefel functions; each id is project and issue.

The right values come from 40 to 60 digits on the float64 values of the decimals shown. EO is
NVIDIA-NeMo/Emerging-Optimizers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from public_cases import check_value

from ngeodesic.polar import COEFFICIENTS, msign, newton_schulz
from ngeodesic.spel import direction, rotation_angle, spel_step
from ngeodesic.stiefel import (
    exp,
    gram_defect,
    project_tangent,
    random_point,
    retract,
    sigma,
    tangency_defect,
)

REASON = "torch is an optional extra"
EPS = float(np.finfo(np.float64).eps)

W0 = [[1.0, 0], [0, 1], [0, 0]]
D0 = [[0.0, -1], [1, 0], [2, 3]]
COUNT = [[1.0, 2], [3, 4], [5, 6]]
G0 = [[3.0, 1], [2, 4], [1, -1]]
TALL = [[1.0, 0], [0, 1], [1, 0], [0, 1]]
G4 = [[1.0, 2], [3, 4], [5, 6], [7, 8]]
FLIPPED = [[-1.0, 0], [0, 1], [0, 0]]
SKEW3 = [[1.0, -3, 2], [3, 2, -1], [-2, 1, 3]]
I3 = np.eye(3)
RMS = "unit_rms_to_rms_norm"


def column(*entries: float) -> Any:
    return np.array(entries)[:, None]


def five_muon_steps(value: float) -> Any:
    """A Frobenius norm of 1 needs a second singular value beside `value`."""
    rest = math.sqrt(1 - value**2)
    x = np.diag([value, rest]) if rest else np.diag([value, 0.0])
    return newton_schulz(x, steps=5, coefficients="muon_quintic")[0, 0]


# source, what is computed, the right value, error allowed relative to the largest entry
VALUES: list[tuple[str, Callable[[], Any], Any, float]] = [
    ("JuliaNLSolvers/Optim.jl #619, tangent", lambda: project_tangent(W0, D0), D0, 0),
    (
        "JuliaNLSolvers/Optim.jl #619",
        lambda: project_tangent(W0, COUNT),
        [[0, -0.5], [0.5, 0], [5, 6]],
        0,
    ),
    ("adavoudi/spdnet #10, retract", lambda: retract(FLIPPED, 0), FLIPPED, 0),
    ("adavoudi/spdnet #10, retract by zeros", lambda: retract(FLIPPED, np.zeros((3, 2))), FLIPPED, 0),
    ("adavoudi/spdnet #10, msign", lambda: msign(FLIPPED), FLIPPED, 0),
    (
        "geomstats #1640, a large tangent",
        lambda: exp(column(1, 0), column(0, 1e6)),
        column(0.936752127533144787, -0.349993502171292952),
        2 * 1e6 * EPS,  # the rounding of the angle
    ),
    (
        "geomstats #1640, a large tangent, canonical",
        lambda: exp(column(1, 0), column(0, 1e6), metric="canonical"),
        column(0.936752127533144787, -0.349993502171292952),
        2 * 1e6 * EPS,  # the rounding of the angle
    ),
    ("Manopt.jl #446, a small tangent", lambda: exp(column(1, 0), column(0, 1e-9)), column(1, 1e-9), 0),
    (
        "Manopt.jl #446, the small entry",
        lambda: exp(column(1, 0), column(0, 1e-9))[1],
        [1e-9],
        4 * EPS,
    ),
    (
        "EO PR #106, P",
        lambda: project_tangent(W0, G0),
        [[0, -0.5], [0.5, 0], [1, -1]],
        0,
    ),
    (
        "EO PR #106, direction",
        lambda: direction(W0, G0),
        [[-1 / 3, -2 / 3], [2 / 3, 1 / 3], [2 / 3, -2 / 3]],
        10 * EPS,
    ),
    (
        "EO PR #106, W1",
        lambda: spel_step(W0, G0, 0.1),
        [
            [0.995863477615015069, 0.0686398223054580231],
            [-0.0642492566203235529, 0.995277423429141336],
            [-0.0642492566203235529, 0.0686398223054580231],
        ],
        4 * EPS,
    ),
    (
        "EO PR #301, a normal momentum",
        lambda: spel_step(W0, np.array(W0) @ [[2, 1], [1, 3]], 0.1),
        W0,
        0,
    ),
    ("microsoft/dion #24, msign", lambda: msign(np.zeros((3, 2))), np.zeros((3, 2)), 0),
    ("microsoft/dion #24, step", lambda: spel_step(W0, np.zeros((3, 2)), 0.1), W0, 0),
    ("KellerJordan/Muon PR #8", lambda: direction(W0, np.zeros((3, 2))), np.zeros((3, 2)), 0),
    ("pytorch PR #159465, 1", lambda: five_muon_steps(1.0), 0.696436409469752343, 100 * EPS),
    ("pytorch PR #159465, 1/2", lambda: five_muon_steps(0.5), 0.765438530454340, 1e-13),
    (
        "pytorch PR #159465, 1/sqrt 2",
        lambda: newton_schulz(np.eye(2), steps=5, coefficients="muon_quintic")[0, 0],
        1.10811111568293,
        1e-13,
    ),
    ("pytorch PR #160213, I", lambda: msign(np.eye(2)), np.eye(2), 0),
    (
        "pytorch PR #160213",
        lambda: msign(COUNT),
        [
            [-0.551003242989498478, 0.727824676380506509],
            [0.136158518671907955, 0.561065228940811325],
            [0.823320280333314387, 0.394305781501116141],
        ],
        50 * EPS,
    ),
    (
        "DeepSpeed #8437",
        lambda: msign([[1, 0], [1, 1]]),
        [[0.894427190999915879, -0.447213595499957939], [0.447213595499957939, 0.894427190999915879]],
        10 * EPS,
    ),
    (
        "tinygrad #11414, lr = 10",
        lambda: spel_step(W0, G0, 10),
        [
            [0.417620168032103094, 0.686398223054580231],
            [-0.642492566203235529, -0.240239378069103081],
            [-0.642492566203235529, 0.686398223054580231],
        ],
        10 * EPS,
    ),
    (
        "tinygrad #11414, the cubic step is rescaled",
        lambda: newton_schulz([[2.0]], steps=1, coefficients="cubic"),
        [[1]],
        0,
    ),
    (
        "EO #301 review, weights off the manifold are brought onto it",
        lambda: retract(2 * np.array(W0), 0),
        W0,
        0,
    ),
    ("EO #301 review, sigma of a tall weight", lambda: sigma((4, 2), RMS), 1.41421356237309505, EPS),
    ("EO #301 review, sigma of a wide weight", lambda: sigma((2, 4), RMS), 0.707106781186547524, EPS),
    (
        "EO #301 review, P of a scaled weight",
        lambda: project_tangent(TALL, G4, sigma=math.sqrt(2)),
        [[-2, -2.5], [-1.5, -2], [2, 1.5], [2.5, 2]],
        2 * EPS,
    ),
    (
        "EO #301 review, W1[0] of a scaled weight, lr / sigma = 0.1",
        lambda: spel_step(TALL, G4, 0.1 * math.sqrt(2), scale_mode=RMS)[0],
        (1.04726819759315136, 0.101001648523994985),
        4 * EPS,
    ),
    (
        "EO #301 review, W1[0] of a scaled weight, lr = 0.1",
        lambda: spel_step(TALL, G4, 0.1, scale_mode=RMS)[0],
        (1.0339811825982651585, 0.072437725932655903163),
        4 * EPS,
    ),
    (
        "pymanopt #301, W1[0]",
        lambda: spel_step(I3, SKEW3, 0.1)[0],
        (0.99539167662356134, 0.0804894353885156921, -0.0521235158001975748),
        4 * EPS,
    ),
    ("pymanopt #301, angle", lambda: rotation_angle(0.1), 0.0996686524911620274, EPS),
    ("pymanopt #301, determinant", lambda: np.linalg.det(spel_step(I3, SKEW3, 0.1)), 1, 4 * EPS),
    (
        "pymanopt #301, one column",
        lambda: spel_step(column(1, 0, 0), column(5, 3, 4), 0.1),
        column(0.995037190209989136, -0.0597022314125993481, -0.0796029752167991309),
        4 * EPS,
    ),
    (
        "pymanopt #301, one row",
        lambda: spel_step(column(1, 0, 0).T, column(5, 3, 4).T, 0.1),
        column(0.995037190209989136, -0.0597022314125993481, -0.0796029752167991309).T,
        4 * EPS,
    ),
]


@pytest.mark.parametrize(
    ("compute", "right", "tolerance"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
def test_value(compute: Callable[[], Any], right: Any, tolerance: float) -> None:
    check_value(compute, right, tolerance)


ERRORS: list[tuple[str, Callable[[], Any], str]] = [
    (
        "JuliaManifolds/Manifolds.jl #433",
        lambda: retract(random_point((4, 6), seed=0), np.zeros((4, 5))),
        r"W \(4, 6\), V \(4, 5\)",
    ),
    (
        "EO #301 review, project",
        lambda: project_tangent(2 * np.array(W0), G0),
        "^W must be on the Stiefel manifold",
    ),
    ("EO #301 review, step", lambda: spel_step(2 * np.array(W0), G0, 0.1), r"retract\(W, 0\)"),
    (
        "MoonshotAI/Moonlight #37",
        lambda: spel_step(np.ones(5), np.ones(5), 0.1),
        r"^W must be a matrix, .*got shape \(5,\)",
    ),
    ("ultralytics #25447", lambda: msign(np.ones((0, 3))), r"\(0, 3\)"),
    ("pytorch #166209", lambda: spel_step(1.0, 1.0, 0.1), r"^W must be a matrix, .*got shape \(\)"),
]


@pytest.mark.parametrize(
    ("compute", "message"), [case[1:] for case in ERRORS], ids=[case[0] for case in ERRORS]
)
def test_error(compute: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()


def test_a_wide_point_has_orthogonal_rows() -> None:
    """JuliaManifolds/Manifolds.jl #433: an obscure error about the shape."""
    W = random_point((2, 6), seed=0)
    moved = retract(W, project_tangent(W, np.ones((2, 6))))
    np.testing.assert_allclose(moved @ moved.T, np.eye(2), rtol=0, atol=4 * EPS)


def test_the_formula_off_the_manifold_is_no_projection() -> None:
    """EO #301 review: there sym(W^T P) = [[-18, -9], [-9, -24]], so W must be on it first."""
    W, G = 2 * np.array(W0), np.array(G0)
    P = G - W @ (W.T @ G + G.T @ W) / 2
    np.testing.assert_array_equal((W.T @ P + P.T @ W) / 2, [[-18, -9], [-9, -24]])
    on = retract(W, 0)
    assert tangency_defect(on, project_tangent(on, G)) == 0


def test_the_step_without_projection_is_another_one() -> None:
    """EO PR #106 and #301: Spel was merged without projecting; then W1[0, 0] is 0.998..."""
    unprojected = retract(W0, -0.1 * msign(G0))
    assert unprojected[0, 0] == pytest.approx(0.99880150974952175, rel=1e-14, abs=0)
    assert abs(spel_step(W0, G0, 0.1) - unprojected).max() > 0.002


def test_msign_of_many_random_matrices() -> None:
    """SauersML/gam #4314: a bar of 9 eps refuses 128 of 20000."""
    factors = msign(np.random.default_rng(4314).standard_normal((20_000, 3, 3)))
    assert np.max(np.abs(factors.mT @ factors - np.eye(3))) <= 50 * EPS


def test_a_thousand_steps_stay_on_the_manifold() -> None:
    """Manopt.jl #306, #67."""
    W = random_point((5, 3), seed=0)
    for G in np.random.default_rng(0).standard_normal((1000, 5, 3)):
        W = spel_step(W, G, 0.1)
        assert np.max(np.abs(W.T @ W - np.eye(3))) <= 1e-13


def test_the_scaled_step_keeps_the_scale() -> None:
    """EO #301 review: W1^T W1 = 2 I, after ten steps too, and the wide weight has rows of length 1/sqrt 2."""
    W = np.array(TALL)
    for _ in range(10):
        W = spel_step(W, G4, 0.1, scale_mode=RMS)
        np.testing.assert_allclose(W.T @ W, 2 * np.eye(2), rtol=0, atol=10 * EPS)
    wide = spel_step(np.array(TALL).T / 2, np.array(G4).T, 0.1, scale_mode=RMS)
    np.testing.assert_allclose(wide @ wide.T, np.eye(2) / 2, rtol=0, atol=4 * EPS)


def test_the_scale_of_the_gradient_does_not_count() -> None:
    """DeepSpeed #8441: the optimizer silently ran as SGD."""
    np.testing.assert_allclose(
        spel_step(W0, 7 * np.array(G0), 0.1), spel_step(W0, G0, 0.1), rtol=0, atol=4 * EPS
    )


def test_shards_do_not_make_the_whole() -> None:
    """DeepSpeed #8437, Moonlight #27, Megatron-LM #5961: row by row is another matrix."""
    x = np.array([[1.0, 0], [1, 1]])
    rows = np.concatenate([msign(x[:1]), msign(x[1:])])
    np.testing.assert_allclose(rows, [[1, 0], [math.sqrt(0.5)] * 2], rtol=4 * EPS)


def test_the_cubic_step_without_rescaling_flips_signs() -> None:
    """tinygrad #11414: 2 goes to -1, beyond the interval that the table gives."""
    ((a, b, _),) = COEFFICIENTS["cubic"].steps
    assert a * 2 + b * 2**3 == -1
    assert COEFFICIENTS["cubic"].interval[1] == math.sqrt(3)


def test_non_contiguous_matrices() -> None:
    """ultralytics #26013, clovaai/AdamP #17: made by transposing, by steps and by broadcasting."""
    torch = pytest.importorskip("torch", reason=REASON)
    W, G = random_point((7, 5), seed=0), np.random.default_rng(1).standard_normal((5, 7))
    strided = np.zeros((14, 10))
    strided[::2, ::2] = W
    expected = spel_step(W, np.ascontiguousarray(G.T), 0.1)
    np.testing.assert_allclose(spel_step(strided[::2, ::2], G.T, 0.1), expected, rtol=0, atol=4 * EPS)
    w, g = torch.from_numpy(W), torch.from_numpy(G)
    np.testing.assert_allclose(spel_step(w, g.t(), 0.1), expected, rtol=0, atol=1e-13)
    row = g[:, :1].t().expand(7, 5)
    np.testing.assert_allclose(spel_step(w, row, 0.1), spel_step(w, row.clone(), 0.1), rtol=0, atol=4 * EPS)


def test_the_step_of_every_floating_type() -> None:
    """pytorch PR #159465: the type was forced to bfloat16."""
    G = np.random.default_rng(1).standard_normal((64, 32))
    for dtype, bound in ((np.float32, 1e-6), (np.float64, 1e-12)):
        W = random_point((64, 32), seed=0).astype(dtype)
        moved = spel_step(W, G.astype(dtype), 0.1)
        assert moved.dtype == dtype
        gram = moved.astype(float).T @ moved.astype(float)
        assert np.max(np.abs(gram - np.eye(32))) <= bound
        assert gram_defect(moved) <= bound
