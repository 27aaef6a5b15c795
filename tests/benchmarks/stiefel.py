"""Print speed and defects of the Stiefel functions, beside what they are compared with, measured in one run.

    python tests/benchmarks/stiefel.py [rounds]

Exits with 1 if a target is missed. Times are medians, the functions taking turns. geoopt and pymanopt are
skipped with a note if they are not installed. Last come 1,000 retractions of every shape, scale mode and
type.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from speed import optional, report, times

sys.path.append(str(Path(__file__).parents[1]))

from stiefel_grid import MODES, SHAPES

from ngeodesic.polar import msign
from ngeodesic.spel import direction
from ngeodesic.stiefel import exp, gram_defect, project_tangent, random_point, retract, sigma

SIZES = [(1024, 256), (1024, 1024), (256, 1024)]
BOUNDS = {np.float64: 1e-13, np.float32: 1e-6}
LR = 0.02


def gaussian(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def two_products(W: Any, G: Any) -> Any:
    """The products of a projection: W (W^T G), or (G W^T) W if W is wide."""
    return W @ (W.T @ G) if W.shape[0] >= W.shape[1] else (G @ W.T) @ W


def by_svd(X: Any) -> Any:
    u, _, vt = np.linalg.svd(X, full_matrices=False)
    return u @ vt


def projections(rounds: int) -> list[bool]:
    verdicts = []
    for dtype in (np.float64, np.float32):
        for shape in SIZES:
            W, G = random_point(shape, seed=0).astype(dtype), gaussian(shape).astype(dtype)
            functions = {"ours": partial(project_tangent, W, G), "two": partial(two_products, W, G)}
            found = times(functions, rounds)
            what = f"project_tangent / its two products, {shape}, {dtype.__name__}"
            verdicts.append(report(what, found["ours"] / found["two"], 1.1))
    return verdicts


def retractions(rounds: int) -> list[bool]:
    verdicts = []
    for dtype in (np.float64, np.float32):
        for shape in SIZES:
            W, M = random_point(shape, seed=0).astype(dtype), gaussian(shape).astype(dtype)
            V = dtype(-LR) * direction(W, M)
            functions = {"ours": partial(retract, W, V), "svd": partial(by_svd, W + V)}
            found = times(functions, max(rounds // 3, 3))
            what = f"retract after a SPEL step / SVD, {shape}, {dtype.__name__}"
            verdicts.append(report(what, found["ours"] / found["svd"], 0.3))
            point = retract(W, V)
            away = np.max(np.abs(point - msign(W.astype(float) + V)))
            print(f"    Gram defect {gram_defect(point):.1e}, {away:.1e} away from the SVD in float64")
    return verdicts


def beside_peers(rounds: int) -> list[bool]:
    shape = (1024, 256)
    W, G = random_point(shape, seed=0), gaussian(shape)
    V = project_tangent(W, 0.1 * G / np.linalg.norm(G, 2))
    ours: dict[str, Callable[[], Any]] = {
        "project": partial(project_tangent, W, G),
        "retract": partial(retract, W, V),
        "exp": partial(exp, W, V),
    }
    rows: dict[str, dict[str, Callable[[], Any]]] = {}
    torch = optional("torch")
    if torch is not None and (geoopt := optional("geoopt")) is not None:
        manifold = geoopt.EuclideanStiefel()
        w, g, v = (torch.from_numpy(x) for x in (W, G, V))
        rows["geoopt EuclideanStiefel (QR)"] = {
            "project": partial(manifold.proju, w, g),
            "retract": partial(manifold.retr, w, v),
            "exp": partial(manifold.expmap, w, v),
        }
    if optional("pymanopt") is not None:
        from pymanopt.manifolds import Stiefel

        for name in ("qr", "polar"):
            peer = Stiefel(*shape, retraction=name)
            rows[f"pymanopt Stiefel ({name})"] = {
                "project": partial(peer.projection, W, G),
                "retract": partial(peer.retraction, W, V),
                "exp": partial(peer.exp, W, V),
            }
    for what, function in ours.items():
        functions = {"ours": function} | {name: row[what] for name, row in rows.items()}
        found = times(functions, max(rounds // 3, 3))
        for name, seconds in found.items():
            line = f"  {what:<8} {name:<30} {1e3 * seconds:8.1f} ms   {seconds / found['ours']:6.2f}"
            if what != "project":
                line += f"   Gram defect {float(gram_defect(functions[name]())):.1e}"
            print(line)
    return []


def drift(rounds: int) -> list[bool]:
    verdicts = []
    for dtype, bound in BOUNDS.items():
        worst = 0.0
        for shape in SHAPES:
            for mode in MODES:
                radius = sigma(shape, mode)
                W = random_point(shape, sigma=radius, seed=0).astype(dtype)
                directions = [msign(gaussian(shape, seed)).astype(dtype) for seed in range(20)]
                for step in range(1000):
                    V = project_tangent(W, directions[step % 20], sigma=radius)
                    W = retract(W, dtype(-0.05) * V, sigma=radius)
                worst = max(worst, float(gram_defect(W.astype(float), sigma=radius)))
        good = worst <= bound
        print(f"  largest Gram defect, {dtype.__name__}: {worst:.1e}   {'ok' if good else 'MISSED'}")
        verdicts.append(good)
    return verdicts


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    sections: dict[str, Callable[[int], list[bool]]] = {
        "The tangent projection": projections,
        "The retraction": retractions,
        "Beside other packages, 1024 x 256, float64": beside_peers,
        "After 1,000 retractions": drift,
    }
    verdicts = []
    for title, measure in sections.items():
        print(title)
        verdicts += measure(rounds)
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
