"""`Spel`, the torch optimizer: its contract, its accuracy, and what it shares with Emerging-Optimizers."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer is torch's")

from stiefel_grid import MODES  # noqa: E402

from ngeodesic import optim, spel, stiefel  # noqa: E402
from ngeodesic.optim import Spel  # noqa: E402

SHAPES = [(1, 1), (2, 1), (1, 3), (5, 5), (7, 5), (5, 7), (48, 16), (16, 48), (33, 65), (65, 33)]
DIRECTIONS = ["polar_express", "quintic", "simple", "cubic", "svd"]
METHODS = ["decoupled", "independent", "l2", "palm"]
GRAM = {torch.float32: 1e-6, torch.float64: 1e-13, torch.bfloat16: 2**-7, torch.float16: 2**-10}
OPTIONS = {
    "lr": 0.01,
    "momentum": 0.8,
    "weight_decay": 0.02,
    "nesterov": True,
    "weight_decay_method": "independent",
    "scale_mode": "unit_rms_to_rms_norm",
    "coefficient_type": "quintic",
    "num_ns_steps": 4,
    "fp32_matmul_prec": "high",
    "error_if_nonfinite": False,
}


def gaussian(*shape: int, seed: int = 0, dtype: Any = None) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype or torch.float32)


def point(*shape: int, seed: int = 0, dtype: Any = None, mode: str = MODES[0]) -> Any:
    W = stiefel.random_point(shape, sigma=stiefel.sigma(shape, mode), seed=seed)
    return torch.nn.Parameter(torch.from_numpy(W).to(dtype or torch.float32))


def train(optimizer: Any, *weights: Any, steps: int = 1, first: int = 0) -> None:
    for step in range(first, first + steps):
        for i, p in enumerate(weights):
            p.grad = gaussian(*p.shape, seed=100 * step + i, dtype=p.dtype)
        optimizer.step()


def defect(p: Any, mode: str = MODES[0]) -> float:
    W = p.detach().double()
    return float(stiefel.gram_defect(W, sigma=stiefel.sigma(tuple(W.shape), mode)))


# --- on the manifold ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_weight_stays_on_the_manifold(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    p = torch.nn.Parameter(gaussian(*shape, dtype=dtype))
    optimizer, done = Spel([p], lr=0.02, scale_mode=mode), 0
    for steps in (1, 10, 100):
        train(optimizer, p, steps=steps - done, first=done)
        done = steps
        assert defect(p, mode) <= GRAM[dtype]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_thousand_steps(dtype: Any) -> None:
    p = torch.nn.Parameter(gaussian(24, 12, dtype=dtype))
    train(Spel([p], lr=0.05), p, steps=1000)
    assert defect(p) <= GRAM[dtype]


@pytest.mark.parametrize("shape", [(256, 256), (600, 300), (300, 900), (8192, 1), (3, 8192), (5000, 12)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_matrices_stay_on_the_manifold(shape: tuple[int, int], dtype: Any) -> None:
    p = torch.nn.Parameter(gaussian(*shape, dtype=dtype))
    train(Spel([p], lr=0.02), p, steps=2)
    assert defect(p) <= GRAM[dtype]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("lr", [1e-6, 0.3, 1.0, 10.0, 1e3])
def test_any_learning_rate_and_direction_ends_on_the_manifold(direction: str, lr: float) -> None:
    for shape in ((9, 9), (20, 6)):
        p = point(*shape)
        train(Spel([p], lr=lr, weight_decay=0, coefficient_type=direction), p, steps=3)
        assert defect(p) <= GRAM[torch.float32]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mode", MODES)
def test_half_precision_stays_within_its_rounding(dtype: Any, mode: str) -> None:
    for shape in ((64, 32), (32, 64), (32, 32)):
        p = point(*shape, dtype=dtype, mode=mode)
        before = p.detach().clone()
        train(Spel([p], lr=0.1, scale_mode=mode), p, steps=20)
        assert p.dtype == dtype
        assert defect(p, mode) <= GRAM[dtype]
        assert not torch.equal(p, before)


# --- the step -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_is_that_of_spel(shape: tuple[int, int], mode: str) -> None:
    p, grad = point(*shape, dtype=torch.float64, mode=mode), gaussian(*shape, dtype=torch.float64)
    expected = spel.spel_step(p.detach(), grad, 0.1, scale_mode=mode)
    p.grad = grad
    Spel([p], lr=0.1, weight_decay=0, scale_mode=mode, coefficient_type="svd").step()
    torch.testing.assert_close(p.detach(), expected, rtol=0, atol=1e-14 * stiefel.sigma(shape, mode))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(40, 40), (300, 100), (100, 300), (280, 260)])
def test_polar_express_finds_the_direction_of_the_svd(shape: tuple[int, int], dtype: Any) -> None:
    results = []
    for direction in ("polar_express", "svd"):
        p = point(*shape, dtype=dtype)
        p.grad = gaussian(*shape, dtype=dtype)
        Spel([p], lr=0.1, coefficient_type=direction, num_ns_steps=12).step()
        results.append(p.detach())
    torch.testing.assert_close(*results, rtol=0, atol=1e-5 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nesterov", [False, True])
def test_one_step_of_the_other_library_but_for_the_projection(
    monkeypatch: pytest.MonkeyPatch, method: str, nesterov: bool
) -> None:
    # with the raw momentum in place of its tangent part: Emerging-Optimizers' formula, its msign exact
    monkeypatch.setattr(optim, "tangent_part", lambda xp, W, G, radius: G.clone())
    lr, mu, decay = 0.1, 0.9, 0.05
    for shape in ((8, 8), (12, 5), (5, 12)):
        p = point(*shape, dtype=torch.float64)
        optimizer = Spel(
            [p], lr, mu, decay, nesterov=nesterov, weight_decay_method=method, coefficient_type="svd"
        )
        W, momentum = p.detach().clone(), torch.zeros(shape, dtype=torch.float64)
        for seed in range(3):
            grad = gaussian(*shape, seed=seed, dtype=torch.float64)
            p.grad = grad.clone()
            optimizer.step()
            shrink = {"decoupled": decay * lr, "independent": decay, "l2": 0, "palm": decay * lr**2}[method]
            if method == "l2":
                grad = grad + decay * W
            W = W * (1 - shrink)
            momentum = momentum + (1 - mu) * (grad - momentum)
            M = grad + mu * (momentum - grad) if nesterov else momentum
            W = exact_msign(W - lr * exact_msign(M))
            torch.testing.assert_close(p.detach(), W, rtol=0, atol=1e-6)


def exact_msign(X: Any) -> Any:
    u, _, vt = torch.linalg.svd(X, full_matrices=False)
    return u @ vt


@pytest.mark.parametrize("shape", [(5, 7), (33, 65), (127, 257)])
def test_a_script_for_the_other_library_runs(shape: tuple[int, int]) -> None:
    p = torch.nn.Parameter(torch.randint(-5, 5, shape, generator=torch.Generator().manual_seed(0)).float())
    optimizer = Spel(
        [p],
        0.01,
        0.95,
        0.1,
        nesterov=True,
        weight_decay_method="decoupled",
        fp32_matmul_prec="medium",
        coefficient_type="quintic",
        num_ns_steps=5,
    )
    train(optimizer, p, steps=2)
    assert defect(p) <= 1e-6


def test_the_five_quintic_steps_are_those_of_the_other_library() -> None:
    table = [
        (4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
        (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012),
    ]  # fmt: skip
    for shape in ((6, 6), (9, 4), (4, 9)):
        p = point(*shape, dtype=torch.float64)
        W, G = p.detach().clone(), gaussian(*shape, dtype=torch.float64)
        X = stiefel.project_tangent(W, G)
        X = X / X.norm()
        for a, b, c in table:
            A = X @ X.mT
            X = a * X + (b * A + c * A @ A) @ X
        p.grad = G
        Spel([p], lr=0.2, weight_decay=0, coefficient_type="quintic", num_ns_steps=5).step()
        torch.testing.assert_close(p.detach(), exact_msign(W - 0.2 * X), rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e-12, 1e12, 1e30])
def test_the_scale_of_the_gradient_does_not_count(scale: float) -> None:
    for dtype in (torch.float32, torch.float64):
        results = []
        for factor in (1.0, scale):
            p = point(12, 8, dtype=dtype)
            p.grad = gaussian(12, 8, dtype=dtype) * factor
            Spel([p], lr=0.1, momentum=0).step()
            results.append(p.detach())
        torch.testing.assert_close(*results, rtol=0, atol=1e-5 if scale == 1e-40 else 1e-6)


def test_float64_momentum_may_be_as_small_as_it_likes() -> None:
    p, q = (point(6, 6, dtype=torch.float64) for _ in range(2))
    p.grad = gaussian(6, 6, dtype=torch.float64)
    q.grad = p.grad * 1e-250
    Spel([p, q], lr=0.1).step()
    torch.testing.assert_close(p, q, rtol=0, atol=1e-13)


def test_decay_only_lengthens_the_step() -> None:
    lr, decay = 0.2, 0.5
    p, q = (point(9, 4, dtype=torch.float64) for _ in range(2))
    p.grad = q.grad = gaussian(9, 4, dtype=torch.float64)
    Spel([p], lr=lr, weight_decay=decay).step()
    Spel([q], lr=lr / (1 - lr * decay), weight_decay=0).step()
    torch.testing.assert_close(p, q, rtol=0, atol=1e-13)


# --- what stays where it is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (4, 9)])
def test_what_does_not_move_a_weight(shape: tuple[int, int], dtype: Any) -> None:
    p, off = point(*shape, dtype=dtype), torch.nn.Parameter(gaussian(*shape, dtype=dtype))
    for weight in (p, off):
        before = weight.detach().clone()
        optimizer = Spel([weight], lr=0.1)
        optimizer.step()
        assert torch.equal(weight, before)
        assert not optimizer.state  # no gradient, no state
        weight.grad = torch.zeros_like(weight)
        for _ in range(2):
            optimizer.step()
        assert torch.equal(weight, before)
        assert torch.equal(optimizer.state[weight]["momentum_buffer"], torch.zeros_like(before))
        weight.grad = gaussian(*shape, dtype=dtype)
        Spel([weight], lr=0.0).step()
        assert torch.equal(weight, before)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("mode", MODES)
def test_a_normal_gradient_does_not_move_a_weight(dtype: Any, mode: str) -> None:
    for shape in ((6, 6), (90, 40), (40, 90), (300, 300)):
        p = point(*shape, dtype=dtype, mode=mode)
        before, S = p.detach().clone(), gaussian(min(shape), min(shape), dtype=dtype)
        S = S + S.mT
        p.grad = p.detach() @ S if shape[0] >= shape[1] else S @ p.detach()
        Spel([p], lr=0.1, momentum=0, scale_mode=mode).step()
        assert torch.equal(p, before)


def test_weights_off_the_manifold_are_retracted_by_their_first_step_only() -> None:
    p = torch.nn.Parameter(3 * gaussian(9, 4, dtype=torch.float64))
    before = p.detach().clone()
    optimizer = Spel([p], lr=0.1, weight_decay=0, coefficient_type="svd")
    optimizer.load_state_dict(optimizer.state_dict())
    assert torch.equal(p, before)
    p.grad = gaussian(9, 4, seed=1, dtype=torch.float64)
    expected = spel.spel_step(stiefel.retract(before, 0), p.grad, 0.1)
    optimizer.step()
    torch.testing.assert_close(p.detach(), expected, rtol=0, atol=1e-13)


def test_weights_that_others_have_changed_are_retracted_again() -> None:
    def in_place(p: Any) -> None:
        with torch.no_grad():
            p.copy_(3 * gaussian(9, 4, seed=7, dtype=torch.float64))

    def replaced(p: Any) -> None:
        p.data = 3 * gaussian(9, 4, seed=7, dtype=torch.float64)

    def clipped(p: Any) -> None:
        with torch.no_grad():
            p.clamp_(-0.2, 0.2)

    def scaled(p: Any) -> None:
        optimizer.param_groups[0]["scale_mode"] = MODES[1]

    for change in (in_place, replaced, clipped, scaled):
        p = point(9, 4, dtype=torch.float64)
        optimizer = Spel([p], lr=0.1, momentum=0, weight_decay=0, coefficient_type="svd")
        train(optimizer, p, steps=2)
        change(p)
        mode = optimizer.param_groups[0]["scale_mode"]
        start = stiefel.retract(p.detach(), 0, sigma=stiefel.sigma((9, 4), mode))
        expected = spel.spel_step(start, gaussian(9, 4, seed=200, dtype=torch.float64), 0.1, scale_mode=mode)
        train(optimizer, p, first=2)
        torch.testing.assert_close(p.detach(), expected, rtol=0, atol=1e-13)


def test_a_weight_changed_at_lr_zero_is_retracted_when_it_moves() -> None:
    p = point(9, 4, dtype=torch.float64)
    optimizer = Spel([p], lr=0.1, momentum=0, weight_decay=0, coefficient_type="svd")
    train(optimizer, p)
    with torch.no_grad():
        p.mul_(2)
    start = p.detach() / 2
    optimizer.param_groups[0]["lr"] = 0.0
    train(optimizer, p)
    assert torch.equal(p, 2 * start)
    optimizer.param_groups[0]["lr"] = 0.1
    expected = spel.spel_step(start, gaussian(9, 4, seed=100, dtype=torch.float64), 0.1)
    train(optimizer, p, first=1)
    torch.testing.assert_close(p.detach(), expected, rtol=0, atol=1e-13)


def test_weights_that_cannot_be_retracted_are_named() -> None:
    good, bad = torch.nn.Parameter(gaussian(6, 4)), torch.nn.Parameter(torch.zeros(6, 4))
    optimizer = Spel([("good", good), ("bad", bad)], lr=0.1)
    train_args = (good, bad)
    with pytest.raises(ValueError, match=r"^bad of shape \(6, 4\) must have full rank"):
        train(optimizer, *train_args)
    with torch.no_grad():
        bad.copy_(gaussian(6, 1) @ gaussian(1, 4))
    with pytest.raises(ValueError, match=r"^bad of shape \(6, 4\) must have full rank"):
        train(optimizer, *train_args)
    with torch.no_grad():
        bad.copy_(gaussian(6, 4))
        bad[2, 1] = math.nan
    with pytest.raises(ValueError, match=r"^bad must be finite"):
        train(optimizer, *train_args)
    assert not optimizer.state


@pytest.mark.parametrize("condition", [1e2, 1e4])
def test_badly_conditioned_weights_are_retracted(condition: float) -> None:
    u, _, vt = torch.linalg.svd(gaussian(40, 30, dtype=torch.float64), full_matrices=False)
    s = torch.logspace(0, -math.log10(condition), 30, dtype=torch.float64)
    p = torch.nn.Parameter((1e-3 * u * s) @ vt)
    p.grad = gaussian(40, 30, dtype=torch.float64)
    Spel([p], lr=1e-30).step()
    torch.testing.assert_close(p.detach(), u @ vt, rtol=0, atol=1e-14 * condition)


# --- gradients ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_nothing_is_changed_if_a_gradient_is_not_finite(bad: float, dtype: Any) -> None:
    weights = [point(6, 4, seed=i, dtype=dtype) for i in range(3)]
    optimizer = Spel([{"params": weights[:1]}, {"params": weights[1:]}], lr=0.1)
    train(optimizer, *weights)
    before = copy.deepcopy(
        [p.detach() for p in weights] + [s["momentum_buffer"] for s in optimizer.state.values()]
    )
    for p in weights:
        p.grad = gaussian(6, 4, dtype=dtype)
    weights[2].grad[3, 1] = bad
    with pytest.raises(ValueError, match=r"^parameter 1 of group 1: the gradient must be finite"):
        optimizer.step()
    after = [p.detach() for p in weights] + [s["momentum_buffer"] for s in optimizer.state.values()]
    assert all(map(torch.equal, before, after))


def test_nan_spreads_if_it_may() -> None:
    p, q = point(6, 4), point(6, 4)
    optimizer = Spel([p, q], lr=0.1, error_if_nonfinite=False)
    p.grad, q.grad = torch.full((6, 4), math.nan), gaussian(6, 4)
    optimizer.step()
    assert torch.isnan(p).all()
    assert defect(q) <= 1e-6


def test_huge_gradients_are_finite() -> None:
    p = point(6, 4)
    p.grad = torch.full((6, 4), 3e38)
    p.grad[0, 0] = -3e38
    Spel([p], lr=0.1).step()
    assert defect(p) <= 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("nesterov", [False, True])
def test_the_gradient_is_left_as_it_is(method: str, nesterov: bool) -> None:
    p = point(6, 4)
    p.grad = gaussian(6, 4)
    grad, before = p.grad, p.grad.clone()
    optimizer = Spel([p], lr=0.1, nesterov=nesterov, weight_decay_method=method)
    optimizer.step()
    optimizer.step()
    assert p.grad is grad
    assert torch.equal(grad, before)


def test_momentum_and_nesterov() -> None:
    p = point(3, 2, dtype=torch.float64)
    optimizer = Spel([p], lr=0.0, momentum=0.9)
    for grad, expected in ((1.0, 0.1), (2.0, 0.29)):
        p.grad = torch.full((3, 2), grad, dtype=torch.float64)
        optimizer.step()
        buffer = optimizer.state[p]["momentum_buffer"]
        torch.testing.assert_close(buffer, torch.full_like(buffer, expected), rtol=1e-15, atol=0)


def test_sparse_gradients_are_refused() -> None:
    p = point(6, 4)
    p.grad = gaussian(6, 4).to_sparse()
    with pytest.raises(TypeError, match="parameter 0 of group 0: the gradient must be a dense"):
        Spel([p]).step()


def refused(optimizer: Any, error: type[Exception], message: str) -> None:
    """The step is refused, and changes neither weights nor momenta."""
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    held = [*weights, *(s["momentum_buffer"] for s in optimizer.state.values())]
    held = [x for x in held if isinstance(x, torch.Tensor) and x.layout is torch.strided]
    before = [x.detach().clone() for x in held]
    with pytest.raises(error, match=message):
        optimizer.step()
    for x, old in zip(held, before, strict=True):
        torch.testing.assert_close(x.detach(), old, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("momentum", "error", "message"),
    [
        (gaussian(6, 4, dtype=torch.float64), TypeError, r"have the dtype torch.float32 .*got torch.float64"),
        (gaussian(4, 6), ValueError, r"have the shape torch.Size\(\[6, 4\]\) .*got torch.Size\(\[4, 6\]\)"),
        (gaussian(6, 4).to_sparse(), TypeError, r"be a dense tensor: got torch.sparse_coo"),
        (0.0, TypeError, r"be a dense tensor: got float"),
        (math.nan * gaussian(6, 4), ValueError, r"be finite"),
        (math.inf * gaussian(6, 4), ValueError, r"be finite"),
    ],
)
def test_a_momentum_that_does_not_fit_is_refused(momentum: Any, error: type[Exception], message: str) -> None:
    good, bad = point(6, 4), point(6, 4, seed=1)
    optimizer = Spel([("good", good), ("bad", bad)], lr=0.1)
    train(optimizer, good, bad)
    optimizer.state[bad]["momentum_buffer"] = momentum
    refused(optimizer, error, "^bad: the momentum_buffer must " + message)


def test_a_model_cast_between_steps_is_refused() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 6, bias=False), torch.nn.Linear(6, 4, bias=False))
    optimizer = Spel(model.named_parameters(), lr=0.1)
    train(optimizer, *model.parameters())
    model.double()
    refused(optimizer, TypeError, r"^0\.weight: the momentum_buffer must have the dtype torch\.float64")


@pytest.mark.parametrize("error_if_nonfinite", [True, False])
def test_a_weight_that_became_nan_is_refused_unless_nan_may_spread(error_if_nonfinite: bool) -> None:
    good, bad = point(6, 4), point(6, 4, seed=1)
    optimizer = Spel([("good", good), ("bad", bad)], lr=0.1, error_if_nonfinite=error_if_nonfinite)
    train(optimizer, good, bad)
    with torch.no_grad():
        bad[0, 0] = math.nan
    if error_if_nonfinite:
        refused(optimizer, ValueError, "^bad must be finite")
        bad.data[0, 0] = math.inf  # no count tells of this one
        with pytest.raises(ValueError, match=r"^bad.* must be finite"):
            optimizer.step()
    else:
        optimizer.step()
        assert bad.isnan().all()
        assert good.isfinite().all()


@pytest.mark.parametrize(
    ("dtype", "options", "message"),
    [
        (torch.float32, {"lr": 1.5e4, "weight_decay": 0.0}, "lr must be at most 1.4e\\+04"),
        (torch.float32, {"lr": 1e39, "weight_decay": 0.0}, "lr must be at most"),
        (torch.bfloat16, {"lr": 1.5e4, "weight_decay": 0.0}, "lr must be at most 1.4e\\+04"),
        (torch.float64, {"lr": 1e13, "weight_decay": 0.5e-13}, "lr must be at most 3.75e\\+12"),
        (torch.float64, {"lr": 1e200, "weight_decay": 0.0, "weight_decay_method": "palm"}, "lr must be"),
        (torch.float32, {"lr": 0.1, "weight_decay": 1e39, "weight_decay_method": "l2"}, "weight_decay must"),
        (torch.float16, {"lr": 0.1, "weight_decay": 1e5, "weight_decay_method": "l2"}, "weight_decay must"),
    ],
)
def test_steps_that_lose_the_weight_or_overflow_are_refused(
    dtype: Any, options: dict[str, Any], message: str
) -> None:
    p = point(6, 4, dtype=dtype)
    optimizer = Spel([("w", p)], **options)
    p.grad = gaussian(6, 4, dtype=dtype)
    refused(optimizer, ValueError, "^w: " + message)
    assert not optimizer.state


@pytest.mark.parametrize(
    "shape", [(1, 1), (9, 1), (9, 9), (40, 40), (64, 16), (200, 50), (16, 64), (150, 150)]
)
@pytest.mark.parametrize("rank", [1, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_longest_steps_end_on_the_manifold(shape: tuple[int, int], rank: int, dtype: Any) -> None:
    lr = 0.00999 / (max(shape) * torch.finfo(dtype).eps)
    for direction in ("svd", "polar_express", "quintic"):
        p = point(*shape, dtype=dtype)
        optimizer = Spel([p], lr=lr, weight_decay=0, coefficient_type=direction)
        for seed in range(3):
            p.grad = gaussian(shape[0], rank, seed=seed, dtype=dtype) @ gaussian(
                rank, shape[1], seed=seed + 10, dtype=dtype
            )
            optimizer.step()
            assert defect(p) <= GRAM[dtype]


@pytest.mark.parametrize("coefficients", ["polar_express", "quintic", "svd"])
@pytest.mark.parametrize("power", [-38, -30, -15, -14, -9, 0, 9, 14, 15, 20, 36])
def test_a_small_tangent_part_counts_at_every_scale_of_the_gradient(coefficients: str, power: int) -> None:
    # the gradient is nearly normal: its tangent part is 2e-5 of it
    m, n = 512, 16
    W = torch.eye(m, n, dtype=torch.float64)
    T = stiefel.project_tangent(W, gaussian(m, 2, dtype=torch.float64) @ gaussian(2, n, dtype=torch.float64))
    G = W / n**0.5 + 2e-5 * T / T.norm()
    results = []
    for scale in (1.0, 10.0**power):
        p = torch.nn.Parameter(W.float())
        p.grad = (scale * G).float()
        Spel([p], lr=0.1, momentum=0, weight_decay=0, coefficient_type=coefficients).step()
        assert p.isfinite().all()
        results.append(p.detach())
    assert float((results[0] - W.float()).norm()) > 0.1
    if power > -38:  # there float32 has too few digits
        torch.testing.assert_close(results[1], results[0], rtol=0, atol=0.02)


def test_a_weight_with_nan_that_does_not_move_stays() -> None:
    good, bad = point(6, 4), point(6, 4, seed=1)
    with torch.no_grad():
        bad[0, 0] = math.nan
    before = bad.detach().clone()
    good.grad, bad.grad = gaussian(6, 4), torch.zeros(6, 4)
    Spel([good, bad], lr=0.1).step()
    torch.testing.assert_close(bad.detach(), before, rtol=0, atol=0, equal_nan=True)


def test_a_linear_schedule_to_zero_ends_without_an_error() -> None:
    for start in (0.1, 0.02):
        for steps in (7, 10, 50):
            p = point(6, 4)
            optimizer = Spel([p], lr=start)
            schedule = torch.optim.lr_scheduler.LinearLR(optimizer, end_factor=0.0, total_iters=steps)
            for step in range(steps + 2):
                train(optimizer, p, first=step)
                schedule.step()


@pytest.mark.parametrize("empty", [None, {}])
def test_a_state_without_a_momentum_begins_with_zero(empty: Any) -> None:
    p, q = point(6, 4), point(6, 4)
    optimizer = Spel([p], lr=0.1)
    optimizer.state[p] = {"momentum_buffer": None} if empty is None else {}
    train(optimizer, p)
    train(Spel([q], lr=0.1), q)
    assert torch.equal(p, q)


@pytest.mark.parametrize(
    "number", [Fraction(1, 10), torch.tensor([0.1]), torch.tensor(0.1, requires_grad=True)]
)
@pytest.mark.parametrize("option", ["lr", "momentum", "weight_decay"])
@pytest.mark.parametrize("method", METHODS)
def test_numbers_of_every_kind_are_taken(number: Any, option: str, method: str) -> None:
    weights = []
    for value in (number, float(torch.tensor(0.1)) if isinstance(number, torch.Tensor) else 0.1):
        p = point(6, 4)
        train(Spel([p], **{"nesterov": True, "weight_decay_method": method, option: value}), p, steps=2)
        weights.append(p.detach())
    assert torch.equal(*weights)


def test_a_step_in_inference_mode() -> None:
    p, q = point(6, 4), point(6, 4)
    ours, plain = Spel([p], lr=0.1), Spel([q], lr=0.1)
    p.grad = q.grad = gaussian(6, 4)
    for _ in range(3):
        plain.step()
        with torch.inference_mode():
            ours.step()
    assert torch.equal(p.detach(), q.detach())


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (80, 20)])
def test_memory_order_does_not_count(shape: tuple[int, int]) -> None:
    p, q = point(*shape), torch.nn.Parameter(point(*shape).detach().mT.contiguous().mT)
    strided = torch.nn.Parameter(torch.zeros(2 * shape[0], 3 * shape[1])[::2, ::3])
    with torch.no_grad():
        strided.copy_(p)
    assert not strided.is_contiguous()
    optimizer = Spel([p, q, strided], lr=0.1)
    for seed in range(3):
        column = gaussian(shape[0], 1, seed=seed)
        p.grad = column.expand(shape).contiguous() + torch.eye(*shape)
        q.grad = p.grad.mT.contiguous().mT
        strided.grad = p.grad
        optimizer.step()
    torch.testing.assert_close(q, p, rtol=0, atol=2e-6)
    torch.testing.assert_close(strided, p, rtol=0, atol=2e-6)
    p.grad, q.grad = column.expand(shape), column.expand(shape).contiguous()
    strided.grad = None
    optimizer.step()
    torch.testing.assert_close(q, p, rtol=0, atol=2e-6)


# --- checks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "error", "message"),
    [
        ("lr", -1.0, ValueError, "lr must be finite and not negative: got -1.0"),
        ("lr", math.nan, ValueError, "lr must be finite"),
        ("lr", math.inf, ValueError, "lr must be finite"),
        ("lr", torch.tensor(-1.0), ValueError, "lr must be finite"),
        ("lr", torch.ones(2), TypeError, r"lr must be a real number: got \(2,\) tensor"),
        ("lr", "0.1", TypeError, "lr must be a real number: got str"),
        ("lr", True, TypeError, "lr must be a real number: got bool"),
        ("momentum", 2.0, ValueError, r"momentum must lie in \[0, 1\): got 2.0"),
        ("momentum", 1, ValueError, r"momentum must lie in \[0, 1\): got 1"),
        ("momentum", -0.1, ValueError, "momentum must be finite and not negative"),
        ("momentum", math.nan, ValueError, "momentum must be finite"),
        ("weight_decay", -0.1, ValueError, "weight_decay must be finite and not negative"),
        ("weight_decay", 1e5, ValueError, "weight_decay must leave some of the weight: got lr 0.0003"),
        ("weight_decay", None, TypeError, "weight_decay must be a real number: got NoneType"),
        ("nesterov", 1, TypeError, "nesterov must be True or False: got 1"),
        ("weight_decay_method", "L2", ValueError, "weight_decay_method must be one of 'decoupled'.*got 'L2'"),
        (
            "scale_mode",
            "spectral",
            ValueError,
            "scale_mode must be one of 'unit_spectral_norm'.*got 'spectral'",
        ),
        (
            "coefficient_type",
            "quint",
            ValueError,
            "coefficient_type must be one of 'polar_express'.*got 'quint'",
        ),
        ("coefficient_type", 5, TypeError, "coefficient_type must be a string: got int"),
        ("num_ns_steps", 0, ValueError, "num_ns_steps must be at least 1: got 0"),
        ("num_ns_steps", 5.0, TypeError, "num_ns_steps must be an integer: got float"),
        ("fp32_matmul_prec", "low", ValueError, "fp32_matmul_prec must be one of 'highest'.*got 'low'"),
        ("error_if_nonfinite", "no", TypeError, "error_if_nonfinite must be True or False: got 'no'"),
    ],
)
def test_options_are_checked(option: str, value: Any, error: type[Exception], message: str) -> None:
    p, q, before = point(6, 4), point(6, 4), None
    with pytest.raises(error, match=message):
        Spel([p], **{option: value})
    with pytest.raises(error, match=message):
        Spel([{"params": [p], option: value}])
    optimizer = Spel([p])
    with pytest.raises(error, match=message):
        optimizer.add_param_group({"params": [q], option: value})
    assert len(optimizer.param_groups) == 1
    before = p.detach().clone()
    optimizer.param_groups[0][option] = value  # as a scheduler may
    with pytest.raises(error, match=message):
        train(optimizer, p)
    assert torch.equal(p, before)
    assert not optimizer.state


@pytest.mark.parametrize("method", ["independent", "palm", "decoupled"])
def test_a_decay_that_flips_the_weight_is_refused(method: str) -> None:
    for lr, decay in ((2.0, 1.0), (1.0, 1.0), (3.0, 1.5)):
        with pytest.raises(ValueError, match=f"weight_decay must leave some of the weight.*'{method}'"):
            Spel([point(3, 2)], lr=lr, weight_decay=decay, weight_decay_method=method)
    Spel([point(3, 2)], lr=3.0, weight_decay=5.0, weight_decay_method="l2")


@pytest.mark.parametrize("shape", [(5,), (4, 1, 1), (8, 3, 3, 3), (0, 3), (3, 0), ()])
def test_only_matrices_are_taken(shape: tuple[int, ...]) -> None:
    good, bad = point(6, 4), torch.nn.Parameter(torch.zeros(shape))
    message = rf"must be a matrix, with rows and columns: got shape \({', '.join(map(str, shape))}"
    with pytest.raises(ValueError, match="^parameter 1 of group 0 " + message):
        Spel([good, bad])
    with pytest.raises(ValueError, match="^conv " + message):
        Spel([("fc", good), ("conv", bad)])
    optimizer = Spel([good])
    with pytest.raises(ValueError, match="^parameter 0 of group 1 " + message):
        optimizer.add_param_group({"params": bad})
    assert len(optimizer.param_groups) == 1
    train(optimizer, good)


def test_only_real_dense_tensors_are_taken() -> None:
    for bad in (
        torch.eye(2, dtype=torch.complex64),
        torch.eye(2, dtype=torch.int64),
        torch.eye(2).to_sparse(),
        torch.eye(2).to(torch.float8_e4m3fn),
    ):
        with pytest.raises(
            TypeError, match="parameter 0 of group 0 must be a dense tensor of a real floating"
        ):
            Spel([bad])


def test_every_entry_of_a_parameter_is_its_own() -> None:
    p = point(6, 4)
    for second in ("b", "a"):
        with pytest.warns(UserWarning, match="duplicate"), pytest.raises(ValueError, match="given twice"):
            Spel([("a", p), (second, p)])
    with pytest.raises(TypeError, match="not initialized"):
        Spel(torch.nn.LazyLinear(3, bias=False).parameters())
    with pytest.raises(ValueError, match=r"^parameter 0 of group 0 must have entries of its own"):
        Spel([torch.ones(6, 1).expand(6, 4)])
    with pytest.raises(ValueError, match=r"^group 1: lr must be finite"):
        Spel([{"params": [p]}, {"params": [point(3, 2)], "lr": math.nan}])


def test_torch_says_what_it_always_says() -> None:
    p = point(6, 4)
    with pytest.raises(ValueError, match="empty parameter list"):
        Spel([])
    with pytest.raises(ValueError, match="more than one parameter group"):
        Spel([{"params": [p]}, {"params": [p]}])
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        Spel([1.0])


def test_without_torch_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport ngeodesic\ntry: import ngeodesic.optim\n"
    code += "except ImportError as error: print(error)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ngeodesic-companion[torch]" in result.stdout


# --- groups, state and what else a torch optimizer does -----------------------------------------------------


def test_every_option_counts_per_group() -> None:
    weights = [point(6, 4, seed=i) for i in range(3)]
    optimizer = Spel([{"params": weights[:1], **OPTIONS}, {"params": weights[1:2]}], momentum=0.5)
    optimizer.add_param_group({"params": [weights[2]], "nesterov": True})
    train(optimizer, *weights, steps=3)
    alone = [point(6, 4, seed=i) for i in range(3)]
    single = [
        Spel(alone[:1], **OPTIONS),
        Spel(alone[1:2], momentum=0.5),
        Spel(alone[2:], momentum=0.5, nesterov=True),
    ]
    for step in range(3):
        for i, (p, one) in enumerate(zip(alone, single, strict=True)):
            p.grad = gaussian(6, 4, seed=100 * step + i)
            one.step()
    assert all(map(torch.equal, weights, alone))


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_survives_state_dict(option: str) -> None:
    p = point(6, 4)
    optimizer = Spel([p], **OPTIONS)
    train(optimizer, p)
    saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
    fresh = Spel([p])
    assert fresh.param_groups[0][option] != OPTIONS[option]
    fresh.load_state_dict(saved)
    assert fresh.param_groups[0][option] == OPTIONS[option]
    assert torch.equal(fresh.state[p]["momentum_buffer"], optimizer.state[p]["momentum_buffer"])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, OPTIONS, {"coefficient_type": "svd", "lr": 0.1}])
def test_three_and_two_steps_are_five(dtype: Any, options: dict[str, Any], tmp_path: Any) -> None:
    through, stopped = (
        [torch.nn.Parameter(gaussian(8, 3, dtype=dtype)), point(4, 4, dtype=dtype)] for _ in range(2)
    )
    train(Spel(through, **options), *through, steps=5)
    optimizer = Spel(stopped, **options)
    train(optimizer, *stopped, steps=3)
    torch.save({"weights": stopped, "optimizer": optimizer.state_dict()}, tmp_path / "c.pt")
    loaded = torch.load(tmp_path / "c.pt", weights_only=True)
    resumed = [torch.nn.Parameter(p.detach().clone()) for p in loaded["weights"]]
    optimizer = Spel(resumed)
    optimizer.load_state_dict(loaded["optimizer"])
    assert all(map(torch.equal, resumed, stopped))
    train(optimizer, *resumed, steps=2, first=3)
    assert all(map(torch.equal, resumed, through))


def test_the_state_of_the_other_library_is_taken() -> None:
    p = point(6, 4)
    optimizer = Spel([p], nesterov=True)
    state = {"state": {0: {"momentum_buffer": gaussian(6, 4)}}}
    state["param_groups"] = [{"lr": 0.02, "momentum": 0.9, "weight_decay": 0.0, "params": [0]}]
    optimizer.load_state_dict(state)
    group = optimizer.param_groups[0]
    assert (group["lr"], group["momentum"], group["nesterov"]) == (0.02, 0.9, True)
    train(optimizer, p)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_copies_and_pickles_go_on_alike(copied: Callable[[Any], Any]) -> None:
    p = torch.nn.Parameter(gaussian(6, 4))
    optimizer = Spel([p], lr=0.1)
    train(optimizer, p, steps=2)
    q, twin = copied((p, optimizer))
    assert twin.param_groups[0]["params"][0] is q
    train(optimizer, p, steps=2, first=2)
    train(twin, q, steps=2, first=2)
    assert torch.equal(p, q)


def test_one_momentum_buffer_is_all_the_state() -> None:
    p = point(6, 4, dtype=torch.bfloat16)
    optimizer = Spel([p], lr=0.1)
    train(optimizer, p, steps=2)
    assert list(optimizer.state[p]) == ["momentum_buffer"]
    assert optimizer.state[p]["momentum_buffer"].dtype == torch.bfloat16


def test_the_closure_is_called_with_gradients_and_its_loss_returned() -> None:
    p = point(6, 4)
    optimizer = Spel([p], lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * gaussian(6, 4)).sum()
        loss.backward()
        return loss.detach()

    assert float(optimizer.step(closure)) == float((point(6, 4).detach() * gaussian(6, 4)).sum())
    assert optimizer.step(lambda: 3.5) == 3.5
    assert optimizer.step() is None
    assert p.requires_grad


def test_hooks_and_zero_grad() -> None:
    p, seen = point(6, 4), []
    optimizer = Spel([p], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.register_step_post_hook(lambda *_: seen.append("after"))
    train(optimizer, p)
    optimizer.zero_grad()
    assert seen == ["before", "after"]
    assert p.grad is None


def test_learning_rates_may_be_tensors_and_scheduled() -> None:
    p, q = point(6, 4), point(6, 4)
    first, second = Spel([p], lr=0.2), Spel([q], lr=torch.tensor(0.2))
    schedules = [torch.optim.lr_scheduler.ExponentialLR(o, 0.5) for o in (first, second)]
    for step in range(3):
        train(first, p, first=step)
        train(second, q, first=step)
        for schedule in schedules:
            schedule.step()
    assert float(second.param_groups[0]["lr"]) == pytest.approx(0.025, rel=1e-6, abs=0)
    torch.testing.assert_close(p, q, rtol=0, atol=1e-6)


def test_one_cycle_moves_the_momentum_too() -> None:
    p = point(6, 4)
    optimizer = Spel([p], lr=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=5)
    for step in range(4):
        train(optimizer, p, first=step)
        schedule.step()
    assert defect(p) <= 1e-6


def test_grad_scaler_skips_what_overflows() -> None:
    p, q = point(6, 4), point(6, 4)
    scaled, plain = Spel([p], lr=0.1), Spel([q], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for factor in (1.0, math.inf, 2.0):
        scaler.scale((p * gaussian(6, 4)).sum() * factor).backward()
        scaler.step(scaled)
        scaler.update()
        scaled.zero_grad()
        if factor != math.inf:
            q.grad = gaussian(6, 4) * factor
            plain.step()
    torch.testing.assert_close(p, q, rtol=0, atol=1e-6)


def test_a_compiled_model_trains_as_it_does_uncompiled() -> None:
    trained = []
    for wrap in (lambda model: model, lambda model: torch.compile(model, backend="eager")):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 16, bias=False), torch.nn.Tanh(), torch.nn.Linear(16, 4, bias=False)
        )
        called, x = wrap(model), gaussian(64, 8)
        optimizer = Spel(called.named_parameters(), lr=0.05)
        for _ in range(5):
            optimizer.zero_grad()
            (called(x) - x[:, :4]).square().mean().backward()
            optimizer.step()
        trained.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    torch.testing.assert_close(*trained, rtol=0, atol=1e-5)


def test_the_precision_of_products_is_set_for_the_direction_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}

    def spy(name: str) -> Callable[..., Any]:
        function = getattr(optim, name)

        def call(*args: Any) -> Any:
            seen[name] = torch.get_float32_matmul_precision()
            return function(*args)

        return call

    for name in ("tangent_part", "iterate", "polar_by_products"):
        monkeypatch.setattr(optim, name, spy(name))
    p, before = point(6, 4), torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        train(Spel([p], fp32_matmul_prec="medium"), p)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen == {"tangent_part": "highest", "iterate": "medium", "polar_by_products": "highest"}


@pytest.mark.parametrize("shape", [(96, 96), (192, 96), (96, 200), (300, 100), (50, 400)])
@pytest.mark.parametrize(
    "options", [{}, {"coefficient_type": "quintic", "num_ns_steps": 5, "nesterov": True}]
)
def test_temporaries_are_at_most_three_times_the_parameter(
    shape: tuple[int, int], options: dict[str, Any]
) -> None:
    for dtype in (torch.float32, torch.float64):
        p = torch.nn.Parameter(gaussian(*shape, dtype=dtype))
        optimizer = Spel([p], lr=0.02, **options)
        for step in range(2):  # the first makes the buffer, and retracts
            p.grad = gaussian(*shape, seed=step, dtype=dtype)
            most, left = allocated(optimizer.step)
            buffer = p.numel() * p.element_size() * (step == 0)
            assert left <= buffer + 4096
            assert most - buffer <= 3.01 * p.numel() * p.element_size() + 4096


def allocated(step: Callable[[], Any]) -> tuple[int, int]:
    """The largest number of bytes that torch held at once in a step, and what it holds after it."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        step()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most, held


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_step_under_autocast_is_the_step_without(dtype: torch.dtype) -> None:
    weights = []
    for enabled in (False, True):
        weight = torch.nn.Parameter(torch.eye(3, 2))
        weight.grad = torch.tensor([[3.0, 1], [2, 4], [1, -1]])
        with torch.autocast("cpu", dtype=dtype, enabled=enabled):
            Spel([weight], lr=0.1).step()
        weights.append(weight.detach())
    assert torch.equal(*weights)
