"""Array namespace, dtype and shape rules, and the wording of errors, for all numeric modules.

The rules, in one place:

- Arrays of any one library of the array API standard (NumPy, torch, ...) go in, the same kind comes out.
  Lists are float64 NumPy arrays. Subclasses of ``numpy.ndarray`` are taken as plain arrays; masked arrays are
  refused.
- Scalars, Python's and NumPy's, are weak: beside arrays they take the arrays' dtype. Alone they are NumPy,
  and the result is a NumPy scalar: float64, unless all NumPy scalars given are of a smaller floating type.
- Integers become float64. float16 and bfloat16 are computed in float32 and returned as they came.
- A wrong kind (complex, bool, text, object, two libraries in one call) is a TypeError, a wrong value or shape
  a ValueError. Each names the argument.
"""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

Array = Any  # an array of any library of the standard: there is no common base class to name
Out = dict[str, Array]  # the keywords that tell a function of the namespace where to write, see `by_rows`

# Decorates every public numeric function: NaN and infinity are values there, not warnings. What the caller
# has set comes back afterwards.
silent = np.errstate(all="ignore")

_BLOCKED_FROM = 2**18  # numbers in a whole array from which blocks pay
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
_WORK_DTYPE = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}


class Floats(NamedTuple):
    """What `as_floats` returns."""

    xp: Any
    """The array namespace of the arguments."""
    arrays: tuple[Array, ...]
    """The arguments in the order given, as arrays of one dtype: float32 or float64."""
    restore: Callable[[Array], Array]
    """Casts a result to the dtype that the caller gets back; a 0-d NumPy result becomes a NumPy scalar."""


def as_floats(**named: Any) -> Floats:
    """Take the arguments of a public function as arrays of one library and one floating dtype.

    The shapes are left as they are: see `broadcast`.

    Raises
    ------
    TypeError
        An argument that is not real-valued, or arrays of two libraries.
    ValueError
        A list that is not rectangular.
    """
    if (plain := _plain_floats(named)) is not None:
        return plain
    scalars = {n: v for n, v in named.items() if isinstance(v, numbers.Real) and not isinstance(v, bool)}
    strong = {n: _as_array(n, v) for n, v in named.items() if n not in scalars}
    if not strong:
        strong = {n: np.asarray(v) for n, v in scalars.items() if isinstance(v, np.generic)}
    first, like = next(iter(strong.items()), ("", np.asarray(0.0)))
    xp = array_api_compat.array_namespace(like)
    for name, array in strong.items():
        if type(array) is not type(like) and array_api_compat.array_namespace(array) is not xp:
            raise TypeError(
                f"{name} is a {_library(array)} array but {first} is a {_library(like)} array: "
                f"give both from one library"
            )
    strong = {n: _as_floating(xp, n, a) for n, a in strong.items()}
    dtypes = [a.dtype for a in strong.values()] or [like.dtype]
    out = dtypes[0] if all(d == dtypes[0] for d in dtypes) else xp.result_type(*dtypes)
    work = getattr(xp, _WORK_DTYPE[_name(out)])
    device = array_api_compat.device(like)
    arrays = tuple(
        xp.astype(strong[n], work, copy=False)
        if n in strong
        else xp.asarray(_as_float(n, v), dtype=work, device=device)
        for n, v in named.items()
    )

    if array_api_compat.is_numpy_namespace(xp):
        return Floats(xp, arrays, _to_numpy(out))
    return Floats(xp, arrays, lambda result: xp.astype(result, out, copy=False))


def _plain_floats(named: dict[str, Any]) -> Floats | None:
    """Return `as_floats` of NumPy arrays of float64 or float32, which need no change; None for others.

    It is not only for small arrays: after a large product the interpreter itself has left the cache.
    """
    arrays = tuple(named.values())
    if not all(type(array) is np.ndarray and array.dtype == arrays[0].dtype for array in arrays):
        return None
    dtype = arrays[0].dtype
    return Floats(_NUMPY, arrays, _to_numpy(dtype)) if dtype in (np.float64, np.float32) else None


_NUMPY = array_api_compat.array_namespace(np.empty(0))


