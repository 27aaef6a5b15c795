"""Print the worst errors of the package beside those of other forms and other libraries, against 60 digits.

    python tests/benchmarks/accuracy.py [points]

Angles in ulp of the exact result, for the float64 numbers given; points of SLERP in units of 1e-16;
off-plane norms as relative errors. Exits with 1 if a target is missed. Peers that are not installed are
skipped with a note.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

from ngeodesic.geodesic import (
    angle,
    contract,
    cubic_gap,
    gap,
    gap_bounds,
    matching_alpha,
    max_gap,
    retraction_angle,
    slerp,
)
from ngeodesic.offplane import off_plane_norm

PI = math.pi
rng = np.random.default_rng(1)
mp.dps = 60


def scalars(count: int) -> tuple[Any, Any]:
    """alpha in [0, 1], also close to 0, 1/2 and 1; theta in [1e-8, pi), also close to pi."""
    close = 10 ** rng.uniform(-12, -1, count)
    kinds = [np.arange(count) % 8 == k for k in range(4)]
    alpha = np.select(kinds, [close, 0.5 - close, 0.5 + close, 1 - close], rng.random(count))
    logarithmic = 10 ** rng.uniform(-8, math.log10(PI), count // 4)
    near_pi = PI - 10 ** rng.uniform(-8, 0, count // 4)
    theta = np.concatenate([logarithmic, rng.uniform(1e-8, PI, count - 2 * (count // 4)), near_pi])
    ends = [0, 1e-12, 0.25, 0.5 - 1e-12, 0.5, 0.5 + 1e-12, 0.75, 1 - 1e-12, 1]
    corners = np.meshgrid(ends, [1e-8, 1e-6, 1e-4, 0.01, 0.3, 1, 2, 3, PI - 1e-6, PI - 1e-8])
    return np.append(alpha, corners[0]), np.append(rng.permutation(theta), corners[1])


def vectors(count: int) -> tuple[Any, Any, Any]:
    """Pairs of vectors of 3 entries, and about their angles, in [1e-8, pi - 1e-8]."""
    small, kind = 10 ** rng.uniform(-8, 0, count), np.arange(count) % 3
    theta = np.select([kind == 0, kind == 1], [small, PI - small], rng.uniform(1e-8, PI - 1e-8, count))
    frames = np.linalg.qr(rng.standard_normal((count, 3, 3)))[0]
    x, n = frames[:, 0], frames[:, 1]
    return x, np.cos(theta)[:, None] * x + np.sin(theta)[:, None] * n, theta


# the exact values


def exact_phi(alpha: Any, theta: Any) -> Any:
    return mp.atan2(alpha * mp.sin(theta), 1 - alpha + alpha * mp.cos(theta))


def exact_gap(alpha: Any, theta: Any) -> Any:
    return mpf(0) if alpha in (0, 0.5, 1) else alpha * theta - exact_phi(alpha, theta)


def exact_max_gap(theta: Any) -> Any:
    x = theta / 2
    q = mp.sqrt(mp.tan(x) / x - 1)
    return mp.atan(q) - x * q / mp.tan(x)


def exact_matching_alpha(fraction: Any, theta: Any) -> Any:
    return mp.sin(fraction * theta) / (mp.sin(fraction * theta) + mp.sin((1 - fraction) * theta))


def exact_cubic_gap(alpha: Any, theta: Any) -> Any:
    return alpha * (1 - alpha) * (1 - 2 * alpha) * theta**3 / 6


def exact_angle(x: Any, y: Any) -> Any:
    x, y = [mpf(float(v)) for v in x], [mpf(float(v)) for v in y]
    xx, xy = mp.fdot(x, x), mp.fdot(x, y)
    p = [b - a * xy / xx for a, b in zip(x, y, strict=True)]
    return mp.atan2(mp.sqrt(mp.fdot(p, p) * xx), xy)


def exact_slerp(x: Any, y: Any, fraction: float) -> list[Any]:
    theta, f = exact_angle(x, y), mpf(fraction)
    u, v = ([mpf(float(c)) for c in w] for w in (x, y))
    a = mp.sin((1 - f) * theta) / mp.sin(theta) / mp.sqrt(mp.fdot(u, u))
    b = mp.sin(f * theta) / mp.sin(theta) / mp.sqrt(mp.fdot(v, v))
    return [a * p + b * q for p, q in zip(u, v, strict=True)]


def exact_off_plane(x: Any, y: Any, alpha: Any) -> tuple[Any, Any]:
    """The off-plane norm, and the share of (alpha - mean) * (v - u) that is off the plane."""
    u, v, a = ([mpf(float(c)) for c in w] for w in (x, y, alpha))
    u, v = ([c / mp.sqrt(mp.fdot(w, w)) for c in w] for w in (u, v))
    n = [q - mp.fdot(u, v) * p for p, q in zip(u, v, strict=True)]
    n = [c / mp.sqrt(mp.fdot(n, n)) for c in n]

    def rest(w: Any) -> Any:
        along, across = mp.fdot(w, u), mp.fdot(w, n)
        off = [c - along * p - across * q for c, p, q in zip(w, u, n, strict=True)]
        return mp.sqrt(mp.fdot(off, off))

    chord = [q - p for p, q in zip(u, v, strict=True)]
    mean = mp.fsum(s * c * c for s, c in zip(a, chord, strict=True)) / mp.fdot(chord, chord)
    point = [p + s * c for p, s, c in zip(u, a, chord, strict=True)]
    uneven = [(s - mean) * c for s, c in zip(a, chord, strict=True)]
    off = rest(point)
    return off / mp.sqrt(mp.fdot(point, point)), off / mp.sqrt(mp.fdot(uneven, uneven))


# the other forms


def arccos_phi(alpha: Any, theta: Any) -> Any:
    c = np.cos(theta)
    norm = np.sqrt((1 - alpha) ** 2 + alpha**2 + 2 * alpha * (1 - alpha) * c)
    return np.arccos(np.clip((1 - alpha + alpha * c) / norm, -1, 1))


def atan2_phi(alpha: Any, theta: Any) -> Any:
    return np.arctan2(alpha * np.sin(theta), 1 - alpha + alpha * np.cos(theta))


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def arccos_angle(x: Any, y: Any) -> Any:
    return np.arccos(np.clip(np.vecdot(unit(x), unit(y)), -1, 1))


def arccos_slerp(x: Any, y: Any, fraction: float) -> Any:
    theta = arccos_angle(x, y)[:, None]
    weights = np.sin((1 - fraction) * theta), np.sin(fraction * theta)
    return (weights[0] * unit(x) + weights[1] * unit(y)) / np.sin(theta)


def plain_off_plane(x: Any, y: Any, alpha: Any) -> Any:
    """Normalise, step, normalise, project onto an orthonormal basis by QR: what one writes first."""
    u, v = unit(x), unit(y)
    basis = np.linalg.qr(np.stack([u, v], axis=-1))[0]
    r = unit(u + alpha * (v - u))
    return np.linalg.norm(r - np.squeeze(basis @ (basis.mT @ r[..., None]), -1), axis=-1)


# the comparison


def ulps(values: Any, exact: Sequence[Any]) -> Any:
    """Errors in ulp of the exact values; infinite where a value is not finite."""
    errors = [
        float(abs(mpf(float(v)) - e) / math.ulp(float(e))) if np.isfinite(v) else math.inf
        for v, e in zip(values, exact, strict=True)
    ]
    return np.array(errors)


def distances(values: Any, exact: Sequence[Sequence[Any]]) -> Any:
    """Distances of points from the exact ones, in units of 1e-16."""
    errors = [
        float(1e16 * mp.norm([mpf(float(a)) - b for a, b in zip(v, e, strict=True)]))
        if np.isfinite(v).all()
        else math.inf
        for v, e in zip(values, exact, strict=True)
    ]
    return np.array(errors)


def report(what: str, errors: Any, theta: Any, target: float | None = None) -> bool:
    """Print a line: the worst error for all theta, and for theta in the middle, away from 0 and pi."""
    worst, middle = errors.max(), errors[(theta > 0.5) & (theta < 2.5)].max()
    verdict = "" if target is None else f"   target {target:g}   {'ok' if worst <= target else 'MISSED'}"
    print(f"  {what:<44}{worst:10.3g}{middle:12.3g}{verdict}")
    return target is None or bool(worst <= target)


def heading(what: str) -> None:
    print(f"{what:<46}{'all theta':>10}{'0.5..2.5':>12}")


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"  {name} is not installed: skipped")
        return None


def scalar_functions(count: int) -> list[bool]:
    alpha, theta = scalars(count)
    points = [(mpf(a), mpf(t)) for a, t in zip(alpha.tolist(), theta.tolist(), strict=True)]

    def exact(function: Callable[..., Any]) -> list[Any]:
        return [function(a, t) for a, t in points]

    heading(f"retraction_angle, {len(alpha)} points, ulp")
    phi = exact(exact_phi)
    verdicts = [report("ours", ulps(retraction_angle(alpha, theta), phi), theta, 4)]
    report("atan2 form", ulps(atan2_phi(alpha, theta), phi), theta)
    report("arccos form", ulps(arccos_phi(alpha, theta), phi), theta)

    heading(f"gap, {len(alpha)} points, ulp")
    right = exact(exact_gap)
    ours = gap(alpha, theta)
    verdicts.append(report("ours", ulps(ours, right), theta, 8))
    inner = np.array([g != 0 for g in right])  # an ulp of an exact zero says nothing
    right = [g for g in right if g != 0]
    for name, form in {"atan2 form": atan2_phi, "arccos form": arccos_phi}.items():
        report(name, ulps((alpha * theta - form(alpha, theta))[inner], right), theta[inner])
    lower, upper = gap_bounds(alpha, theta)
    held = bool(((lower <= ours) & (ours <= upper)).all())
    print(f"  {'lower bound <= gap <= upper bound':<44}{'everywhere' if held else 'MISSED':>10}")

    heading("the other scalar functions, ulp")
    angles = contract(theta, alpha, 1)[:, 1]
    left = exact(lambda a, t: exact_phi(1 - a, t))
    return [
        *verdicts,
        held,
        report("cubic_gap", ulps(cubic_gap(alpha, theta), exact(exact_cubic_gap)), theta, 5),
        report("matching_alpha", ulps(matching_alpha(alpha, theta), exact(exact_matching_alpha)), theta, 4),
        report("max_gap", ulps(max_gap(theta).gap, exact(lambda _, t: exact_max_gap(t))), theta, 8),
        report("contract, one step", ulps(angles, left), theta, 4),
    ]


def angles(count: int) -> list[bool]:
    heading(f"angle, {count} pairs of 3-vectors, ulp")
    x, y, theta = vectors(count)
    right = [exact_angle(*pair) for pair in zip(x, y, strict=True)]
    verdicts = [report("ours, unit vectors", ulps(angle(x, y), right), theta, 6)]
    p, q = (10 ** rng.uniform(-3, 3, (count, 1)) * v for v in (x, y))
    stretched = [exact_angle(*pair) for pair in zip(p, q, strict=True)]
    verdicts.append(report("ours, other lengths", ulps(angle(p, q), stretched), theta, 6))
    report("numpy arccos", ulps(arccos_angle(x, y), right), theta)
    if (pymanopt := optional("pymanopt")) is not None:
        dist = pymanopt.manifolds.Sphere(3).dist
        report("pymanopt dist", ulps([dist(*pair) for pair in zip(x, y, strict=True)], right), theta)
    return verdicts


def points(count: int) -> list[bool]:
    x, y, theta = vectors(count)
    fraction = 0.3
    right = [exact_slerp(*pair, fraction) for pair in zip(x, y, strict=True)]
    scale = np.maximum(1, 1 / np.sin(theta))
    heading(f"slerp, {count} pairs, 1e-16 max(1, 1/sin theta)")

    def errors(values: Any) -> Any:
        return distances(values, right) / scale

    verdicts = [report("ours", errors(slerp(x, y, fraction)), theta, 8)]
    report("numpy, weights from arccos", errors(arccos_slerp(x, y, fraction)), theta)
    if (spatial := optional("scipy.spatial")) is not None:
        peer = [spatial.geometric_slerp(a, b, fraction) for a, b in zip(x, y, strict=True)]
        report("scipy geometric_slerp", errors(peer), theta)
    if (pymanopt := optional("pymanopt")) is not None:
        sphere = pymanopt.manifolds.Sphere(3)
        peer = [sphere.exp(a, fraction * sphere.log(a, b)) for a, b in zip(x, y, strict=True)]
        report("pymanopt exp(log)", errors(peer), theta)
    return verdicts


def off_plane(count: int) -> list[bool]:
    x, y, theta = vectors(count)
    dim = 6
    basis = np.linalg.qr(rng.standard_normal((count, dim, 3)))[0]
    x, y = (10 ** rng.uniform(-3, 3, (count, 1)) * np.squeeze(basis @ v[..., None], -1) for v in (x, y))
    mean = np.where(np.arange(count) % 2, rng.random(count), 0.5 + 10 ** rng.uniform(-9, -1, count))
    alpha = mean[:, None] + 10 ** rng.uniform(-8, 0, (count, 1)) * rng.standard_normal((count, dim))
    found = [exact_off_plane(*row) for row in zip(x, y, alpha, strict=True)]
    right = np.array([float(norm) for norm, _ in found])
    counted = (right > 1e-6) & (np.array([float(share) for _, share in found]) > 0.01)
    heading(f"off_plane_norm, {counted.sum()} of {count} pairs above 1e-6, relative error")
    verdicts = []
    for name, form, target in (("ours", off_plane_norm, 1e-12), ("numpy, by QR", plain_off_plane, None)):
        values = form(x, y, alpha)
        errors = np.array(
            [abs(float((mpf(float(v)) - r) / r)) for v, (r, _) in zip(values, found, strict=True)]
        )
        verdicts.append(report(name, errors[counted], theta[counted], target))
    heading("off_plane_norm of a scalar alpha, absolute")
    scalar = np.where(np.abs(mean - 0.5) < 0.1, 0.3, mean)[:, None]
    verdicts.append(report("ours", off_plane_norm(x, y, scalar), theta, 1e-14))
    report("numpy, by QR", plain_off_plane(x, y, scalar), theta)
    return verdicts


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    start = time.perf_counter()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers
        verdicts = [
            *scalar_functions(count),
            *angles(count // 5),
            *points(count // 10),
            *off_plane(count // 10),
        ]
    print(f"{time.perf_counter() - start:.0f} s")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
