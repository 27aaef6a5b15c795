"""Print the speed of the package as ratios to what it is compared with, measured side by side in one run.

    python tests/benchmarks/speed.py [rounds]

Exits with 1 if a target is missed. Peers that are not installed are skipped with a note. All on float64; the
step is taken on 10^4 rows of 1024 entries, both inputs normalised first.
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ngeodesic.geodesic import gap, retract, slerp
from ngeodesic.offplane import decompose, off_plane_norm

ROWS, DIM, ALPHA = 10_000, 1024, 0.1
rng = np.random.default_rng(0)
H, TARGET = rng.standard_normal((ROWS, DIM)), rng.standard_normal((ROWS, DIM))


def plain_numpy() -> Any:
    u = H / np.linalg.norm(H, axis=-1, keepdims=True)
    v = TARGET / np.linalg.norm(TARGET, axis=-1, keepdims=True)
    point = u + ALPHA * (v - u)
    return point / np.linalg.norm(point, axis=-1, keepdims=True)


def in_place_numpy() -> Any:
    """One pass of in-place operations over the whole arrays, on one core: what careful NumPy code does."""
    u = np.multiply(H, 1 / np.sqrt(np.vecdot(H, H))[:, None])
    point = np.multiply(TARGET, 1 / np.sqrt(np.vecdot(TARGET, TARGET))[:, None])
    point -= u
    point *= ALPHA
    point += u
    point /= np.sqrt(np.vecdot(point, point))[:, None]
    return point


def times(functions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median time of each function; the functions take turns, so that all see the same machine."""
    found: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()  # warm up
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            found[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in found.items()}


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"  {name} is not installed: skipped")
        return None


def report(what: str, ratio: float, target: float) -> bool:
    verdict = "ok" if ratio <= target else "MISSED"
    print(f"  {what:<62} {ratio:8.2f}   target {target:5.2f}   {verdict}")
    return ratio <= target


def steps(rounds: int) -> list[bool]:
    functions: dict[str, Callable[[], Any]] = {
        "retract": lambda: retract(H, TARGET, ALPHA),
        "slerp": lambda: slerp(H, TARGET, ALPHA),
        "plain": plain_numpy,
        "in place": in_place_numpy,
    }
    torch = optional("torch")
    if torch is not None:
        h, target = torch.from_numpy(H), torch.from_numpy(TARGET)
        normalize = torch.nn.functional.normalize
        functions["torch"] = lambda: normalize(
            torch.lerp(normalize(h, dim=-1), normalize(target, dim=-1), ALPHA), dim=-1
        )
    peers = slow_peers(torch)
    np.testing.assert_allclose(plain_numpy(), retract(H, TARGET, ALPHA), atol=1e-15)
    np.testing.assert_allclose(in_place_numpy(), retract(H, TARGET, ALPHA), atol=1e-15)
    found = times(functions, rounds)
    ours = found["retract"]
    print(f"  retract: {1e3 * ours:.1f} ms for {ROWS} x {DIM}")
    verdicts = [
        report("retract / plain allocating NumPy", ours / found["plain"], 0.35),
        report("retract / in-place NumPy, one pass, one core", ours / found["in place"], 1.3),
        report("slerp / retract", found["slerp"] / ours, 1.8),
    ]
    if torch is not None:
        verdicts.append(report("retract / torch lerp + normalize", ours / found["torch"], 0.6))
    for name, (function, rows, own) in peers.items():
        pair = times({"peer": function, "ours": own}, 3)
        print(f"  {name + f' / ours, {rows} rows':<62} {pair['peer'] / pair['ours']:8.2f}")
    return verdicts


def off_plane(rounds: int) -> list[bool]:
    shared, own = rng.normal(0.3, 0.1, DIM), rng.normal(0.3, 0.1, (ROWS, DIM))
    verdicts = []
    for name, alpha in (("one alpha per dimension", shared), ("and per row", own)):
        functions: dict[str, Callable[[], Any]] = {
            "retract": partial(retract, H, TARGET, alpha),
            "norm": partial(off_plane_norm, H, TARGET, alpha),
            "parts": partial(decompose, H, TARGET, alpha),
        }
        found = times(functions, rounds)
        verdicts += [
            report(f"off_plane_norm / retract, {name}", found["norm"] / found["retract"], 2.5),
            report(f"decompose / retract, {name}", found["parts"] / found["retract"], 2.5),
        ]
    return verdicts


def slow_peers(torch: Any) -> dict[str, tuple[Callable[[], Any], int, Callable[[], Any]]]:
    """Peers with a SLERP or a step, on as many rows as they do in reasonable time."""
    peers: dict[str, tuple[Callable[[], Any], int, Callable[[], Any]]] = {}
    rows = 500
    u, v = (x[:rows] / np.linalg.norm(x[:rows], axis=-1, keepdims=True) for x in (H, TARGET))
    if (spatial := optional("scipy.spatial")) is not None:
        peers["scipy geometric_slerp, row by row"] = (
            lambda: [spatial.geometric_slerp(a, b, ALPHA) for a, b in zip(u, v, strict=True)],
            rows,
            lambda: slerp(u, v, ALPHA),
        )
    if (pymanopt := optional("pymanopt")) is not None:
        sphere = pymanopt.manifolds.Sphere(DIM)
        peers["pymanopt Sphere.retraction, row by row"] = (
            lambda: [
                sphere.retraction(a, ALPHA * sphere.projection(a, b - a)) for a, b in zip(u, v, strict=True)
            ],
            rows,
            lambda: retract(u, v, ALPHA),
        )
    if torch is not None and (geoopt := optional("geoopt")) is not None:
        manifold = geoopt.Sphere()
        a, b = torch.from_numpy(u), torch.from_numpy(v)
        peers["geoopt Sphere.expmap(logmap)"] = (
            lambda: manifold.expmap(a, ALPHA * manifold.logmap(a, b)),
            rows,
            lambda: slerp(u, v, ALPHA),
        )
    return peers


def points(rounds: int) -> list[bool]:
    alpha, theta = rng.random(10**6), rng.uniform(0, np.pi, 10**6)
    cosine, sine = np.cos(theta), np.sin(theta)
    found = times({"gap": lambda: gap(alpha, theta), "arctan2": lambda: np.arctan2(sine, cosine)}, rounds)
    return [report("gap / np.arctan2, 10^6 points", found["gap"] / found["arctan2"], 12)]


def start() -> list[bool]:
    def run(code: str) -> str:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    code = {"ngeodesic": "from ngeodesic import *", "numpy": "import numpy", "nothing": "pass"}
    found = times({name: partial(run, text) for name, text in code.items()}, 15)
    ours, numpy = (found[name] - found["nothing"] for name in ("ngeodesic", "numpy"))
    heavy = "{'sympy', 'matplotlib', 'torch', 'scipy'} & set(sys.modules)"
    loaded = run(f"import sys; from ngeodesic import *; print(*({heavy}))").split()
    print(f"  import ngeodesic: {1e3 * ours:.0f} ms; heavy modules loaded: {' '.join(loaded) or 'none'}")
    return [report("import ngeodesic / import numpy", ours / numpy, 1.5), not loaded]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    sections: dict[str, Callable[[], list[bool]]] = {
        "The step": lambda: steps(rounds),
        "The off-plane norm": lambda: off_plane(rounds),
        "The gap": lambda: points(rounds),
        "The import": start,
    }
    verdicts = []
    for title, measure in sections.items():
        print(title)
        verdicts += measure()
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