@cache
def _to_numpy(dtype: Any) -> Callable[[Array], Array]:
    return lambda result: np.asarray(result, dtype=dtype)[()]


def broadcast(xp: Any, **named: Array) -> tuple[Array, ...]:
    """Broadcast arrays against each other.

    Raises
    ------
    ValueError
        Shapes that do not broadcast; the message shows all of them.
    """
    shape = broadcast_shape(**{name: tuple(array.shape) for name, array in named.items()})
    return tuple(xp.broadcast_to(array, shape) for array in named.values())


def broadcast_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of the named shapes, or raise a ValueError that shows them."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not broadcast: {shown}") from None


def refuse(xp: Any, bad: Array, name: str, values: Array, condition: str) -> None:
    """Raise a ValueError for the first True in `bad`.

    The message is "<name> must <condition>: got <value> at index <index>". Write `bad` so that NaN gives
    False, as ``(theta < 0) | (theta > pi)`` does: NaN propagates, it is not an error. `values` has the shape
    of `bad`.
    """
    if xp.any(bad):
        index = first_index(xp, bad)
        at = f" at index {index}" if index else ""
        value = float(constant(values[index]))  # a tensor that wants a gradient warns
        raise ValueError(f"{name} must {condition}: got {value!r}{at}")


def refuse_outside(xp: Any, values: Array, high: float, name: str, condition: str) -> None:
    if math.prod(values.shape) and xp.min(values) >= 0 and xp.max(values) <= high:
        return  # without any array of bools; NaN goes on
    refuse(xp, (values < 0) | (values > high), name, values, condition)


def as_angles(xp: Any, theta: Array) -> Array:
    """Check that theta lies in [0, pi], pi rounded to its dtype; return it, below pi."""
    pi = float(xp.asarray(math.pi, dtype=theta.dtype))
    refuse_outside(xp, theta, pi, "theta", "lie in [0, pi]")
    if pi <= math.pi:
        return theta
    below = pi * (1 - epsilon(xp, theta) / 2)  # float32 rounds pi up: there tan(theta/2) is negative
    return xp.where(theta > below, below, theta)


def as_index(name: str, value: Any) -> int:
    """Take an argument that counts, or names an axis, as an int."""
    if not isinstance(value, bool):
        with suppress(TypeError):
            return operator.index(value)
    raise TypeError(f"{name} must be an integer: got {type(value).__name__}")


def first_index(xp: Any, bad: Array) -> tuple[int, ...]:
    """Return the index of the first True, () for a 0-d array."""
    flat = int(xp.argmax(xp.reshape(xp.astype(bad, xp.uint8), (-1,))))
    return tuple(int(i) for i in np.unravel_index(flat, bad.shape))


def vectors(xp: Any, axis: int, **named: Array) -> tuple[tuple[Array, ...], int]:
    """Move the vector axis of each array to the end and check that the vectors fit.

    `axis` counts in the shape that the arrays have once broadcast. Returns the arrays, and `axis` as a
    negative number, with which a result is moved back.

    Raises
    ------
    ValueError
        No such axis in one of the arrays, vectors of no entry, of different lengths, or leading axes that do
        not broadcast; the message shows the shapes.
    """
    given, ndim = as_index("axis", axis), max(array.ndim for array in named.values())
    axis = given - ndim if given >= 0 else given
    shapes = {name: tuple(array.shape) for name, array in named.items()}
    for name, shape in shapes.items():
        if not -len(shape) <= axis < 0:
            raise ValueError(f"{name} of shape {shape} lacks the vector axis: axis={given} of {ndim} axes")
    shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    sizes = {shape[axis] for shape in shapes.values()}
    if len(sizes) > 1:
        raise ValueError(f"vectors of different lengths along axis {given}: {shown}")
    if sizes == {0}:
        raise ValueError(f"vectors without entries along axis {given}: {shown}")
    broadcast_shape(**shapes)
    return tuple(move(xp, array, axis, -1) for array in named.values()), axis


