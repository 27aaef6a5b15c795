"""Print what a step of `Spel` costs, as ratios to what it is compared with, measured side by side in one run.

    python tests/benchmarks/optim.py [rounds [busy]]

float32 on two threads; with `busy`, for a machine that has other work, on one thread and in processor time.
Compared with:

- the step of Emerging-Optimizers' `Spel` at ``fp32_matmul_prec="highest"``, quintic, 5 steps. Where that
  library is not installed (it needs Python 3.12 and triton), a reference step written from its published
  formula stands for it: EMA momentum, decoupled decay, Frobenius-normalised Newton-Schulz on the momentum and
  on the weight;
- geoopt's Riemannian SGD, QR retraction, momentum 0.95, on tall and wide sizes;
- the floor: the products of one quintic Newton-Schulz of 5 steps, at the measured rate of products.

Each figure is the smallest of the rounds. Last comes the largest Gram defect after 1, 10, 100 and 1,000 steps
with the default options, over every shape and scale mode of stiefel_grid.py. Exits with 1 if a target is
missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from stiefel import MODES, SHAPES

from ngeodesic.optim import Spel
from ngeodesic.polar import COEFFICIENTS
from ngeodesic.stiefel import gram_defect, sigma

SIZES = [(256, 256), (1024, 256), (256, 1024), (1024, 1024), (2048, 512)]
LR, MOMENTUM, DECAY = 0.02, 0.95, 0.1
QUINTIC = COEFFICIENTS["tuned_quintic"].steps
QUINTIC_OPTIONS: dict[str, Any] = {"coefficient_type": "quintic", "num_ns_steps": 5}


class Reference:
    """The published step of Emerging-Optimizers' `Spel`, with a fused product where it has one."""

    def __init__(self, p: Any) -> None:
        self.p, self.momentum = p, torch.zeros_like(p)

    @torch.no_grad()
    def step(self) -> None:
        self.p.mul_(1 - LR * DECAY)
        self.momentum.lerp_(self.p.grad, 1 - MOMENTUM)
        self.p.sub_(self.orthogonalized(self.momentum), alpha=LR)
        self.p.copy_(self.orthogonalized(self.p))

    def orthogonalized(self, X: Any) -> Any:
        tall = X.shape[0] > X.shape[1]
        X = X.mT if tall else X
        X = torch.nn.functional.normalize(X, dim=(-2, -1), eps=1e-15)  # type: ignore[arg-type]
        for a, b, c in QUINTIC:
            gram = X @ X.mT
            X = torch.addmm(X, torch.addmm(gram, gram, gram, beta=b, alpha=c), X, beta=a)
        return X.mT if tall else X


def other_spel() -> tuple[str, Callable[[Any], Any]]:
    try:
        from emerging_optimizers.orthogonalized_optimizers.spel import Spel as Other
    except (ImportError, SyntaxError):
        return "a reference step from its published formula", Reference
    options = {"fp32_matmul_prec": "highest", **QUINTIC_OPTIONS}
    return "the library itself", lambda p: Other([p], LR, MOMENTUM, DECAY, **options)


def riemannian_sgd() -> Callable[[Any], Any] | None:
    try:
        import geoopt
    except ImportError:
        return None

    class Sgd:
        """On the tall transposes of wide weights: geoopt has tall ones only."""

        def __init__(self, p: Any) -> None:
            wide = p.shape[0] < p.shape[1]
            point = geoopt.ManifoldParameter(
                (p.mT if wide else p).detach().clone(), manifold=geoopt.EuclideanStiefel()
            )
            self.p, self.point, self.wide = p, point, wide
            self.inner = geoopt.optim.RiemannianSGD([point], lr=LR, momentum=MOMENTUM)

        def step(self) -> None:
            self.point.grad = (self.p.grad.mT if self.wide else self.p.grad).clone()
            self.inner.step()

    return Sgd


