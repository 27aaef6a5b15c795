"""The rules of ngeodesic._arrays: kinds, dtypes, shapes, wording of errors, blocks of rows."""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as xp
import numpy as np
import pytest

import ngeodesic
from ngeodesic import _arrays, geodesic, offplane

REASON = "torch is an optional extra"


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ({"a": 1, "b": 2.5}, np.float64),
        ({"a": Fraction(1, 3)}, np.float64),
        ({"a": np.float32(1), "b": 2.5}, np.float32),
        ({"a": np.float64(1), "b": np.float32(2)}, np.float64),
        ({"a": np.int8(1)}, np.float64),
        ({"a": [1, 2], "b": 3}, np.float64),
        ({"a": (1, 2.5)}, np.float64),
        ({"a": []}, np.float64),
        ({"a": np.ones(3, np.float16), "b": 2.5}, np.float16),
        ({"a": np.ones(3, np.float32), "b": np.float64(2.5)}, np.float32),
        ({"a": np.ones(3, np.float32), "b": np.ones(3)}, np.float64),
        ({"a": np.ones(3, np.float32), "b": np.ones(3, np.int8)}, np.float64),
        ({"a": np.ones(3, np.uint64)}, np.float64),
    ],
)
def test_result_dtype(values: dict[str, Any], dtype: type) -> None:
    _, arrays, restore = _arrays.as_floats(**values)
    work = np.float32 if dtype is np.float16 else dtype
    assert [array.dtype for array in arrays] == [work] * len(values)
    assert restore(arrays[0]).dtype == dtype


def test_scalars_alone_give_numpy_scalars() -> None:
    _, (a,), restore = _arrays.as_floats(a=1)
    assert type(restore(a)) is np.float64


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "bool"),
        (1j, "complex"),
        ("1", "str"),
        (None, "NoneType"),
        ({1.0}, "set"),
        (np.bool_(True), "bool"),
        ([True], "bool"),
        (["1"], "str"),
        ([None], "object"),
        (np.ones(2, complex), "complex128"),
        (np.ones(2, object), "object"),
        (np.ones(2, np.longdouble), str(np.dtype(np.longdouble))),
        (np.array(["2026-01-01"], "M8[D]"), "datetime64"),
        (np.ma.ones(2), "masked"),
    ],
)
def test_wrong_kind_is_a_type_error_naming_argument_and_kind(value: Any, kind: str) -> None:
    if kind == "float64":
        pytest.skip("longdouble is float64 on this platform")
    with pytest.raises(TypeError, match=f"(?s)^bad .*{kind}"):
        _arrays.as_floats(good=np.ones(2), bad=value)


def test_ragged_list() -> None:
    with pytest.raises(ValueError, match=r"^h is a list that is not rectangular"):
        _arrays.as_floats(h=[[1, 2], [3]])


def test_subclass_and_byte_order_become_plain_native_arrays() -> None:
    class Sub(np.ndarray):
        pass

    _, (a, b), _ = _arrays.as_floats(a=np.ones(2).view(Sub), b=np.ones(2, ">f8"))
    assert type(a) is np.ndarray
    assert b.dtype.isnative


def test_torch_rules() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    _, arrays, restore = _arrays.as_floats(a=torch.ones(2, dtype=torch.bfloat16), b=0.5, c=np.float64(0.5))
    assert {array.dtype for array in arrays} == {torch.float32}
    assert restore(arrays[1]).dtype == torch.bfloat16
    _, (a, _), _ = _arrays.as_floats(a=torch.ones(2, dtype=torch.int32), b=torch.ones(2))
    assert a.dtype == torch.float64
    for dtype, kind in ((torch.bool, "bool"), (torch.complex64, "complex64")):
        with pytest.raises(TypeError, match=f"^a .*{kind}"):
            _arrays.as_floats(a=torch.ones(2, dtype=dtype))
    with pytest.raises(TypeError, match=r"^b is a numpy array but a is a torch array"):
        _arrays.as_floats(a=torch.ones(2), b=np.ones(2))


def test_broadcast_shows_names_and_shapes() -> None:
    a, b = _arrays.broadcast(xp, a=np.ones((2, 1)), b=np.ones(3))
    assert a.shape == b.shape == (2, 3)
    with pytest.raises(ValueError, match=r"alpha \(3,\), theta \(2, 4\)"):
        _arrays.broadcast(xp, alpha=np.ones(3), theta=np.ones((2, 4)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.float64(4.5), "theta must lie in [0, pi]: got 4.5"),
        (np.array([1.0, 4.5, 7.0]), "theta must lie in [0, pi]: got 4.5 at index (1,)"),
        (np.array([[1.0, math.nan], [2.0, 4.5]]), "theta must lie in [0, pi]: got 4.5 at index (1, 1)"),
    ],
)
def test_refuse_names_the_first_bad_index(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^theta") as caught:
        _arrays.refuse(xp, values > math.pi, "theta", values, "lie in [0, pi]")
    assert str(caught.value) == message


def test_refuse_lets_nan_pass() -> None:
    values = np.array([math.nan, 1.0])
    _arrays.refuse(xp, values > math.pi, "theta", values, "lie in [0, pi]")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_range_scales_by_powers_of_two(dtype: type) -> None:
    info = np.finfo(dtype)
    x: Any = np.array([3.0, -4.0, 0.0], dtype)
    for scale in (info.smallest_subnormal, info.smallest_normal, 1, info.max / 4):
        y = x * dtype(scale)
        with np.errstate(all="ignore"):
            scaled, norms = _arrays.in_range(xp, y, _arrays.norm(xp, y))
        np.testing.assert_array_equal(np.frexp(scaled)[0], np.frexp(y)[0])
        np.testing.assert_allclose(scaled / norms, np.array([0.6, -0.8, 0.0]), rtol=4 * float(info.eps))


def row_sums(xp: Any, x: Any, y: Any, spare: Any, out: Any) -> Any:
    """A row formula: x + 2 y, refused where a row of x starts with 0."""
    _arrays.refuse_row(xp, x[..., :1] == 0, "x must not start with 0")
    return xp.add(x, xp.multiply(y, 2, **spare), **out)


@pytest.mark.parametrize("shape", [(3000, 200), (30, 100, 200), (7, 100_000), (1, 300_000)])
def test_blocks_of_rows_equal_the_whole(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape)
    for y in (
        rng.standard_normal(shape),
        rng.standard_normal(shape[-1:]),
        rng.standard_normal((*shape[:-1], 1)),
    ):
        np.testing.assert_array_equal(
            _arrays.by_rows(row_sums, xp, x, y, width=shape[-1], scratch=1), x + 2 * y
        )


def test_small_arrays_start_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrent.futures, "ThreadPoolExecutor", None)
    x = np.ones((100, 200))
    np.testing.assert_array_equal(_arrays.by_rows(row_sums, xp, x, x, width=200, scratch=1), 3 * x)