def along(xp: Any, alpha: Array, axis: int, dim: int, shapes: dict[str, tuple[int, ...]]) -> Array:
    """Return alpha with `axis` last, checked against the shapes of the vectors."""
    given = tuple(alpha.shape)
    if len(given) == 0:
        return alpha[None]
    full = given + (1,) * (-axis - 1) if len(given) == 1 else (1,) * (-axis - len(given)) + given
    try:
        fits = broadcast_shape(**shapes, alpha=full)[axis] == dim
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"alpha of shape {given} is no scalar, has not one entry per dimension along axis {axis}, and "
            f"does not broadcast against h {shapes['h']} and target {shapes['target']}; one alpha per vector "
            f"needs length 1 along that axis"
        )
    return move(xp, xp.reshape(alpha, full), axis, -1)


def move(xp: Any, array: Array, source: int, destination: int) -> Array:
    """`moveaxis`, for free if nothing moves."""
    return array if source == destination else xp.moveaxis(array, source, destination)


def dot(xp: Any, x: Array, y: Array) -> Array:
    """Return the inner products along the last axis, which stays with length 1."""
    if array_api_compat.is_numpy_namespace(xp):  # no array of products
        return np.vecdot(x, y)[..., None]
    return xp.sum(x * y, axis=-1, keepdims=True)


def norm(xp: Any, x: Array) -> Array:
    """Return the norms along the last axis, which stays with length 1; see `in_range`."""
    if array_api_compat.is_numpy_namespace(xp):
        return np.sqrt(dot(xp, x, x))
    return xp.linalg.vector_norm(x, axis=-1, keepdims=True)  # in torch ten times faster, with a gradient at 0


def minus_multiple(xp: Any, y: Array, factor: Array, x: Array) -> Array:
    """Return y - factor * x with an exact product (Dekker, 1971), since y and factor * x nearly cancel."""
    splitter = 2.0 ** math.ceil((1 - math.log2(epsilon(xp, x))) / 2) + 1
    x_high = x * splitter - (x * splitter - x)
    factor_high = factor * splitter - (factor * splitter - factor)
    x_low, factor_low = x - x_high, factor - factor_high
    product = x * factor
    error = x_high * factor_high - product + x_high * factor_low + x_low * factor_high + x_low * factor_low
    return (y - product) - error


def in_range(xp: Any, x: Array, norms: Array) -> tuple[Array, Array]:
    """Return vectors and norms that neither underflow nor overflow, given x and ``norm(xp, x)``.

    If one of them does, each vector is multiplied by a power of two, which is exact, and its norm made anew.
    """
    eps, root = _precision(xp, x.dtype)
    if xp.all((norms > root / eps) & (norms < eps / root)):
        return x, norms
    x, _ = _over_power_of_two(xp, x, xp.max(xp.abs(x), axis=-1, keepdims=True))
    return x, norm(xp, x)


def _over_power_of_two(xp: Any, x: Array, largest: Array) -> tuple[Array, Array]:
    """Return x divided by the largest power of two that is not above its largest entry, and this power."""
    eps, root = _precision(xp, x.dtype)
    # to the middle of the exponents first, so that the power of two and its inverse exist
    middle = xp.where(largest > 1, xp.full_like(largest, root), 1 / root)
    x, largest = x * middle, largest * middle
    # Rump's unit in the first place, exact
    power = largest * (1 / eps + 1)
    power = power - power * (1 - eps / 2)
    power = xp.where(largest == 0, 1, power)
    return x / power, power / middle


def nonzero(xp: Any, x: Array, name: str) -> tuple[Array, Array]:
    """`in_range`, and a ValueError for a zero vector that names the argument and the row."""
    norms = norm(xp, x)
    x, safe = in_range(xp, x, norms)
    if safe is not norms:
        refuse_row(xp, safe == 0, f"{name} must not be a zero vector")
    return x, safe


def epsilon(xp: Any, x: Array) -> float:
    """Return the spacing of the numbers above 1 in the dtype of x."""
    return _precision(xp, x.dtype)[0]


@cache
def _precision(xp: Any, dtype: Any) -> tuple[float, float]:
    """Return the spacing of numbers above 1 and the root of the smallest normal number, a power of two."""
    info = xp.finfo(dtype)
    return float(info.eps), float(info.smallest_normal) ** 0.5


