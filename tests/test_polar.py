"""msign and newton_schulz: values, ranks, scales, dtypes, errors, gradients."""

from __future__ import annotations

import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

from ngeodesic.polar import COEFFICIENTS, msign, newton_schulz

REASON = "torch is an optional extra"
loads_forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
SHAPES = [
    (1, 1),
    (8, 1),
    (1, 8),
    (5, 7),
    (7, 5),
    (9, 9),
    (33, 65),
    (65, 33),
    (64, 64),
    (127, 257),
    (300, 256),
]
NAMES = list(COEFFICIENTS)


def gaussian(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def of_values(shape: tuple[int, int], values: Any, seed: int = 0) -> Any:
    """A matrix with these singular values, and its polar factor."""
    rng = np.random.default_rng(seed)
    u, v = (np.linalg.qr(rng.standard_normal((side, len(values))))[0] for side in shape)
    return (u * np.asarray(values)) @ v.T, u[:, np.asarray(values) > 0] @ v[:, np.asarray(values) > 0].T


def singular_values(x: Any) -> Any:
    return np.linalg.svd(np.asarray(x, float), compute_uv=False)


# msign


@pytest.mark.parametrize("shape", SHAPES)
def test_msign_is_the_polar_factor(shape: tuple[int, int]) -> None:
    x = gaussian(*shape)
    expected = scipy.linalg.polar(x, side="right" if shape[0] >= shape[1] else "left")[0]
    values = singular_values(x)
    np.testing.assert_allclose(msign(x), expected, rtol=0, atol=40 * EPS * values[0] / values[-1])
    np.testing.assert_allclose(singular_values(msign(x)), 1, rtol=10 * EPS)
    np.testing.assert_allclose(singular_values(msign(x.astype(np.float32))), 1, rtol=10 * EPS32)


def test_msign_against_50_digits() -> None:
    x = gaussian(4, 3, seed=1)
    with mpmath.workdps(50):
        u, _, v = mpmath.svd(mpmath.matrix(x.tolist()))
        expected = np.array((u * v).tolist(), float)
    np.testing.assert_allclose(msign(x), expected, rtol=0, atol=20 * EPS)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (6, 6), (65, 33), (300, 256)])
@pytest.mark.parametrize("rank", [0, 1, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_direction_of_singular_value_0_stays_0(shape: tuple[int, int], rank: int, dtype: Any) -> None:
    x = gaussian(shape[0], rank, seed=2).astype(dtype) @ gaussian(rank, shape[1], seed=3).astype(dtype)
    values = singular_values(msign(x))
    tolerance = 20 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(values[:rank], 1, rtol=tolerance)
    assert np.max(values[rank:], initial=0) <= tolerance


def test_the_rank_threshold() -> None:
    for value, rank in ((1e-13, 3), (1e-17, 2)):
        x, _ = of_values((6, 3), [1, 1, value])
        assert np.sum(singular_values(msign(x)) > 0.5) == rank


def test_each_matrix_of_a_batch_has_its_own_rank_and_scale() -> None:
    batch = np.stack([gaussian(5, 3), np.zeros((5, 3)), np.ones((5, 3)), 1e-300 * gaussian(5, 3, seed=1)])
    result = msign(batch)
    for x, factor in zip(batch, result, strict=True):
        np.testing.assert_allclose(factor, msign(x), rtol=0, atol=4 * EPS)
    assert not result[1].any()
    np.testing.assert_allclose(result[2], 1 / np.sqrt(15), rtol=4 * EPS)
    np.testing.assert_array_equal(msign(batch.reshape(2, 2, 5, 3)), result.reshape(2, 2, 5, 3))


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (9, 9)])
def test_msign_does_not_depend_on_the_scale(shape: tuple[int, int]) -> None:
    x = gaussian(*shape)
    for scale in (2.0**-1000, 2.0**-300, 2.0**300, 2.0**1020):
        np.testing.assert_array_equal(msign(scale * x), msign(x))
    x = x.astype(np.float32)
    for scale in (1e-30, 1e30):
        np.testing.assert_allclose(msign(x * np.float32(scale)), msign(x), rtol=0, atol=100 * EPS32)
    assert np.isfinite(msign(np.full((64, 64), 1e308))).all()
    assert singular_values(msign(np.full((3, 2), 5e-324)))[0] == pytest.approx(1, rel=4 * EPS, abs=0)


def test_an_odd_map_of_transposes() -> None:
    x = gaussian(7, 5)
    np.testing.assert_array_equal(msign(x.T), msign(x).T)
    np.testing.assert_allclose(msign(-x), -msign(x), rtol=0, atol=20 * EPS)
    np.testing.assert_allclose(msign(msign(x)), msign(x), rtol=0, atol=4 * EPS)


