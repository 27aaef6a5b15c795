"""Make the stored results of the chapter "SPEL at work".

    python notebooks/data/spel_at_work.py

Four parts, each with a file of its own; --part makes some of them:

pca      The leading subspace of a symmetric matrix: four methods, three spectra, in float64.
network  A network with orthogonal layers that predicts the next byte of a text: six methods, two depths.
drift    How far weights are from the manifold in 1,000 steps along random gradients.
times    Processor times of a step, over SPEL's, the methods in turns.

In the first two every method is tried with as many settings as the others, on the same seeds; the one with
the best median is run again on other seeds. The text is the one of train_ngpt.py, and differs between Python
versions. On one machine, with the same versions, all numbers come out the same again, except the times. A
part that was interrupted resumes.

Needs torch, safetensors and rich (pip install -e ".[notebooks,torch]"). On two free cores, side by side, pca
takes about twenty minutes and network half an hour; drift takes seconds, and times, which wants the machine
for itself, a few minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from ngeodesic import optim
from ngeodesic.optim import Spel
from ngeodesic.polar import newton_schulz
from ngeodesic.stiefel import gram_defect, project_tangent, random_point, retract, sigma
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, rms_norm
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from train_ngpt import BYTES, about_text, corpus, numbers, recurring, split, windows, write

HERE = Path(__file__).parent
SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1 - done,
    "to 1e-4": lambda done: 1e-4**done,
    "to 1e-6": lambda done: 1e-6**done,
    "to 1e-8": lambda done: 1e-8**done,
    "to 1e-10": lambda done: 1e-10**done,
}
"""The share of the learning rate that is left after a share of the training; "to" is geometric."""
SPECTRA: dict[str, Callable[[int, int], np.ndarray]] = {
    "gap": lambda m, n: np.concatenate([np.linspace(1, 0.6, n), np.linspace(0.4, 0, m - n)]),
    "power": lambda m, n: 1 / np.arange(1, m + 1),
    "shifted": lambda m, n: 1 / np.arange(1, m + 1) - 2,
}
"""The eigenvalues of A, decreasing. On the manifold the last one is the problem of the one before."""
METHODS = ("spel", "muon", "published", "riemannian")
SOLVED = 1e-13  # a gap to the optimum below this is rounding
AS_GOOD = 1.01  # gaps within this factor of the least count as equal, and the lowest rate is taken


@dataclass(frozen=True)
class Preset:
    """The sizes of the parts."""

    learning_rates: tuple[float, ...]
    momenta: tuple[float, ...]
    tuning_seeds: tuple[int, ...]
    seeds: tuple[int, ...]
    shape: tuple[int, int]
    pca_steps: int
    depths: tuple[int, ...]  # numbers of residual blocks
    width: int
    coarse: tuple[int, ...]  # k of the learning rates 10^(k/6) that are tried first, on one seed
    reach: int  # and how many on either side of the best of them then, on all
    network_tuning_seeds: tuple[int, ...]
    network_seeds: tuple[int, ...]
    network_steps: int
    drift_shapes: tuple[tuple[int, int], ...]
    drift_steps: int
    timed_shapes: tuple[tuple[int, int], ...]
    timed_steps: int
    turns: int


PRESETS = {
    "book": Preset(
        learning_rates=tuple(10 ** (k / 2) for k in range(-5, 10)),
        momenta=(0.0, 0.9),
        tuning_seeds=(0, 1, 2),
        seeds=(9, 10, 11, 12, 13, 14),
        shape=(128, 16),
        pca_steps=240,
        depths=(1, 2),
        width=96,
        coarse=tuple(range(-18, 7, 3)),
        reach=3,
        network_tuning_seeds=(0, 1, 2),
        network_seeds=(3, 4, 5, 6, 7, 8, 9, 10),
        network_steps=400,
        drift_shapes=((256, 64), (64, 256), (128, 128)),
        drift_steps=1000,
        timed_shapes=((128, 16), (384, 96), (96, 384), (512, 512), (1024, 256)),
        timed_steps=10,
        turns=31,
    ),
    "test": Preset(
        learning_rates=(0.1, 1.0),
        momenta=(0.0,),
        tuning_seeds=(0,),
        seeds=(1,),
        shape=(24, 4),
        pca_steps=40,
        depths=(1,),
        width=16,
        coarse=(-10, -6),
        reach=1,
        network_tuning_seeds=(0,),
        network_seeds=(1,),
        network_steps=40,
        drift_shapes=((24, 8), (8, 24), (16, 16)),
        drift_steps=30,
        timed_shapes=((24, 8),),
        timed_steps=2,
        turns=3,
    ),
}


# --- the methods ---


class Unprojected(Spel):
    """Muon with an exact retraction: `Spel`'s own step in which the momentum M stands in place of P(M), so
    that the projection is all that differs, in time too."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        projection = optim.tangent_part
        optim.tangent_part = lambda xp, W, M, radius: M.clone()
        try:
            return super().step(closure)
        finally:
            optim.tangent_part = projection