def refuse_row(xp: Any, bad: Array, problem: str, kind: str = "row") -> None:
    """Raise a ValueError that says the problem and the first row where `bad`, of shape (..., 1), is True."""
    if xp.any(bad):
        index = first_index(xp, bad[..., 0])
        row = f" ({kind} {index[0] if len(index) == 1 else index})" if index else ""
        raise ValueError(problem + row)


def refuse_matrix(xp: Any, bad: Array, problem: str, values: Array) -> None:
    """Raise a ValueError that says the problem, the value and the first matrix where `bad` is True.

    Both arrays are of shape (..., 1, 1).
    """
    if xp.any(bad):
        value = largest(xp, values[first_index(xp, bad)])
        refuse_row(xp, bad[..., 0], f"{problem}: got {value:.3g}", "matrix")


def matrices(**named: Array) -> tuple[tuple[Array, ...], bool]:
    """Check that the arrays hold matrices of one shape; return them tall, and whether they came wide.

    The matrices lie along the last two axes; the others broadcast. Wide ones, with fewer rows than columns,
    are transposed, since the wide Stiefel manifold is the transpose of the tall one.

    Raises
    ------
    ValueError
        Less than two axes, no rows or no columns, different shapes, or leading axes that do not broadcast;
        the message shows the shapes.
    """
    shapes = {name: tuple(array.shape) for name, array in named.items()}
    for name, shape in shapes.items():
        if len(shape) < 2 or 0 in shape[-2:]:
            raise ValueError(f"{name} must be a matrix, with rows and columns: got shape {shape}")
    if len({shape[-2:] for shape in shapes.values()}) > 1:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"matrices of different shapes: {shown}")
    broadcast_shape(**shapes)
    rows, columns = next(iter(shapes.values()))[-2:]
    wide = rows < columns
    return tuple(array.mT if wide else array for array in named.values()), wide


def balanced(xp: Any, x: Array) -> tuple[Array, Array]:
    """Return the matrices divided by powers of two, which is exact, and these, of shape (..., 1, 1).

    The largest entry comes to lie in [1, 2), so that nothing underflows or overflows later. A matrix of zeros
    is divided by 1, one with NaN or infinity becomes NaN throughout.
    """
    largest = xp.max(xp.abs(x), axis=(-2, -1), keepdims=True)
    return _over_power_of_two(xp, x, xp.where(xp.isfinite(largest), largest, xp.nan))


def symmetric_product(xp: Any, x: Array, y: Array, factor: float) -> Array:
    """Return factor (x^T y + y^T x) of matrices."""
    if array_api_compat.is_numpy_namespace(xp):
        # longer rows: with a power of two of bytes from row to row, reading along a column misses the cache
        shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        n = x.shape[-1]
        product = np.matmul(x.mT, y, out=np.empty((*shape, n, n + 16), dtype=x.dtype)[..., :n])
    else:
        product = x.mT @ y
    result = product + product.mT
    result *= factor
    return result


def identity(xp: Any, x: Array) -> Array:
    """Return the identity with as many columns as the matrices x."""
    return xp.eye(x.shape[-1], dtype=x.dtype, device=array_api_compat.device(x))


def minus_identity(xp: Any, x: Array) -> Array:
    """Return square matrices minus the identity, written into x, which no one else may need."""
    if array_api_compat.is_torch_namespace(xp):
        x.diagonal(dim1=-2, dim2=-1).sub_(1)
    elif array_api_compat.is_numpy_namespace(xp):
        np.einsum("...ii->...i", x)[...] -= 1  # a view
    else:
        x = x - identity(xp, x)
    return x


def frobenius(xp: Any, x: Array) -> Array:
    """Return the Frobenius norms of matrices, of shape (..., 1, 1)."""
    if array_api_compat.is_numpy_namespace(xp):  # no array of squares
        return np.sqrt(np.sum(np.vecdot(x, x), axis=-1))[..., None, None]
    return xp.linalg.vector_norm(x, axis=(-2, -1), keepdims=True)  # in torch with a gradient at 0