# newton_schulz


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(9, 6), (6, 9), (8, 8)])
def test_newton_schulz_applies_the_polynomials_to_the_singular_values(
    name: str, shape: tuple[int, int]
) -> None:
    values = np.array([0.8, 0.5, 0.3, 0.1, 0.02, 0.003])
    x, _ = of_values(shape, values)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    s = s / np.linalg.norm(s)
    table = COEFFICIENTS[name].steps
    for step in range(9):
        expected = (u * s) @ vt
        result = newton_schulz(x, steps=step, coefficients=name)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-11)
        a, b, c = table[min(step, len(table) - 1)]
        s = a * s + b * s**3 + c * s**5


def composed(name: str, s: Any, steps: int) -> Any:
    table = COEFFICIENTS[name].steps
    for step in range(steps):
        a, b, c = table[min(step, len(table) - 1)]
        s = a * s + b * s**3 + c * s**5
    return s


@pytest.mark.parametrize("name", NAMES)
def test_the_interval_of_convergence_ends_where_the_table_says(name: str) -> None:
    (low, high), (least, most) = COEFFICIENTS[name].interval, COEFFICIENTS[name].limit
    assert low == 0
    inside = np.concatenate([np.geomspace(1e-8, 1e-3, 100), np.linspace(1e-3, high * (1 - 1e-9), 20_000)])
    settled = composed(name, inside, 200)
    assert least - 1e-9 <= settled.min() <= settled.max() <= most + 1e-9
    with np.errstate(all="ignore"):
        outside = composed(name, np.array([high * 1.002]), 200)  # the table rounds down
    assert not least - 1e-9 <= outside[0] <= most + 1e-9


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("cubic", (0.993, 0.975, 0.871)),
        ("classical_quintic", (0.977, 0.849, 0.020)),
        ("muon_quintic", (0.53, 0.32, 0.32)),
        ("tuned_quintic", (0.53, 0.022, 0.012)),
        ("polar_express", (0.16, 2e-15, 1e-16)),
    ],
)
def test_the_accuracy_that_the_docstring_gives(name: str, errors: tuple[float, ...]) -> None:
    s = np.geomspace(1e-3, 1, 20_001)
    for steps, error in zip((5, 8, 12), errors, strict=True):
        found = np.max(np.abs(composed(name, s, steps) - 1))
        assert found <= error
        assert found >= 0.9 * error or error < 1e-14


def test_the_two_classical_sets_are_taylor_polynomials() -> None:
    """s times the Taylor polynomial of (1 + e)^(-1/2) at e = s^2 - 1: the first derivatives at 1 vanish."""
    for name, order in (("cubic", 2), ("classical_quintic", 3)):
        ((a, b, c),) = COEFFICIENTS[name].steps
        p = np.polynomial.Polynomial([0, a, 0, b, 0, c])
        assert p(1.0) == 1
        assert all(p.deriv(k)(1.0) == 0 for k in range(1, order))
        assert p.deriv(order)(1.0) != 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1.0, 1e30, 1e38])
def test_newton_schulz_in_float32_at_every_scale(name: str, scale: float) -> None:
    x = gaussian(12, 8, seed=4)
    x = (x / np.abs(x).max()).astype(np.float32)
    result = newton_schulz(x * np.float32(scale), steps=8, coefficients=name)
    np.testing.assert_allclose(result, newton_schulz(x, steps=8, coefficients=name), rtol=0, atol=2e-5)
    assert result.dtype == np.float32


def test_eight_steps_of_polar_express_reach_msign() -> None:
    x, factor = of_values((40, 30), np.geomspace(1, 1e-2, 30))
    np.testing.assert_allclose(newton_schulz(x, steps=8, coefficients="polar_express"), factor, atol=1e-12)
    low = newton_schulz(x.astype(np.float32), steps=8, coefficients="polar_express")
    np.testing.assert_allclose(low, factor, atol=1e-4)
    np.testing.assert_allclose(singular_values(low), 1, rtol=2e-6)


def test_no_matrices_at_all() -> None:
    none = np.zeros((0, 5, 3))
    assert msign(none).shape == newton_schulz(none, steps=3, coefficients="cubic").shape == (0, 5, 3)


def test_a_zero_matrix_stays_zero() -> None:
    for name in NAMES:
        assert not newton_schulz(np.zeros((4, 3)), steps=8, coefficients=name).any()


def test_the_table_is_read_only_and_names_its_sources() -> None:
    with pytest.raises(TypeError):
        COEFFICIENTS["cubic"] = COEFFICIENTS["muon_quintic"]  # type: ignore[index]
    assert all(entry.source for entry in COEFFICIENTS.values())


# kinds, NaN, errors


@pytest.mark.parametrize("function", [msign, lambda x: newton_schulz(x, steps=3, coefficients="cubic")])
def test_what_is_not_finite_spreads_over_its_matrix_alone(function: Any) -> None:
    batch = np.stack([gaussian(4, 3)] * 3)
    batch[1, 0, 0], batch[2, 3, 1] = np.nan, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(batch)
    np.testing.assert_array_equal(result[0], function(batch[0]))
    assert np.isnan(result[1:]).all()
    assert np.isnan(function(batch[1])).all()