def floor(m: int, n: int, rounds: int) -> float:
    """Seconds of the products of one quintic Newton-Schulz of 5 steps."""
    m, n = max(m, n), min(m, n)
    X, G = torch.randn(m, n), torch.randn(n, n)
    products = ((lambda: X.mT @ X), (lambda: G @ G), (lambda: X @ G))
    return 5 * sum(min(timed(product) for _ in range(rounds)) for product in products)


def timed(call: Callable[[], Any]) -> float:
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    call()
    return clock() - start


def measure(m: int, n: int, makers: dict[str, Callable[[Any], Any]], rounds: int) -> dict[str, float]:
    torch.manual_seed(0)
    W = torch.nn.init.orthogonal_(torch.empty(m, n))
    grads = [torch.randn(m, n) for _ in range(4)]
    runs = {name: (p := torch.nn.Parameter(W.clone()), make(p)) for name, make in makers.items()}
    best = dict.fromkeys(runs, float("inf"))
    for i in range(rounds):
        for name, (p, optimizer) in runs.items():
            p.grad = grads[i % len(grads)].clone()
            best[name] = min(best[name], timed(optimizer.step))
    return best


def drift() -> int:
    """Print the largest Gram defects, and return how many types exceed their bound."""
    misses = 0
    for dtype, bound in ((torch.float32, 1e-6), (torch.float64, 1e-13)):
        worst = dict.fromkeys((1, 10, 100, 1000), 0.0)
        for shape in SHAPES:
            grads = [torch.randn(shape, dtype=dtype) for _ in range(20)]
            for mode in MODES:
                p = torch.nn.Parameter(torch.randn(shape, dtype=dtype))
                optimizer, radius = Spel([p], LR, scale_mode=mode), sigma(shape, mode)
                for step in range(1, 1001):
                    p.grad = grads[step % 20]
                    optimizer.step()
                    if step in worst:
                        found = float(gram_defect(p.detach().double(), sigma=radius))
                        worst[step] = max(worst[step], found)
        good = max(worst.values()) <= bound
        misses += not good
        shown = ", ".join(f"{step}: {found:.1e}" for step, found in worst.items())
        print(f"  {dtype}: Gram defect after steps {shown}   {'ok' if good else 'MISSED'} ({bound:.0e})")
    return misses


def main(args: Sequence[str]) -> int:
    rounds, misses = int(args[0]) if args else 30, 0
    torch.set_num_threads(1 if args[1:] == ["busy"] else 2)
    source, other = other_spel()
    makers: dict[str, Callable[[Any], Any]] = {
        "Emerging-Optimizers": other,
        "quintic": lambda p: Spel([p], LR, MOMENTUM, DECAY, **QUINTIC_OPTIONS),
        "default": lambda p: Spel([p], LR, MOMENTUM, DECAY),
    }
    sgd = riemannian_sgd()
    if sgd is None:
        print("geoopt is not installed: skipped")
    else:
        makers["geoopt"] = sgd
    print(f"Emerging-Optimizers: {source}\n")
    for m, n in SIZES:
        square = m == n
        compared = {name: make for name, make in makers.items() if name != "geoopt" or not square}
        best, least = measure(m, n, compared, rounds), floor(m, n, rounds)
        shown = ", ".join(f"{name} {seconds / least:.2f}" for name, seconds in best.items())
        print(f"{m} x {n}: floor {1e3 * least:.2f} ms; steps over it: {shown}")
        limits = {("quintic", "Emerging-Optimizers"): 0.75 if square else 0.6}
        limits |= {("default", "Emerging-Optimizers"): 1.05 if square else 0.75}
        if sgd is not None and not square:
            limits |= {("quintic", "geoopt"): 1.25, ("default", "geoopt"): 1.6}
        for (ours, theirs), limit in limits.items():
            ratio = best[ours] / best[theirs]
            misses += ratio > limit
            print(f"    {ours} / {theirs} {ratio:.3f}   {'ok' if ratio <= limit else 'MISSED'} ({limit})")
    print("\nOn the manifold")
    return 1 if misses + drift() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