class Plain(Optimizer):
    """Two other methods, with the momentum of `Spel`.

    "riemannian": gradient descent along the projected momentum, and the exact retraction. "published": the
    formula of Emerging-Optimizers' Spel, without projection, in which both msign are Newton-Schulz from
    X / |X|_F, its default of five quintic steps if no other is given.
    """

    def __init__(self, params: Any, lr: float, momentum: float, form: str, **newton: Any) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "form": form})
        self.newton = {"steps": 5, "coefficients": "tuned_quintic"} | newton

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                buffer = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buffer.lerp_(p.grad, 1 - group["momentum"])
                p.copy_(self.moved(p.detach(), buffer, group["lr"], group["form"]))

    def moved(self, W: Tensor, M: Tensor, lr: float, form: str) -> Tensor:
        if form == "riemannian":
            return retract(W, -lr * project_tangent(W, M))
        return newton_schulz(W - lr * newton_schulz(M, **self.newton), **self.newton)


def optimizer(method: str, params: list[nn.Parameter], lr: float, momentum: float) -> Optimizer:
    """The optimizer of a method. "unmatched": SPEL with the learning rate lr / sigma for each matrix, sigma
    that of "unit_rms_to_rms_norm": it turns as one learning rate would turn the matrices in that scale mode.
    """
    if method == "adamw":
        return AdamW(params, lr=lr, betas=(momentum, 0.95), weight_decay=0.0)
    if method in ("riemannian", "published"):
        return Plain(params, lr, momentum, method)
    options = {"lr": lr, "momentum": momentum, "weight_decay": 0.0}
    if method == "unmatched":
        groups = [{"params": [W], "lr": lr / sigma(W.shape, "unit_rms_to_rms_norm")} for W in params]
        return Spel(groups, **options)
    return (Unprojected if method == "muon" else Spel)(params, **options)


def attempt(run: Callable[[], Any], failed: Any) -> Any:
    """The result of a run; `failed` if a step has no result, as with far too large a learning rate."""
    try:
        return run()
    except ValueError:
        return failed


def point(shape: tuple[int, int], seed: int) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(random_point(shape, seed=seed)))


def looks(steps: int, every: int) -> list[int]:
    """The numbers of finished steps at which a run is looked at."""
    return list(range(0, steps + 1, every))


# --- the leading subspace ---


@dataclass(frozen=True)
class Setting:
    """What is tuned."""

    lr: float
    schedule: str
    momentum: float


def settings(preset: Preset) -> list[Setting]:
    return [Setting(*values) for values in product(preset.learning_rates, SCHEDULES, preset.momenta)]


def descend(
    preset: Preset, spectrum: str, method: str, setting: Setting, seed: int, every: int
) -> Iterator[tuple[float, float, float, float]]:
    """Minimise -tr(W^T A W)/2 for diagonal A; every so often yield four numbers.

    The loss gap, 0 at the leading subspace and 1 at the trailing one, at the nearest point of the manifold;
    the same at the weight as it is; the sine of the largest principal angle between its column space and
    the leading subspace; its Gram defect.
    """
    m, n = preset.shape
    values = torch.from_numpy(SPECTRA[spectrum](m, n))
    best, worst = values[:n].sum(), values[-n:].sum()
    W = point(preset.shape, seed)
    steps = optimizer(method, [W], setting.lr, setting.momentum)
    for done in range(preset.pca_steps + 1):
        if done % every == 0:
            raw = W.detach()
            near = retract(raw, 0)
            gaps = [(best - (values[:, None] * X**2).sum()) / (best - worst) for X in (near, raw)]
            error = torch.linalg.matrix_norm(near[n:], 2)
            yield float(gaps[0]), float(gaps[1]), float(error), float(gram_defect(raw))
        if done < preset.pca_steps:
            steps.param_groups[0]["lr"] = setting.lr * SCHEDULES[setting.schedule](done / preset.pca_steps)
            W.grad = -values[:, None] * W.detach()
            steps.step()


