"""`Spel`: a torch optimizer that keeps weight matrices on the Stiefel manifold of radius sigma.

The names and meanings of the arguments are those of the optimizer of the same name in NVIDIA-NeMo's
Emerging-Optimizers (version 0.5.0a0), so that a script runs with the import changed. The steps differ: the
momentum is projected onto the tangent space first, and the retraction ends on the manifold to working
precision. So do three defaults, there coefficient_type="quintic", num_ns_steps=5, fp32_matmul_prec="medium".

References
----------
Spectral steepest descent on the Stiefel manifold: arXiv:2601.21487 ("the SPEL paper").
Emerging-Optimizers, github.com/NVIDIA-NeMo/Emerging-Optimizers, orthogonalized_optimizers/spel.py.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

try:
    import torch
    from torch.optim import Optimizer
except ImportError as error:
    raise ImportError(
        'ngeodesic.optim needs torch: pip install "ngeodesic-companion[torch]"', name="torch"
    ) from error

import array_api_compat.torch as xp

from ngeodesic._arrays import as_index, balanced, choose, epsilon, own_epsilon
from ngeodesic.polar import COEFFICIENTS, iterate, iterate_small, polar_by_products, polar_factor
from ngeodesic.stiefel import SCALE_MODES, relative_gram_defect, rounding_defect, sigma, tangent_part

__all__ = ["Spel"]

Tensor = Any  # with torch an extra, mypy does not look into it

_DIRECTIONS = {
    "polar_express": "polar_express",
    "quintic": "tuned_quintic",
    "simple": "muon_quintic",
    "cubic": "cubic",
    "svd": None,
}
"""The set of coefficients in `polar.COEFFICIENTS` for each coefficient_type."""

_DECAY: dict[str, Callable[[float, float], float]] = {
    "decoupled": lambda lr, decay: lr * decay,
    "independent": lambda lr, decay: decay,
    "l2": lambda lr, decay: 0.0,
    "palm": lambda lr, decay: lr * (lr * decay),
}
"""By how much of itself the weight shrinks before the step, for each weight_decay_method."""

_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_PRECISIONS = dict.fromkeys(("highest", "high", "medium"))


class Spel(Optimizer):
    """SPEL: spectral steepest descent on the Stiefel manifold, for the weight matrices of a torch model.

    With the moving average B <- momentum B + (1 - momentum) G of the gradient G, M = B (or the Nesterov
    momentum), and the tangent projection P at the weight W,

        W <- sigma msign((1 - lr weight_decay) W - lr msign(P(M))),

    a step of ``spel.spel_step`` (ng-arctan-law, ng-tangent-projection, ng-scaled-retraction).

    Parameters
    ----------
    params
        Matrices: tensors of two axes, pairs of name and tensor, or dicts that define groups. Tall ones get
        orthogonal columns, wide ones orthogonal rows. Biases, gains and embeddings belong to another
        optimizer.
    lr
        The learning rate, >= 0: a number or a tensor of one entry. If the direction is tangent and has full
        rank, a step turns W by arctan(lr / sigma). A negative one above -1e-15, which schedulers leave by
        rounding, is 0. For W of shape (m, n) at most 0.01 sigma (1 - lr weight_decay) / (max(m, n) eps), with
        eps of float64, or of float32 for all smaller types: a longer step loses W in its own rounding.
    momentum
        In [0, 1): the share of the old in the moving average.
    weight_decay
        >= 0. The manifold fixes the length of the weight, so the decay only lengthens the step: "decoupled"
        as if lr were lr / (1 - lr weight_decay).
    nesterov
        Whether M = (1 - momentum) G + momentum B, in place of B.
    weight_decay_method
        "decoupled", as above; "independent", with 1 - weight_decay; "palm", with 1 - lr^2 weight_decay; or
        "l2": weight_decay W is added to G, and what is normal to the manifold is projected away.
    scale_mode
        "unit_spectral_norm", sigma = 1, or "unit_rms_to_rms_norm", sigma = sqrt(m/n) for W of shape (m, n),
        tall and wide alike (`stiefel.sigma`).
    coefficient_type
        How msign(P(M)) is found: by Newton-Schulz with the coefficients "polar_express", "quintic" (the five
        steps of modded-nanogpt, "tuned_quintic" in `polar.newton_schulz`), "simple" (Muon's, "muon_quintic"
        there) or "cubic"; or exactly, by "svd", but for singular values
        up to ``32 eps |M|``, which are rounding and count as 0.
    num_ns_steps
        How many Newton-Schulz steps, >= 1. The last coefficients of a set repeat.
    fp32_matmul_prec
        "highest", "high" or "medium": the precision that torch may use in these steps for products in float32
        (``torch.set_float32_matmul_precision``). The projection and the retraction use "highest". Where the
        program sets ``torch.backends.*.fp32_precision`` itself, that holds for all. torch has one precision
        for the whole process: if it is not "highest" throughout, only one thread at a time may make steps.
    error_if_nonfinite
        Whether NaN or infinity in a gradient raises. If not, it spreads.

    Raises
    ------
    ValueError
        At construction and by ``add_param_group``: a parameter that is no matrix, an option out of its range.
        By ``step``, before any weight or momentum is changed: NaN or infinity in a gradient, a weight or a
        loaded momentum; one of another shape or device than its parameter; an option out of its range, among
        them lr weight_decay >= 1 (weight_decay >= 1, lr^2 weight_decay >= 1), with which the weight would
        change its sign; a weight without full rank, which has no nearest point on the manifold (other weights
        may have been retracted by then). The message names the parameter or the group. Only what a step
        itself makes comes later: a momentum that overflows, a weight minus the step without full rank.
    TypeError
        A parameter that is not of float16, bfloat16, float32 or float64; an option, a gradient or a momentum
        of the wrong kind.

    Notes
    -----
    Each of the options may be given for a group, and is saved by ``state_dict``.

    A weight stays as it is, bit for bit, without a gradient, at lr = 0, and while gradient and momentum are
    0. On the manifold it also stays if M is normal to it: ``|P(M)| <= 32 eps |M|``, or the eps of its own
    type for smaller types, counts as 0.

    A weight off the manifold, by more than ``stiefel.retract`` takes for rounding, is brought onto it by the
    first step that moves it, and again after others have changed it, or its scale_mode. Changes are seen by
    the address of the weight and torch's count of operations in place: not if they are made in place in
    ``p.data``, and not surely if ``p.data`` is replaced. Unseen, only the retraction at the end of the step
    brings it back. Neither construction nor ``load_state_dict`` changes a weight.

    Accuracy: ``stiefel.gram_defect`` at most 1e-6 in float32 and 1e-13 in float64 after any number of steps,
    whatever the direction and lr; a single entry of W^T W / sigma^2 - I may be several times that. float16
    and bfloat16 are computed in float32 and rounded: their weights are on the manifold within their rounding,
    and move only if lr / sigma is not far below it, 1e-3 and 1e-2.

    The retraction is by Newton-Schulz from the weight itself, whose singular values are near sigma: one step
    in most cases, of a degree that follows from a bound on their distance. The direction is as good as its
    coefficients: after 8 steps of "polar_express" its singular values are 1 to rounding where those of P(M)
    exceed ``|P(M)|_F / 1000``, after 5 of "quintic" they are in [0.47, 1.15]. If one side is at least twice
    the other, the steps run on the Gram matrix of the small side. That squares the condition number, so it is
    made anew on the way; an error of 1e-4 in float32 is left in the weak directions, to 3e-5 on the matrix
    itself.

    Memory: a momentum buffer per parameter, in its type. Temporaries: three times the largest parameter; for
    float16 and bfloat16, five such matrices in float32; more with "svd".

    Distributed training: with DistributedDataParallel each process makes the same step. Of parameters that
    are DTensors, as ``fully_shard`` makes them, the momentum is sharded too; msign needs whole matrices, so
    each process gathers the weight and the momentum, makes the step and keeps its shard. That is two
    all-gathers, in which each of w processes receives 2 (1 - 1/w) m n numbers for an m x n matrix, and two
    more whole matrices in memory. Beside them two flags per parameter are reduced, to agree on what is
    refused.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 3e-4,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
        *,
        nesterov: bool = False,
        weight_decay_method: str = "decoupled",
        scale_mode: str = "unit_spectral_norm",
        coefficient_type: str = "polar_express",
        num_ns_steps: int = 8,
        fp32_matmul_prec: str = "highest",
        error_if_nonfinite: bool = True,
    ) -> None:
        self._seen: dict[Tensor, Any] = {}
        options = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "weight_decay_method": weight_decay_method,
            "scale_mode": scale_mode,
            "coefficient_type": coefficient_type,
            "num_ns_steps": num_ns_steps,
            "fp32_matmul_prec": fp32_matmul_prec,
            "error_if_nonfinite": error_if_nonfinite,
        }
        _checked(options)
        super().__init__(params, options)

    def __setstate__(self, state: dict[str, Any]) -> None:
        before = self.__dict__.get("param_groups", [])  # none, if this is a copy or comes from a pickle
        super().__setstate__(state)
        self._seen = {}
        for index, group in enumerate(self.param_groups):
            # saved by the optimizer of the same name, a group lacks some options
            known = before[index] if index < len(before) else {}
            for name, value in self.defaults.items():
                group.setdefault(name, known.get(name, value))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, whose parameters and options are checked as at construction."""
        super().add_param_group(param_group)
        index = len(self.param_groups) - 1
        seen: dict[Tensor, str] = {}
        try:
            _checked(param_group, f"group {index}: ")
            for name, p in _named(param_group, index):
                _check_parameter(name, p)
                if p in seen:
                    raise ValueError(f"{name} must not be given twice: it is {seen[p]}, too")
                seen[p] = name
        except (TypeError, ValueError):
            self.param_groups.pop()
            raise

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make a step with the gradients in ``p.grad``, which are left as they are.

        Parameters
        ----------
        closure
            Evaluates the model anew, sets the gradients and returns the loss.

        Returns
        -------
        object
            What the closure returns, None without one.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        tasks = []
        for index, group in enumerate(self.param_groups):
            options = _checked(group, f"group {index}: ")
            tasks += [_Task(name, p, options) for name, p in _named(group, index) if p.grad is not None]
        with torch.no_grad(), _float32_products("highest"), ExitStack() as stack:
            for kind in {p.device.type for _, p, _ in tasks}:  # a step rounds nothing to a smaller type
                stack.enter_context(torch.autocast(kind, enabled=False))
            for task, unsettled in zip(tasks, self._check(tasks), strict=True):
                if unsettled:
                    self._settle(task)
            for task in tasks:
                self._update(task)
                if task.p in self._seen:
                    self._seen[task.p] = self._marks(task)
        return loss

    def _check(self, tasks: list[_Task]) -> list[bool]:
        """Refuse what no step can be made with; return which weights move and may be off the manifold."""
        problems, flags = [], []
        for task in tasks:
            name, p, group = task
            problem, changed = None, self._seen.get(p) != self._marks(task)
            if changed:
                self._seen.pop(p, None)
            loaded = self.state.get(p, {}).get("momentum_buffer")
            try:
                _check_size(name, p, group)
                _check_fit(name, "gradient", p.grad, p)
                if changed and loaded is not None:
                    _check_fit(name, "momentum_buffer", loaded, p)
                if group["error_if_nonfinite"]:
                    _check_finite(name, "gradient", p.grad)
                    if changed and loaded is not None:
                        _check_finite(name, "momentum_buffer", loaded)
            except (TypeError, ValueError) as error:
                problem = error
            moves = changed and problem is None and group["lr"] != 0
            if moves and not (group["weight_decay_method"] == "l2" and group["weight_decay"] != 0):
                moves = any(bool(_local(x).any()) for x in (p.grad, loaded) if x is not None)
            problems.append(problem)
            flags.append((problem is not None, moves))
        flags = _agreed(tasks, flags)
        for task, problem, (refused, _) in zip(tasks, problems, flags, strict=True):
            if refused:
                raise problem or ValueError(f"{task.name}: refused by another process; nothing is changed")
        return [moves for _, moves in flags]

    def _marks(self, task: _Task) -> Any:
        """Return what differs after others than `step` have changed a weight or its momentum."""
        held = (task.p, *self.state.get(task.p, {}).values())
        tensors = (_local(x) for x in held if isinstance(x, torch.Tensor))
        return task.group["scale_mode"], [
            (x.data_ptr(), object() if x.is_inference() else x._version)  # of inference tensors nothing tells
            for x in tensors
            if x.layout is torch.strided
        ]

    def _settle(self, task: _Task) -> None:
        """Bring a weight that is off the manifold onto it."""
        name, p, group = task
        W, radius = _whole(p), sigma(tuple(p.shape), group["scale_mode"])
        if not float(relative_gram_defect(xp, W, radius)) <= rounding_defect(p):
            point = polar_by_products(xp, W)
            if point is None and not _is_finite(W):
                if group["error_if_nonfinite"]:
                    raise ValueError(f"{name} must be finite: got NaN or infinity")
                point = torch.full_like(W, math.nan)
            if point is None:
                raise ValueError(f"{name} of shape {tuple(p.shape)} must have full rank, to be retracted")
            _store(p, point, radius)
        self._seen[p] = None

    def _update(self, task: _Task) -> None:
        name, p, group = task
        lr, radius = group["lr"], sigma(tuple(p.shape), group["scale_mode"])
        state = self.state[p]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = torch.zeros_like(p)
        _local(state["momentum_buffer"]).lerp_(_gradient(p, group), 1 - group["momentum"])
        if lr == 0:
            return
        held = [self._moved(task, lr, radius)]
        if held[0] is None:
            return
        point = polar_by_products(xp, held.pop())  # no one else holds it: freed once it has a successor
        if point is None:  # so large an lr that its digits do not suffice
            point, lost = polar_factor(xp, self._moved(task, lr, radius))
            if not bool(lost.isnan()):
                raise ValueError(
                    f"{name}: the weight minus lr = {lr} times the direction must have full rank"
                )
        _store(p, point, radius)

    def _moved(self, task: _Task, lr: float, radius: float) -> Tensor | None:
        """Return the weight after the step and before the retraction, over sigma; None if it stays."""
        name, p, group = task
        W = _whole(p)  # no one but _direction holds the momentum
        X = _direction(name, W, _whole(self._momentum(p, group)), radius, own_epsilon(p), group)
        if X is None:
            return None
        X *= -lr / radius
        return X.add_(W, alpha=(1 - _DECAY[group["weight_decay_method"]](lr, group["weight_decay"])) / radius)

    def _momentum(self, p: Tensor, group: dict[str, Any]) -> Tensor:
        """Return what the step follows, like p."""
        buffer = self.state[p]["momentum_buffer"]
        if not group["nesterov"]:
            return buffer
        return _sharded_as(p, _gradient(p, group).lerp(_local(buffer), group["momentum"]))


class _Task(NamedTuple):
    """A parameter that has a gradient."""

    name: str
    p: Tensor
    group: dict[str, Any]


def _gradient(p: Tensor, group: dict[str, Any]) -> Tensor:
    """Return the gradient, with an l2 decay, on this process."""
    grad = _local(_placed_as(p, p.grad))
    if group["weight_decay_method"] == "l2" and group["weight_decay"] != 0:
        grad = grad.add(_local(p), alpha=group["weight_decay"])
    return grad


def _direction(
    name: str, W: Tensor, M: Tensor, radius: float, eps: float, group: dict[str, Any]
) -> Tensor | None:
    """Return an approximation of msign(P(M)) for tall matrices, None where P(M) is 0 to rounding."""
    size = float(torch.linalg.vector_norm(M))
    if not 1e-8 < size < 1e8:  # the projection may be as small as 32 eps of it
        M, _ = balanced(xp, M)
        size = float(torch.linalg.vector_norm(M))
    if size == 0:
        return None
    P = tangent_part(xp, W, M, radius)
    del M
    noise = max(32 * epsilon(xp, P), eps) * size
    length = float(torch.linalg.vector_norm(P))
    if group["error_if_nonfinite"] and not math.isfinite(length):
        raise ValueError(f"{name}: the weight and its momentum must be finite")
    if length <= noise:
        return None
    coefficients = _DIRECTIONS[group["coefficient_type"]]
    if coefficients is None:
        return polar_factor(xp, P, noise)[0]
    P /= length
    held = [P]
    del P
    table = COEFFICIENTS[coefficients].steps
    steps = [table[min(i, len(table) - 1)] for i in range(group["num_ns_steps"])]
    run = iterate_small if W.shape[0] >= 2 * W.shape[1] else iterate
    with _float32_products(group["fp32_matmul_prec"]):
        return run(xp, held.pop(), steps)  # no one else holds it: freed once it has a successor


@contextmanager
def _float32_products(precision: str) -> Iterator[None]:
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the program sets it by torch.backends, which torch does not let us mix: that holds
        yield
        return
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _work_type(x: Tensor) -> Any:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _is_finite(x: Tensor) -> bool:
    # ten times faster than to look at every entry
    norm = float(torch.linalg.vector_norm(x, dtype=_work_type(x)))
    return math.isfinite(norm) or bool(torch.isfinite(x).all())


# --- whole and sharded matrices -----------------------------------------------------------------------------


def _is_sharded(x: Tensor) -> bool:
    return hasattr(x, "device_mesh")


def _local(x: Tensor) -> Tensor:
    return x.to_local() if _is_sharded(x) else x


def _placed_as(p: Tensor, x: Tensor) -> Tensor:
    return x.redistribute(p.device_mesh, p.placements) if _is_sharded(p) else x


def _sharded_as(p: Tensor, local: Tensor) -> Tensor:
    if not _is_sharded(p):
        return local
    from torch.distributed.tensor import DTensor

    return DTensor.from_local(
        local, p.device_mesh, p.placements, run_check=False, shape=p.shape, stride=p.stride()
    )


def _whole(x: Tensor) -> Tensor:
    """Return the whole matrix, tall, in float32 or float64."""
    x = x.detach()
    x = x.full_tensor() if _is_sharded(x) else x
    return (x.mT if x.shape[0] < x.shape[1] else x).to(_work_type(x))


def _store(p: Tensor, point: Tensor, radius: float) -> None:
    """Write sigma times the whole tall matrix into p."""
    point = point.mT if p.shape[0] < p.shape[1] else point
    if radius != 1:
        point *= radius
    if _is_sharded(p):
        from torch.distributed.tensor import distribute_tensor

        # every process has the whole matrix: none sends it
        point = distribute_tensor(point, p.device_mesh, p.placements, src_data_rank=None).to_local()
    _local(p).copy_(point)


def _agreed(tasks: list[_Task], flags: list[tuple[bool, bool]]) -> list[tuple[bool, bool]]:
    """Return the flags, for sharded parameters True where they are on any process."""
    for mesh in dict.fromkeys(task.p.device_mesh for task in tasks if _is_sharded(task.p)):
        shared = [i for i, task in enumerate(tasks) if _is_sharded(task.p) and task.p.device_mesh == mesh]
        votes = torch.tensor([flags[i] for i in shared], dtype=torch.int32, device=mesh.device_type)
        for axis in range(mesh.ndim):
            torch.distributed.all_reduce(votes, torch.distributed.ReduceOp.MAX, mesh.get_group(axis))
        for i, (bad, moves) in zip(shared, votes.tolist(), strict=True):
            flags[i] = (bool(bad), bool(moves))
    return flags


# --- checks -------------------------------------------------------------------------------------------------


def _named(group: dict[str, Any], index: int) -> list[tuple[str, Tensor]]:
    names = group.get("param_names") or [
        f"parameter {i} of group {index}" for i in range(len(group["params"]))
    ]
    return list(zip(names, group["params"], strict=True))


def _check_parameter(name: str, p: Tensor) -> None:
    if torch.nn.parameter.is_lazy(p):
        raise TypeError(f"{name} must have a shape: got a parameter that is not initialized")
    if p.dtype not in _TYPES or p.layout is not torch.strided:
        raise TypeError(f"{name} must be a dense tensor of a real floating type: got {p.dtype}, {p.layout}")
    if p.ndim != 2 or 0 in p.shape:
        raise ValueError(f"{name} must be a matrix, with rows and columns: got shape {tuple(p.shape)}")
    if any(step == 0 and size > 1 for step, size in zip(p.stride(), p.shape, strict=True)):
        raise ValueError(f"{name} must have entries of its own: got an expanded tensor, strides {p.stride()}")


def _check_fit(name: str, what: str, x: Any, p: Tensor) -> None:
    if not isinstance(x, torch.Tensor) or x.layout is not torch.strided:
        kind = x.layout if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(f"{name}: the {what} must be a dense tensor: got {kind}; nothing is changed")
    for of in ("dtype", "shape", "device"):
        if getattr(x, of) != getattr(p, of):
            kind = TypeError if of == "dtype" else ValueError
            raise kind(
                f"{name}: the {what} must have the {of} {getattr(p, of)} of the parameter: got "
                f"{getattr(x, of)}; nothing is changed"
            )
    if _is_sharded(x) != _is_sharded(p):
        raise TypeError(f"{name}: the {what} must be a DTensor if the parameter is; nothing is changed")


def _check_finite(name: str, what: str, x: Tensor) -> None:
    if not _is_finite(_local(x)):
        raise ValueError(f"{name}: the {what} must be finite: got NaN or infinity; nothing is changed")


def _check_size(name: str, p: Tensor, group: dict[str, Any]) -> None:
    """Refuse a step, and a decay of the gradient, beside which a weight is lost in rounding or overflows."""
    lr, decay, method = group["lr"], group["weight_decay"], group["weight_decay_method"]
    radius = sigma(tuple(p.shape), group["scale_mode"])
    left = 1 - _DECAY[method](lr, decay)
    limit = 0.01 * radius * left / (max(p.shape) * torch.finfo(_work_type(p)).eps)
    if lr > limit:
        raise ValueError(f"{name}: lr must be at most {limit:.3g}, for a weight of this size: got {lr}")
    limit = 1e-3 * torch.finfo(p.dtype).max / radius
    if method == "l2" and decay > limit:
        raise ValueError(f"{name}: weight_decay must be at most {limit:.3g}, not to overflow: got {decay}")


def _checked(group: dict[str, Any], where: str = "") -> dict[str, Any]:
    """Return the options of a group, checked, with plain numbers."""
    try:
        return group | _numbers(group)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}{error}") from None


def _numbers(group: dict[str, Any]) -> dict[str, float]:
    """Check all options and return those that are numbers."""
    lr = _number("lr", group["lr"])
    momentum = _number("momentum", group["momentum"])
    decay = _number("weight_decay", group["weight_decay"])
    if not momentum < 1:
        raise ValueError(f"momentum must lie in [0, 1): got {momentum}")
    for name in ("nesterov", "error_if_nonfinite"):
        if not isinstance(group[name], bool):
            raise TypeError(f"{name} must be True or False: got {group[name]!r}")
    choose("scale_mode", group["scale_mode"], SCALE_MODES)
    choose("coefficient_type", group["coefficient_type"], _DIRECTIONS)
    choose("fp32_matmul_prec", group["fp32_matmul_prec"], _PRECISIONS)
    method = group["weight_decay_method"]
    lost = choose("weight_decay_method", method, _DECAY)(lr, decay)
    if not lost < 1:
        raise ValueError(
            f"weight_decay must leave some of the weight: got lr {lr} and weight_decay {decay}, with "
            f"{method!r} decay 1 - {lost:.6g} of it"
        )
    if as_index("num_ns_steps", group["num_ns_steps"]) < 1:
        raise ValueError(f"num_ns_steps must be at least 1: got {group['num_ns_steps']}")
    return {"lr": lr, "momentum": momentum, "weight_decay": decay}


def _number(name: str, value: Any) -> float:
    """Take a finite number >= 0, or a tensor that holds one."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1 or value.is_complex() or value.dtype == torch.bool:
            raise TypeError(f"{name} must be a real number: got {tuple(value.shape)} tensor, {value.dtype}")
        value = value.detach().item()
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number: got {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if -1e-15 < number < 0:  # what schedulers leave of 0
        return 0.0
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be finite and not negative: got {number}")
    return number