def test_kinds_of_arrays() -> None:
    assert msign([[1, 2], [3, 4], [5, 6]]).dtype == np.float64
    half = gaussian(6, 4).astype(np.float16)
    assert msign(half).dtype == np.float16
    np.testing.assert_allclose(msign(half), msign(half.astype(float)), atol=1e-3)
    fortran = np.asfortranarray(gaussian(6, 4))
    np.testing.assert_array_equal(msign(fortran), msign(np.ascontiguousarray(fortran)))


def test_torch_in_torch_out() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    x = gaussian(2, 6, 4)
    np.testing.assert_allclose(msign(torch.from_numpy(x)), msign(x), rtol=0, atol=40 * EPS)
    low = torch.from_numpy(x).to(torch.bfloat16)
    assert msign(low).dtype == torch.bfloat16
    batch = torch.from_numpy(x)
    batch[0] = torch.nan
    assert torch.isnan(msign(batch)[0]).all()
    assert torch.isfinite(msign(batch)[1]).all()


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (4, 4), (2, 4, 3)])
def test_gradients(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    x = torch.from_numpy(gaussian(*shape, seed=5)).requires_grad_()
    assert torch.autograd.gradcheck(msign, (x,))
    assert torch.autograd.gradcheck(lambda y: newton_schulz(y, steps=3, coefficients="polar_express"), (x,))


def test_the_gradient_where_singular_values_coincide_or_vanish() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    point = torch.eye(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(msign, (point,))
    # within the matrices of rank 1
    a, b = (torch.from_numpy(gaussian(n, 1, seed=n)).requires_grad_() for n in (5, 3))
    assert torch.autograd.gradcheck(lambda a, b: msign(a @ b.mT), (a, b))
    zero = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
    msign(zero).sum().backward()
    assert not zero.grad.any()


@loads_forward_mode
def test_forward_derivatives() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    x, d = torch.from_numpy(gaussian(2, 5, 3, seed=5))
    expected = (msign(x + 1e-6 * d) - msign(x - 1e-6 * d)) / 2e-6
    _, change = torch.func.jvp(msign, (x,), (d,))
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-8)
    assert torch.autograd.gradcheck(msign, (x.clone().requires_grad_(),), check_forward_ad=True)
    jacobians = torch.func.jacfwd(msign)(x), torch.func.jacrev(msign)(x)
    np.testing.assert_allclose(*jacobians, rtol=0, atol=1e-14)
    # also inside the derivative by something else
    _, within = torch.func.jvp(lambda x: torch.func.grad(lambda y: torch.sum(y * msign(x)))(d), (x,), (d,))
    np.testing.assert_allclose(within, change, rtol=0, atol=1e-14)


@loads_forward_mode
def test_second_derivatives_raise() -> None:
    """Also of a loss that is linear in the polar factor, where torch would find nothing to differentiate."""
    torch = pytest.importorskip("torch", reason=REASON)
    x, c = torch.from_numpy(gaussian(2, 5, 3, seed=5))

    def value(x: Any) -> Any:
        return torch.sum(c * msign(x))

    jacfwd, jacrev = torch.func.jacfwd, torch.func.jacrev
    for second in (
        lambda x: torch.autograd.functional.hessian(value, x),
        torch.func.hessian(value),
        jacrev(jacrev(value)),
        jacrev(jacfwd(value)),
        jacfwd(jacfwd(value)),
    ):
        with pytest.raises(NotImplementedError, match="first derivatives only"):
            second(x)


def _sparse() -> Any:
    return pytest.importorskip("torch", reason=REASON).eye(3).to_sparse()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: msign(np.ones(3)), ValueError, r"^X must be a matrix, .*got shape \(3,\)"),
        (lambda: msign(2.0), ValueError, r"got shape \(\)"),
        (lambda: msign(np.ones((0, 3))), ValueError, r"^X must be a matrix, .*got shape \(0, 3\)"),
        (lambda: msign(np.ones((2, 3, 0))), ValueError, r"got shape \(2, 3, 0\)"),
        (lambda: msign(np.eye(2), method="qr"), ValueError, r"^method must be one of 'svd': got 'qr'"),
        (lambda: msign(np.eye(2), method=None), TypeError, r"^method must be a string: got NoneType"),
        (lambda: msign(_sparse()), TypeError, "^X must be a dense tensor: got layout torch.sparse_coo$"),
        (lambda: msign(np.eye(2) * 1j), TypeError, r"^X must hold real numbers"),
        (
            lambda: newton_schulz(np.eye(2), steps=2, coefficients="newton"),
            ValueError,
            r"^coefficients must be one of 'cubic', 'classical_quintic', 'muon_quintic', .*: got 'newton'",
        ),
        (
            lambda: newton_schulz(np.eye(2), steps=-1, coefficients="cubic"),
            ValueError,
            "^steps must not be negative: got -1",
        ),
        (
            lambda: newton_schulz(np.eye(2), steps=1.5, coefficients="cubic"),
            TypeError,
            "^steps must be an integer: got float",
        ),
        (
            lambda: newton_schulz(np.ones(3), steps=1, coefficients="cubic"),
            ValueError,
            r"^X must be a matrix",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