def looked_at_every(preset: Preset) -> int:
    return max(preset.pca_steps // 60, 1)


def score(preset: Preset, spectrum: str, method: str, setting: Setting, seed: int) -> tuple[float, int]:
    """What makes a run the better one: its final gap, or, where that is rounding, how soon it was."""
    run = descend(preset, spectrum, method, setting, seed, 2 * looked_at_every(preset))
    gaps = attempt(lambda: [gap for gap, *_ in run], [np.inf])
    return float(np.nan_to_num(max(gaps[-1], SOLVED), nan=np.inf)), sum(gap > SOLVED for gap in gaps)


def best(gaps: np.ndarray, soon: np.ndarray, allowed: np.ndarray) -> int:
    """The index of the best setting, of scores of shape (seeds, settings).

    That with the least median gap. Of those that are as good the one with the least gap on its worst seed, of
    these the soonest, by the median, and of these that with the lowest rate.
    """
    for gap in (np.median(gaps, axis=0), gaps.max(axis=0)):
        allowed = allowed & (gap <= AS_GOOD * gap[allowed].min())
    return min(np.flatnonzero(allowed), key=lambda i: np.median(soon[:, i]))


def pca(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    choices, cases, limits = settings(preset), list(product(SPECTRA, METHODS)), ("any", "constant")
    scores = [
        [
            kept.run(
                f"tune {case} {seed}",
                lambda case=case, seed=seed: [score(preset, *case, s, seed) for s in choices],
            )
            for seed in preset.tuning_seeds
        ]
        for case in cases
    ]
    gaps, soon = np.moveaxis(np.array(scores), -1, 0)  # axes: case, seed, setting
    constant = np.array([s.schedule == "constant" for s in choices])
    chosen = [
        best(*tried, constant | (limit == "any"))
        for tried in zip(gaps, soon, strict=True)
        for limit in limits
    ]
    curves = [
        kept.run(
            f"run {case} {limit} {seed}",
            lambda case=case, index=index, seed=seed: list(
                descend(preset, *case, choices[index], seed, looked_at_every(preset))
            ),
        )
        for (case, limit), index in zip(product(cases, limits), chosen, strict=True)
        for seed in preset.seeds
    ]
    # axes: spectrum, method, limit, seed, look; then gap, gap as it is, error, defect
    shape = (len(SPECTRA), len(METHODS), len(limits))
    seen = np.float32(np.reshape(curves, (*shape, len(preset.seeds), -1, 4)))
    grid = (len(preset.learning_rates), len(SCHEDULES), len(preset.momenta))
    tuning = (*shape[:2], len(preset.tuning_seeds), *grid)
    return {
        "looks": np.array(looks(preset.pca_steps, looked_at_every(preset)), dtype=np.int32),
        "learning_rates": np.array(preset.learning_rates),
        "momenta": np.array(preset.momenta),
        "tuning.gap": np.reshape(gaps, tuning),
        "tuning.soon": np.int32(np.reshape(soon, tuning)),
        "chosen": np.int32(np.stack(np.unravel_index(chosen, grid), axis=-1).reshape(*shape, 3)),
        "gap": seen[..., 0],
        "gap_as_it_is": seen[..., 1],
        "error": seen[..., 2],
        "defect": seen[..., 3],
    }


# --- the network ---

CONTEXT, EMBEDDING = 16, 16  # bytes that are read, numbers that stand for one of them
BATCH, HELD_OUT = 128, 4096
OTHERS_RATE = 3e-3  # of AdamW for what is no matrix of a layer, whatever the method
NETWORK_METHODS = (*METHODS, "adamw", "unmatched")
NETWORK_MOMENTUM = 0.9


class Network(nn.Module):
    """The next byte from the last ones: a residual network whose matrices start orthonormal."""

    def __init__(self, width: int, depth: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        shapes = [(width, CONTEXT * EMBEDDING), *[(4 * width, width), (width, 4 * width)] * depth]
        self.embedding = nn.Parameter(torch.randn(BYTES, EMBEDDING, generator=generator))
        self.head = nn.Parameter(torch.randn(BYTES, width, generator=generator) / width**0.5)
        self.matrices = nn.ParameterList(
            point(shape, 100 * seed + i).float() for i, shape in enumerate(shapes)
        )
        self.gains = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in shapes)

    def others(self) -> list[nn.Parameter]:
        return [self.embedding, self.head, *self.gains]

    def forward(self, text: Tensor) -> Tensor:
        first, *rest = self.matrices
        h = self.embedding[text].flatten(1) @ first.T
        width = h.shape[1:]
        for i in range(0, len(rest), 2):
            u = gelu(2 * rms_norm(h, width) * self.gains[i] @ rest[i].T)
            h = h + self.gains[i + 1] * (u @ rest[i + 1].T)
        return rms_norm(h, width) * self.gains[-1] @ self.head.T

    def loss(self, text: Tensor) -> Tensor:
        """Mean cross entropy, in nats per byte, of the last byte of each window."""
        return cross_entropy(self(text[:, :-1]), text[:, -1])


@cache
def texts() -> tuple[Tensor, Tensor]:
    """The bytes to train on, and held-out windows of which no byte lies in a passage that recurs."""
    text, held_out = split(corpus())
    again = np.convolve(recurring(text, held_out), np.ones(CONTEXT + 1), "valid") > 0.5
    starts = np.flatnonzero(~again)
    starts = starts[np.linspace(0, len(starts) - 1, HELD_OUT).astype(int)]
    return numbers(text), windows(numbers(held_out), starts, CONTEXT + 1)


def train(
    preset: Preset, depth: int, method: str, lr: float, seed: int, look_at: list[int]
) -> dict[str, Any]:
    """Train a network, the learning rates falling linearly to 0, and return what was seen of it.

    The held-out loss and, in the step that follows, the angle by which each matrix turns: that whose cosine
    is <W, W_+> / (|W| |W_+|), the mean cosine over all vectors of the small side.
    """
    text, tested = texts()
    network = Network(preset.width, depth, seed)
    matrices, losses, turns, rates, seconds = list(network.matrices), [], [], [], 0.0
    steps = optimizer(method, matrices, lr, NETWORK_MOMENTUM)
    others = optimizer("adamw", network.others(), OTHERS_RATE, NETWORK_MOMENTUM)
    schedules = [LambdaLR(o, lambda done: 1 - done / preset.network_steps) for o in (steps, others)]
    for done in range(preset.network_steps + 1):
        if done in look_at:
            with torch.no_grad():
                losses.append(float(network.loss(tested)))
            before = [W.detach().clone() for W in matrices]
        if done == preset.network_steps:
            break
        start = time.process_time()
        places = np.random.default_rng([seed, done]).integers(len(text) - CONTEXT, size=BATCH)
        network.zero_grad()
        network.loss(windows(text, places, CONTEXT + 1)).backward()
        steps.step()
        others.step()
        seconds += time.process_time() - start
        for schedule in schedules:
            schedule.step()
        if done in look_at:
            turns.append([turn(W, now) for W, now in zip(before, matrices, strict=True)])
            rates.append(lr * (1 - done / preset.network_steps))
    defects = [float(gram_defect(W.detach().double())) for W in matrices]
    return {"loss": losses, "turn": turns, "rate": rates, "defect": defects, "seconds": seconds}


def turn(W: Tensor, after: Tensor) -> float:
    W, after = W.double(), after.detach().double()
    W, after = W / W.norm(), after / after.norm()
    return 2 * float(torch.atan2((W - after).norm(), (W + after).norm()))


@dataclass(frozen=True)
class Tuned:
    """The learning rates 10^(k/6) that were tried for a method, and the losses they led to."""

    coarse: list[float]
    exponents: range
    losses: list[list[float]]  # by rate, by seed
    chosen: int  # the index of the best one


def tune(preset: Preset, depth: int, method: str, kept: Kept) -> Tuned:
    """Try the coarse grid on one seed, then the rates near the best one on all, until it is inside these."""

    def loss(k: int, seed: int) -> float:
        def final() -> float:
            run = train(preset, depth, method, 10 ** (k / 6), seed, [preset.network_steps])
            return float(np.nan_to_num(run["loss"][-1], nan=np.inf))

        return float(kept.run(f"tune {depth} {method} {k} {seed}", lambda: attempt(final, np.inf)))

    first, reach = preset.network_tuning_seeds[0], preset.reach
    coarse = [loss(k, first) for k in preset.coarse]
    centre = preset.coarse[int(np.argmin(coarse))]
    while True:
        near = range(centre - reach, centre + reach + 1)
        losses = [[loss(k, seed) for seed in preset.network_tuning_seeds] for k in near]
        chosen = int(np.argmin(np.median(losses, axis=1)))
        if 0 < chosen < len(near) - 1:
            return Tuned(coarse, near, losses, chosen)
        centre = near[chosen]


def network(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    look_at = looks(preset.network_steps, preset.network_steps // 10)
    methods = NETWORK_METHODS
    cases = list(product(preset.depths, methods))
    tuned = [tune(preset, *case, kept) for case in cases]
    rates = [[10 ** (k / 6) for k in one.exponents] for one in tuned]
    runs = {
        (*case, seed): kept.run(
            f"run {case} {seed}",
            lambda case=case, lr=near[one.chosen], seed=seed: train(preset, *case, lr, seed, look_at),
        )
        for case, one, near in zip(cases, tuned, rates, strict=True)
        for seed in preset.network_seeds
    }
    shape = (len(preset.depths), len(methods))
    result = {
        f"depth-{depth}.{name}": np.array(
            [[runs[depth, method, seed][name] for seed in preset.network_seeds] for method in methods],
            dtype=np.float32,
        )
        for depth in preset.depths
        for name in ("loss", "turn", "rate", "defect")
    }
    return result | {
        "looks": np.array(look_at, dtype=np.int32),
        "coarse.rates": 10 ** (np.array(preset.coarse) / 6),
        "coarse.loss": np.float32([one.coarse for one in tuned]).reshape(*shape, -1),
        "tuning.rates": np.reshape(rates, (*shape, -1)),
        "tuning.loss": np.float32([one.losses for one in tuned]).reshape(
            *shape, -1, len(preset.network_tuning_seeds)
        ),
        "chosen": np.int32([one.chosen for one in tuned]).reshape(shape),
    }


# --- the way from the manifold ---

DRIFT_RATE, DRIFT_MOMENTUM = 0.02, 0.95
DRIFTERS: dict[str, Callable[[list[nn.Parameter]], Optimizer]] = {
    **dict.fromkeys(
        ("spel float64", "spel float32", "spel bfloat16"),
        lambda params: optimizer("spel", params, DRIFT_RATE, DRIFT_MOMENTUM),
    ),
    "published quintic": lambda params: optimizer("published", params, DRIFT_RATE, DRIFT_MOMENTUM),
    "published polar_express": lambda params: Plain(
        params, DRIFT_RATE, DRIFT_MOMENTUM, "published", steps=8, coefficients="polar_express"
    ),
}


def drift(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    moments = np.unique(np.geomspace(1, preset.drift_steps, 31).astype(int))
    defects = [
        kept.run(
            f"drift {name} {shape}",
            lambda name=name, shape=shape: wander(name, shape, moments, preset.drift_steps),
        )
        for name in DRIFTERS
        for shape in preset.drift_shapes
    ]
    return {
        "looks": moments.astype(np.int32),
        "defect": np.reshape(np.float32(defects), (len(DRIFTERS), len(preset.drift_shapes), -1)),
    }


def wander(name: str, shape: tuple[int, int], moments: np.ndarray, steps: int) -> list[float]:
    """Take steps along random gradients and return the Gram defects, in float64, after some of them."""
    dtype = getattr(torch, name.split()[1]) if name.startswith("spel") else torch.float32
    generator = torch.Generator().manual_seed(0)
    W, found = nn.Parameter(point(shape, 0).to(dtype)), []
    optimiser = DRIFTERS[name]([W])
    for done in range(1, steps + 1):
        W.grad = torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
        optimiser.step()
        if done in moments:
            found.append(float(gram_defect(W.detach().double())))
    return found


# --- times ---

TIMED = (*METHODS, "adamw")


def times(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    """Processor times over SPEL's in the same turn: of steps on single matrices, of training the network.

    Steps along the same random gradients, of a spectral norm of about 1: the shape of pca in float64, as
    there, all else in float32.
    """
    short = replace(preset, network_steps=preset.timed_steps)
    depth = preset.depths[-1]
    tasks: list[Callable[[str], float]] = [
        *(lambda method, shape=shape: step_time(preset, method, shape) for shape in preset.timed_shapes),
        lambda method: float(train(short, depth, method, DRIFT_RATE, 0, [])["seconds"]),
    ]
    seconds = [
        kept.run(f"turn {turn}", lambda: [[task(method) for method in TIMED] for task in tasks])
        for turn in range(preset.turns)
    ]
    measured = np.array(seconds)  # axes: turn, task, method
    return {"ratio": np.float32(measured / measured[..., :1])}


def step_time(preset: Preset, method: str, shape: tuple[int, int]) -> float:
    dtype = torch.float64 if shape == preset.shape else torch.float32
    generator, W = torch.Generator().manual_seed(0), nn.Parameter(point(shape, 0).to(dtype))
    size = shape[0] ** 0.5 + shape[1] ** 0.5
    grads = [torch.randn(shape, generator=generator, dtype=dtype) / size for _ in range(preset.timed_steps)]
    steps = optimizer(method, [W], DRIFT_RATE, DRIFT_MOMENTUM)
    start = time.process_time()
    for grad in grads:
        W.grad = grad
        steps.step()
    return time.process_time() - start


# --- keeping and writing ---


class Kept:
    """The results of finished runs, kept in a file so that a part can resume."""

    def __init__(self, path: Path, about: dict[str, str], tick: Callable[[str], None]) -> None:
        self.path, self.about, self.tick, self.results = path, about, tick, {}
        if path.exists():
            stored = json.loads(path.read_text())
            if stored["about"] != about:
                raise SystemExit(f"{path} belongs to another run: finish that one, or delete the file")
            self.results = stored["results"]

    def run(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of this name, computed now or before."""
        if name not in self.results:
            self.results[name] = compute()
            text = json.dumps({"about": self.about, "results": self.results})
            partial = self.path.with_suffix(".partial")
            partial.write_text(text)
            os.replace(partial, self.path)
        self.tick(name)
        return self.results[name]


PARTS: dict[str, Callable[[Preset, Kept], dict[str, np.ndarray]]] = {
    "pca": pca,
    "network": network,
    "drift": drift,
    "times": times,
}


def runs_of(part: str, preset: Preset) -> int:
    """How many results are kept of a part, or about so many."""
    if part == "pca":
        return len(SPECTRA) * len(METHODS) * (len(preset.tuning_seeds) + 2 * len(preset.seeds))
    if part == "network":
        near = (2 * preset.reach + 1) * len(preset.network_tuning_seeds)
        each = len(preset.coarse) + near + len(preset.network_seeds)
        return len(preset.depths) * len(NETWORK_METHODS) * each
    return preset.turns if part == "times" else len(DRIFTERS) * len(preset.drift_shapes)


def provenance(part: str, name: str) -> dict[str, str]:
    """What one must know to make a file again, as the metadata that it carries."""
    axes = {
        "pca": {"spectra": list(SPECTRA), "methods": METHODS, "schedules": list(SCHEDULES)},
        "network": {"methods": NETWORK_METHODS},
        "drift": {"methods": list(DRIFTERS)},
        "times": {"methods": TIMED},
    }
    return {
        "command": f"python notebooks/data/spel_at_work.py --preset {name} --part {part}",
        "preset": json.dumps(asdict(PRESETS[name])),
        "axes": json.dumps(axes[part]),
        **(about_text(corpus()) if part in ("network", "times") else {}),
        "threads": str(torch.get_num_threads()),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
        "machine": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
    }


def make(part: str, name: str, out: Path, progress: Progress) -> None:
    """Make the file of a part, or say that it is there already."""
    about, path = provenance(part, name), out / f"{part}.safetensors"
    if path.exists():
        with safetensors.safe_open(path, "numpy") as file:
            if file.metadata() == about:
                progress.console.print(f"{part}: finished before, in {path}", soft_wrap=True)
                return
    task = progress.add_task(part, total=runs_of(part, PRESETS[name]))
    kept = Kept(out / f"{part}.unfinished.json", about, lambda _: progress.advance(task))
    arrays = PARTS[part](PRESETS[name], kept)
    write({key: torch.from_numpy(np.ascontiguousarray(a)) for key, a in arrays.items()}, path, about)
    kept.path.unlink(missing_ok=True)
    progress.console.print(f"{part}: written to {path}", soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", choices=PRESETS, default="book", help="size (default: %(default)s)")
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS), help="default: all")
    parser.add_argument("--out", type=Path, default=HERE / "spel", help="default: spel beside this script")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        for part in options.part:
            try:
                make(part, options.preset, options.out, progress)
            except KeyboardInterrupt:
                progress.console.print(f"{part}: interrupted; the same command resumes")
                return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