def plus_product(xp: Any, C: Array, A: Array, B: Array, *, beta: float = 1.0, alpha: float = 1.0) -> Array:
    """Return beta C + alpha A B for matrices, in the memory order of C; in torch in one pass.

    For beta = 0 in torch only the order of C counts.
    """
    strides = C.stride() if hasattr(C, "stride") else getattr(C, "strides", (0, 0))
    transposed = strides[-2] < strides[-1]
    if _is_torch_matrix(xp, A, B, C):
        if transposed:
            return xp.addmm(C.mT, B.mT, A.mT, beta=beta, alpha=alpha).mT
        return xp.addmm(C, A, B, beta=beta, alpha=alpha)
    product = (B.mT @ A.mT).mT if transposed else A @ B
    if alpha != 1:
        product *= alpha
    if beta != 0:
        product += C if beta == 1 else beta * C
    return product


def plus_symmetric(
    xp: Any, C: Array | None, A: Array, B: Array, *, beta: float = 1.0, alpha: float = 1.0
) -> Array:
    """Return beta C + alpha A B, or A B without C, if it is symmetric: in torch with 5/8 of the work.

    Four panels below the diagonal are computed, the rest is copied from them.
    """
    n, k = A.shape[-2:]
    if n * n * k < 2**25 or wants_gradient(A) or not _is_torch_matrix(xp, A, B):
        return A @ B if C is None else plus_product(xp, C, A, B, beta=beta, alpha=alpha)
    panel = max(128, 64 * math.ceil(n / 256))
    result = xp.empty((n, n), dtype=A.dtype, device=A.device)
    C, beta, alpha = (result, 0.0, 1.0) if C is None else (C, beta, alpha)
    for start in range(0, n, panel):
        stop = min(start + panel, n)
        below, panels = slice(start, n), slice(start, stop)
        out = result[below, panels]
        xp.addmm(C[below, panels], A[below], B[:, panels], beta=beta, alpha=alpha, out=out)
        result[panels, stop:] = result[stop:, panels].mT
    return result


def gram_matrix(xp: Any, X: Array) -> Array:
    """Return X^T X."""
    if X.shape[-1] < 16 and _is_torch_matrix(xp, X):  # there the products sum naively, sum does not
        return xp.stack([xp.sum(X * X[:, j : j + 1], axis=0) for j in range(X.shape[-1])], axis=-1)
    return plus_symmetric(xp, None, X.mT, X)


def _is_torch_matrix(xp: Any, *arrays: Array) -> bool:
    return array_api_compat.is_torch_namespace(xp) and all(array.ndim == 2 for array in arrays)


def wants_gradient(x: Array) -> bool:
    """Tell whether torch differentiates what is done with x, backward or forward."""
    recorded = getattr(x, "requires_grad", None)
    if recorded is not False:
        return bool(recorded)
    from torch._C import _functorch  # nothing public tells of a transform outside the innermost one
    from torch.autograd import forward_ad

    return _functorch.is_functorch_wrapped_tensor(x) or forward_ad.unpack_dual(x).tangent is not None


def constant(x: Array) -> Array:
    """Return x without its gradient."""
    return x.detach() if hasattr(x, "detach") else x


def largest(xp: Any, x: Array) -> float:
    """Return the largest entry, as a number without a gradient; 0 of an empty array."""
    return float(constant(xp.max(x))) if math.prod(x.shape) else 0.0


def own_epsilon(value: Any) -> float:
    """Return the spacing of numbers above 1 in the dtype in which an argument comes, before `as_floats`."""
    return _EPSILON.get(_name(getattr(value, "dtype", np.dtype(float))), 2.0**-52)


def as_positive(name: str, value: Any) -> float:
    """Take a finite number > 0 as a float."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number: got {type(value).__name__}")
    number = _as_float(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite: got {number!r}")
    return number


def choose(name: str, value: Any, known: Any) -> Any:
    """Return ``known[value]``, or raise a ValueError that lists the known names."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string: got {type(value).__name__}")
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}: got {value!r}")
    return known[value]