def test_blocks_of_strided_rows() -> None:
    x = np.random.default_rng(0).standard_normal((200, 3000)).T
    np.testing.assert_array_equal(_arrays.by_rows(row_sums, xp, x, x, width=200, scratch=1), 3 * x)


@pytest.mark.parametrize(("shape", "row"), [((3000, 200), "2345"), ((30, 100, 200), r"\(23, 45\)")])
def test_an_error_in_a_block_names_the_row_of_the_whole(shape: tuple[int, ...], row: str) -> None:
    x = np.ones(shape)
    x.reshape(-1, 200)[2345:, 0] = 0
    with pytest.raises(ValueError, match=rf"\(row {row}\)"):
        _arrays.by_rows(row_sums, xp, x, x, width=200, scratch=1)


def test_import_is_light() -> None:
    code = (
        "import sys; from ngeodesic import *; assert angle([1, 0], [0, 1]) > 1;"
        "print(*{'sympy', 'matplotlib', 'torch', 'scipy'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == []


def test_module_runs_without_warnings() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ngeodesic.geodesic"], capture_output=True, text=True, check=True
    )
    assert run.stdout
    assert run.stderr == ""


def test_names_of_the_package() -> None:
    assert ngeodesic.__version__ == importlib.metadata.version("ngeodesic-companion")
    assert all(getattr(ngeodesic, name) is getattr(geodesic, name) for name in geodesic.__all__)
    assert set(geodesic.__all__) < set(dir(ngeodesic))
    with pytest.raises(AttributeError, match="no attribute 'acos'"):
        _ = ngeodesic.acos


@pytest.mark.parametrize("axis", [True, 0.0, "0", None, (0, 1)])
def test_an_axis_is_an_integer(axis: Any) -> None:
    with pytest.raises(TypeError, match="axis must be an integer: got"):
        geodesic.angle([[1.0, 2.0]], [[2.0, 1.0]], axis=axis)


def test_any_integer_is_an_axis() -> None:
    assert geodesic.angle([[1.0], [0.0]], [[0.0], [1.0]], axis=np.uint8(0)) == pytest.approx(math.pi / 2)


def test_numbers_beyond_the_floating_point_range_are_named() -> None:
    for huge in (10**400, Fraction(10**400)):
        with pytest.raises(ValueError, match="alpha is too large"):
            geodesic.gap(huge, 1.0)


def test_what_is_in_a_list_is_looked_at() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[0, 1])
    with pytest.raises(TypeError, match="x is a list of tensors or masked arrays"):
        geodesic.angle([masked], [1.0, 0.0])
    assert geodesic.gap([np.float32(0.3)], 1.0).dtype == np.float64


@pytest.mark.parametrize("theta", [1e-200, 5e-324, 3.14])
def test_no_function_minds_what_the_caller_does_about_underflow(theta: float) -> None:
    with np.errstate(all="raise"):
        geodesic.max_gap(theta)
        geodesic.contract(theta, 0.3, 3)
        geodesic.matching_alpha(0.3, theta)
        geodesic.cubic_gap(0.3, theta)
        geodesic.gap_bounds(np.float16(0.3), np.float16(theta))
        geodesic.retract(np.ones(2, np.float32), np.float32([1, 0]), 1e200)
        offplane.predicted_off_plane_norm(0.3, 5e-324, theta)
        offplane.off_plane_norm([1.0, theta], [theta, 1.0], [5e-324, 1e-200])


def test_a_tensor_out_of_range_is_refused_without_a_warning() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    alpha = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match=r"alpha must lie in \[0, 1\]: got 1.5"):
        geodesic.gap(alpha, 1.0)


def test_a_huge_alpha_turns_by_less_than_a_quarter_turn_beyond_the_bisector() -> None:
    for alpha, theta in ((9e307, 1.0), (8.9e307, 2.0), (1e300, 1.5)):
        assert geodesic.retraction_angle(alpha, theta) == pytest.approx(
            theta / 2 + math.pi / 2, rel=1e-15, abs=0
        )
        assert geodesic.retraction_angle(-alpha, theta) == pytest.approx(
            theta / 2 - math.pi / 2, rel=1e-15, abs=0
        )
