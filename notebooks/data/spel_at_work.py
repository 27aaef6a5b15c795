"""Make the stored results of the chapter "SPEL at work".

    python notebooks/data/spel_at_work.py

Three parts, each with a file of its own; --part makes one of them:

pca      The leading subspace of a symmetric matrix: four methods, three spectra, in float64.
network  A network with orthogonal layers that predicts the next byte of a text: five methods, two depths.
drift    How far weights are from the manifold in 1,000 steps along random gradients.

In the first two every method is tried with the same grid of settings on one seed; the best one is run again
on other seeds, and these runs are what is stored. The text is the one of train_ngpt.py, and differs between
Python versions. On one machine, with the same versions, all numbers come out the same again, except the
times. A part that was interrupted resumes after its last finished run.

Needs torch, safetensors and rich (pip install -e ".[notebooks,torch]"). On two free cores, side by
side, pca takes about six minutes and network a quarter of an hour; drift takes seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from ngeodesic.optim import Spel
from ngeodesic.polar import newton_schulz
from ngeodesic.stiefel import gram_defect, project_tangent, random_point, retract
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, rms_norm
from torch.optim import AdamW, Optimizer

from train_ngpt import BYTES, about_text, corpus, numbers, split, windows, write

HERE = Path(__file__).parent
SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1 - done,
    "geometric": lambda done: 1e-6**done,
}
"""The share of the learning rate that is left after a share of the training."""
SPECTRA: dict[str, Callable[[int, int], np.ndarray]] = {
    "gap": lambda m, n: np.concatenate([np.linspace(1, 0.6, n), np.linspace(0.4, 0, m - n)]),
    "power": lambda m, n: 1 / np.arange(1, m + 1),
    "shifted": lambda m, n: 1 / np.arange(1, m + 1) - 2,
}
"""The eigenvalues of A, decreasing. On the manifold the last one is the problem of the one before."""
METHODS = ("spel", "muon", "published", "riemannian")
SOLVED = 1e-13  # a gap to the optimum below this is rounding
TIMINGS = 5  # how often the runs that are timed are repeated


@dataclass(frozen=True)
class Preset:
    """The sizes of the three parts."""

    learning_rates: tuple[float, ...]
    momenta: tuple[float, ...]
    seeds: tuple[int, ...]  # the first one for tuning
    shape: tuple[int, int]
    pca_steps: int
    depths: tuple[int, ...]  # numbers of residual blocks
    width: int
    network_rates: tuple[float, ...]
    network_seeds: tuple[int, ...]
    network_steps: int
    drift_shapes: tuple[tuple[int, int], ...]
    drift_steps: int


PRESETS = {
    "book": Preset(
        learning_rates=tuple(10 ** (k / 2) for k in range(-4, 7)),
        momenta=(0.0, 0.9),
        seeds=(0, 1, 2, 3, 4, 5),
        shape=(256, 32),
        pca_steps=300,
        depths=(1, 2),
        width=96,
        network_rates=tuple(10 ** (k / 3) for k in range(-8, 3)),
        network_seeds=(0, 1, 2, 3),
        network_steps=400,
        drift_shapes=((256, 64), (64, 256), (128, 128)),
        drift_steps=1000,
    ),
    "test": Preset(
        learning_rates=(0.1, 1.0),
        momenta=(0.0,),
        seeds=(0, 1),
        shape=(24, 4),
        pca_steps=40,
        depths=(1,),
        width=16,
        network_rates=(0.02, 0.1),
        network_seeds=(0, 1),
        network_steps=40,
        drift_shapes=((24, 8), (8, 24), (16, 16)),
        drift_steps=30,
    ),
}


# --- the methods ---


class Retracted(Optimizer):
    """Three other methods for matrices with orthonormal columns or rows, with the momentum of `Spel`.

    "muon": along the polar factor of the momentum as it is, without a projection, and back by the exact
    retraction. "published": the formula of Emerging-Optimizers' Spel, in which both msign are Newton-Schulz
    from X / |X|_F. "riemannian": gradient descent along the projected momentum, and the exact retraction.
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
        if form == "muon":
            return retract(W, -lr * newton_schulz(M, steps=8, coefficients="polar_express"))
        if form == "riemannian":
            return retract(W, -lr * project_tangent(W, M))
        return newton_schulz(W - lr * newton_schulz(M, **self.newton), **self.newton)