def by_rows(
    formula: Callable[..., Array],
    xp: Any,
    *arrays: Array,
    width: int,
    scratch: int = 0,
    block: int = 2**17,
) -> Array:
    """Return ``formula(xp, *arrays, *scratch, out)``, for NumPy in blocks of rows that stay in the cache.

    One formula serves all libraries. It works along the last axis, and passes each of its last arguments as
    keywords to functions of `xp`: ``xp.add(x, y, **out)``. They are ``{"out": buffer}`` for large NumPy
    arrays and ``{}`` otherwise: other libraries return new arrays, which their gradients need. Blocks take a
    third of the time of whole arrays of temporaries. NumPy releases the interpreter's lock, so threads share
    the rows; each makes its scratch buffers once, since making them anew for each block gives erratic
    slowdowns.

    Parameters
    ----------
    formula
        Row formula; its result has `width` entries along the last axis, its buffers have the length of the
        vectors.
    arrays
        Arrays of shapes (..., n) whose leading axes broadcast, n the length of the vectors or 1.
    width
        Length of the result's last axis.
    scratch
        How many buffers the formula wants besides the one for its result.
    block
        Numbers in a block: a megabyte, so that a few blocks stay in the cache. Smaller ones cost more, since
        threads take turns at the interpreter's lock between the calls of NumPy; a formula that makes
        many temporaries wants less.
    """
    lead = np.broadcast_shapes(*(tuple(array.shape[:-1]) for array in arrays))
    rows, length = math.prod(lead), max(array.shape[-1] for array in arrays)
    if rows * length < _BLOCKED_FROM or not array_api_compat.is_numpy_namespace(xp):
        return formula(xp, *arrays, *({},) * (scratch + 1))
    from concurrent.futures import ThreadPoolExecutor  # here, since it takes a tenth of the package's import

    flat = [_flatten(array, lead) for array in arrays]
    result = np.empty((rows, width), dtype=arrays[0].dtype)
    step = max(1, block // length)

    def work(first: int, last: int) -> None:
        buffers = [np.empty((step, length), dtype=result.dtype) for _ in range(scratch)]
        with np.errstate(all="ignore"):  # each thread has its own
            for start in range(first, last, step):
                stop = min(start + step, last)
                parts = (a if len(a) == 1 else a[start:stop] for a in flat)
                spare = ({"out": buffer[: stop - start]} for buffer in buffers)
                formula(xp, *parts, *spare, {"out": result[start:stop]})

    # more than eight threads only wait for the memory
    workers = min(_cpus(), 8, 1 + rows // (4 * step))
    share = math.ceil(rows / workers)
    starts = range(0, rows, share)
    try:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, starts, (min(start + share, rows) for start in starts)))
    except ValueError:
        # a bad row: found again on the whole arrays, where it has its own index
        return formula(xp, *arrays, *({},) * (scratch + 1))
    return result.reshape((*lead, width))


def _flatten(array: Array, lead: tuple[int, ...]) -> Array:
    length = array.shape[-1]
    if math.prod(array.shape) == length:
        return array.reshape((1, length))
    return np.broadcast_to(array, (*lead, length)).reshape((-1, length))


def _cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux knows
        return os.cpu_count() or 1


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.ma.MaskedArray)


def _as_array(name: str, value: Any) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill or drop its masked entries first")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if array_api_compat.is_array_api_obj(value):
        if not str(getattr(value, "layout", "torch.strided")).endswith("strided"):
            raise TypeError(f"{name} must be a dense tensor: got layout {value.layout}")
        return value
    if isinstance(value, list | tuple):
        if any(array_api_compat.is_array_api_obj(v) and not _is_plain(v) for v in value):
            raise TypeError(f"{name} is a list of tensors or masked arrays: make one array of it first")
        try:
            array = np.asarray(value)
        except ValueError:
            raise ValueError(f"{name} is a list that is not rectangular") from None
        return array.astype(np.float64) if array.dtype.kind == "f" else array
    raise TypeError(f"{name} must be a real number, a list or an array: got {type(value).__name__}")


def _as_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number") from None


def _as_floating(xp: Any, name: str, array: Array) -> Array:
    kind = _name(array.dtype)
    if kind in _WORK_DTYPE:
        return array
    if kind.startswith(("int", "uint")):
        return xp.astype(array, xp.float64)
    raise TypeError(f"{name} must hold real numbers (integers or float16 to float64): got dtype {kind}")


@cache
def _name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def _library(array: Array) -> str:
    return type(array).__module__.partition(".")[0]