def optimizer(method: str, params: Any, lr: float, momentum: float) -> Optimizer:
    if method == "spel":
        return Spel(params, lr=lr, momentum=momentum, weight_decay=0.0)
    if method == "adamw":
        return AdamW(params, lr=lr, betas=(momentum, 0.95), weight_decay=0.0)
    return Retracted(params, lr, momentum, method)


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
) -> Iterator[tuple[float, float, float]]:
    """Minimise -tr(W^T A W)/2 for diagonal A; every so often yield loss gap, subspace error, Gram defect.

    The gap is 0 at the leading subspace and 1 at the trailing one; the error is the sine of the largest
    principal angle to the leading one. They are those of the nearest point of the manifold. With every = 0
    nothing is looked at.
    """
    m, n = preset.shape
    values = torch.from_numpy(SPECTRA[spectrum](m, n))
    best, worst = values[:n].sum(), values[-n:].sum()
    W = point(preset.shape, seed)
    steps = optimizer(method, [W], setting.lr, setting.momentum)
    for done in range(preset.pca_steps + 1):
        if every and done % every == 0:
            near = retract(W.detach(), 0)
            gap = (best - (values[:, None] * near**2).sum()) / (best - worst)
            error = torch.linalg.matrix_norm(near[n:], 2)
            yield float(gap), float(error), float(gram_defect(W.detach()))
        if done < preset.pca_steps:
            steps.param_groups[0]["lr"] = setting.lr * SCHEDULES[setting.schedule](done / preset.pca_steps)
            W.grad = -values[:, None] * W.detach()
            steps.step()


def rank(gaps: list[float]) -> tuple[float, int]:
    """What makes a run the better one: its final gap, or, where that is rounding, how soon it was."""
    return max(gaps[-1], SOLVED), sum(gap > SOLVED for gap in gaps)


def pca(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    every, choices = max(preset.pca_steps // 60, 1), settings(preset)
    cases = list(product(SPECTRA, METHODS))
    tried = {}
    for case in cases:
        for setting in choices:
            curve = kept.run(
                f"tune {case} {setting}",
                lambda case=case, setting=setting: attempt(
                    lambda: [x[0] for x in descend(preset, *case, setting, preset.seeds[0], 2 * every)],
                    [np.inf],
                ),
            )
            tried[case, setting] = rank(curve)
    chosen = {
        (*case, limit): min(
            (s for s in choices if limit in ("any", s.schedule)), key=lambda s, case=case: tried[case, s]
        )
        for case in cases
        for limit in ("any", "constant")
    }
    curves = [
        kept.run(
            f"run {case} {seed}",
            lambda case=case, setting=setting, seed=seed: list(
                descend(preset, case[0], case[1], setting, seed, every)
            ),
        )
        for case, setting in chosen.items()
        for seed in preset.seeds[1:]
    ]
    # axes: spectrum, method, limit, seed, look, then gap, error, defect
    shape = (len(SPECTRA), len(METHODS), 2, len(preset.seeds) - 1, -1, 3)
    curves_array = np.reshape(np.array(curves), shape)
    grid = (len(SPECTRA), len(METHODS), len(preset.learning_rates), len(SCHEDULES), len(preset.momenta))
    index = [
        (
            preset.learning_rates.index(s.lr),
            list(SCHEDULES).index(s.schedule),
            preset.momenta.index(s.momentum),
        )
        for s in chosen.values()
    ]
    return {
        "looks": np.array(looks(preset.pca_steps, every), dtype=np.int32),
        "learning_rates": np.array(preset.learning_rates),
        "momenta": np.array(preset.momenta),
        "tuning.gap": np.reshape([tried[case, s][0] for case in cases for s in choices], grid),
        "chosen": np.reshape(np.array(index, dtype=np.int32), (len(SPECTRA), len(METHODS), 2, 3)),
        "gap": np.float32(curves_array[..., 0]),
        "error": np.float32(curves_array[..., 1]),
        "defect": np.float32(curves_array[..., 2]),
        "time": np.float32(times(preset, chosen)),
    }


def times(preset: Preset, chosen: dict[tuple[str, str, str], Setting]) -> np.ndarray:
    """The processor time of a tuned run over SPEL's: the runs in turn, several times, of each the fastest."""
    seconds = np.full((TIMINGS, len(SPECTRA), len(METHODS)), np.inf)
    for again, (i, spectrum), (j, method) in product(range(TIMINGS), enumerate(SPECTRA), enumerate(METHODS)):
        start = time.process_time()
        list(descend(preset, spectrum, method, chosen[spectrum, method, "any"], preset.seeds[0], 0))
        seconds[again, i, j] = time.process_time() - start
    fastest = seconds.min(axis=0)
    return fastest / fastest[:, :1]


# --- the network ---

CONTEXT, EMBEDDING = 16, 16  # bytes that are read, numbers that stand for one of them
BATCH, HELD_OUT = 128, 4096
OTHERS_RATE = 3e-3  # of AdamW for what is no matrix of a layer, whatever the method
NETWORK_METHODS = (*METHODS, "adamw")
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


def train(
    preset: Preset, depth: int, method: str, lr: float, seed: int, look_at: list[int]
) -> dict[str, Any]:
    """Train a network, the learning rates falling linearly to 0, and return what was seen of it.

    The held-out loss and, in the step that follows, the angle by which each matrix turns: that whose cosine
    is <W, W_+> / (|W| |W_+|), the mean cosine over all vectors of the small side.
    """
    text, held_out = map(numbers, split(corpus()))
    starts = np.linspace(0, len(held_out) - CONTEXT - 1, HELD_OUT).astype(int)
    tested = windows(held_out, starts, CONTEXT + 1)
    network = Network(preset.width, depth, seed)
    matrices, losses, turns, rates, seconds = list(network.matrices), [], [], [], 0.0
    steps = optimizer(method, matrices, lr, NETWORK_MOMENTUM)
    others = AdamW(network.others(), lr=OTHERS_RATE, betas=(NETWORK_MOMENTUM, 0.95), weight_decay=0.0)
    for done in range(preset.network_steps + 1):
        if done in look_at:
            with torch.no_grad():
                losses.append(float(network.loss(tested)))
            before = [W.detach().clone() for W in matrices]
        if done == preset.network_steps:
            break
        start = time.process_time()
        left = 1 - done / preset.network_steps
        steps.param_groups[0]["lr"], others.param_groups[0]["lr"] = lr * left, OTHERS_RATE * left
        places = np.random.default_rng([seed, done]).integers(len(text) - CONTEXT, size=BATCH)
        network.zero_grad()
        network.loss(windows(text, places, CONTEXT + 1)).backward()
        steps.step()
        others.step()
        seconds += time.process_time() - start
        if done in look_at:
            turns.append([turn(W, now) for W, now in zip(before, matrices, strict=True)])
            rates.append(lr * left)
    defects = [float(gram_defect(W.detach().double())) for W in matrices]
    return {"loss": losses, "turn": turns, "rate": rates, "defect": defects, "seconds": seconds}


def turn(W: Tensor, after: Tensor) -> float:
    W, after = W.double(), after.detach().double()
    W, after = W / W.norm(), after / after.norm()
    return 2 * float(torch.atan2((W - after).norm(), (W + after).norm()))


def network(preset: Preset, kept: Kept) -> dict[str, np.ndarray]:
    look_at, result = looks(preset.network_steps, preset.network_steps // 10), {}
    cases = list(product(preset.depths, NETWORK_METHODS))
    grid = [
        kept.run(
            f"tune {case} {lr:.6g}",
            lambda case=case, lr=lr: attempt(
                lambda: train(preset, *case, lr, preset.network_seeds[0], [preset.network_steps])["loss"][-1],
                np.inf,
            ),
        )
        for case in cases
        for lr in preset.network_rates
    ]
    tuned = np.reshape(np.nan_to_num(np.array(grid), nan=np.inf), (len(cases), -1))
    best = tuned.argmin(axis=1)
    runs = {
        (*case, seed): kept.run(
            f"run {case} {seed}",
            lambda case=case, choice=choice, seed=seed: train(
                preset, *case, preset.network_rates[choice], seed, look_at
            ),
        )
        for case, choice in zip(cases, best, strict=True)
        for seed in preset.network_seeds[1:]
    }
    shape = (len(preset.depths), len(NETWORK_METHODS))
    for depth in preset.depths:
        for name in ("loss", "turn", "rate", "defect"):
            array = [
                [runs[depth, method, seed][name] for seed in preset.network_seeds[1:]]
                for method in NETWORK_METHODS
            ]
            result[f"depth-{depth}.{name}"] = np.array(array, dtype=np.float32)
    seconds = [min(runs[(*case, seed)]["seconds"] for seed in preset.network_seeds[1:]) for case in cases]
    seconds = np.reshape(seconds, shape)
    return result | {
        "looks": np.array(look_at, dtype=np.int32),
        "learning_rates": np.array(preset.network_rates),
        "tuning.loss": np.float32(tuned.reshape(*shape, -1)),
        "chosen": np.reshape(best, shape).astype(np.int32),
        "time": np.float32(seconds / seconds[:, :1]),
    }


# --- the way from the manifold ---

DRIFT_RATE, DRIFT_MOMENTUM = 0.02, 0.95
DRIFTERS: dict[str, Callable[[list[nn.Parameter]], Optimizer]] = {
    **dict.fromkeys(
        ("spel float64", "spel float32", "spel bfloat16"),
        lambda params: optimizer("spel", params, DRIFT_RATE, DRIFT_MOMENTUM),
    ),
    "published quintic": lambda params: optimizer("published", params, DRIFT_RATE, DRIFT_MOMENTUM),
    "published polar_express": lambda params: Retracted(
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
}


def runs_of(part: str, preset: Preset) -> int:
    """How many runs a part consists of."""
    if part == "pca":
        return len(SPECTRA) * len(METHODS) * (len(settings(preset)) + 2 * (len(preset.seeds) - 1))
    if part == "network":
        each = len(preset.network_rates) + len(preset.network_seeds) - 1
        return len(preset.depths) * len(NETWORK_METHODS) * each
    return len(DRIFTERS) * len(preset.drift_shapes)


def provenance(part: str, name: str) -> dict[str, str]:
    """What one must know to make a file again, as the metadata that it carries."""
    axes = {
        "pca": {"spectra": list(SPECTRA), "methods": METHODS, "schedules": list(SCHEDULES)},
        "network": {"methods": NETWORK_METHODS},
        "drift": {"methods": list(DRIFTERS)},
    }
    return {
        "command": f"python notebooks/data/spel_at_work.py --preset {name} --part {part}",
        "preset": json.dumps(asdict(PRESETS[name])),
        "axes": json.dumps(axes[part]),
        **(about_text(corpus()) if part == "network" else {}),
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
