"""Train the small nGPT whose alphas and hidden states the book looks at.

    python notebooks/data/train_ngpt.py

A compact nGPT after Loshchilov et al. (arXiv:2410.01131) with the scalings of the public code: every matrix
normalised along the embedding after each step, the scalings sqk, suv and sz, in each block one alpha per
dimension. The files name the alphas as the public code does; other parameters have names of their own. Adam
is without weight decay and without warm-up, its learning rate falls to zero along half a cosine. The rotary
embedding is the paper's rotation; the public code multiplies by something that is not one.

The text is the `pydoc_data.topics` of the Python that runs this (PSF licence). It differs between Python
versions: another version trains another model. The hash of the text is kept with the results. Some passages
occur twice: text.safetensors tells which bytes of the held-out tenth lie in one that is also in the rest. On
one machine, with the same versions and as many threads, a seed gives the same files again, also when it was
interrupted: the same command resumes.

Needs torch, safetensors and rich (pip install -e ".[notebooks,torch]"); ten minutes a seed on one core.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from pydoc_data import topics
from typing import NamedTuple

import numpy as np
import safetensors
import torch
from rich.console import Console
from rich.progress import Progress
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, scaled_dot_product_attention, silu

HERE = Path(__file__).parent
BYTES = 256
ALPHA_INIT = 0.05
MOMENTS = (0, 1, 2, 4, 8, 16, 24, 32, 40)  # when the model is looked at, in fortieths of the training
WINDOWS = 16  # held-out windows in which the hidden states are looked at
PLACES = 16  # places in each of these windows
STORED_EVERY = 6  # the vectors themselves are stored for every sixth of these places
PASSAGE = 128  # bytes of text that, occurring twice, are a passage that recurs
CHECKPOINT_EVERY = 100  # steps


@dataclass(frozen=True)
class Preset:
    """The size of a model and of its training."""

    layers: int
    dim: int
    heads: int
    context: int
    steps: int
    batch: int
    learning_rate: float
    seeds: tuple[int, ...]

    @property
    def moments(self) -> list[int]:
        """The numbers of finished steps at which the model is looked at."""
        return [self.steps * moment // MOMENTS[-1] for moment in MOMENTS]


PRESETS = {
    "book": Preset(4, 128, 4, 128, 2000, 16, 3e-3, (0, 1, 2)),
    "test": Preset(2, 32, 2, 32, 300, 16, 5e-3, (0,)),
}


# --- the model ---


class Step(NamedTuple):
    """One nGPT step as it happened: state, normalised output of the block, new state."""

    h: Tensor
    target: Tensor
    after: Tensor


def ngpt_step(h: Tensor, output: Tensor, alpha: Tensor) -> Step:
    """Norm(h + alpha (Norm(output) - Norm(h))), as the public code writes it."""
    h, target = normalize(h, dim=-1, eps=0), normalize(output, dim=-1, eps=0)
    return Step(h, target, normalize(h + alpha * (target - h), dim=-1, eps=0))


def rotary(context: int, dim: int) -> Tensor:
    """The unit complex numbers, of shape (context, dim / 2), that turn pairs of coordinates by place."""
    frequencies = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.outer(torch.arange(context, dtype=torch.float64), frequencies)
    return torch.polar(torch.ones_like(angles), angles)


class Layer(nn.Module):
    """Attention and MLP, each followed by an nGPT step toward its output."""

    def __init__(self, preset: Preset, generator: torch.Generator) -> None:
        super().__init__()
        d, self.heads, self.base_scale = preset.dim, preset.heads, 1 / math.sqrt(preset.dim)

        def matrix(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(rows, columns, generator=generator))

        self.query, self.key, self.value, self.att_c_proj = (matrix(d, d) for _ in range(4))
        self.c_fc, self.mlp_c_proj = matrix(8 * d, d), matrix(d, 4 * d)
        self.attn_alpha = nn.Parameter(torch.full((d,), self.base_scale))
        self.mlp_alpha = nn.Parameter(torch.full((d,), self.base_scale))
        self.sqk = nn.Parameter(torch.full((d,), self.base_scale))
        self.suv = nn.Parameter(torch.ones(8 * d))

    def alphas(self) -> list[Tensor]:
        """The alphas that the two steps use: |stored * 0.05 / base_scale|."""
        scale = ALPHA_INIT / self.base_scale
        return [(self.attn_alpha * scale).abs(), (self.mlp_alpha * scale).abs()]

    def attention(self, h: Tensor, turns: Tensor) -> Tensor:
        batch, context, d = h.shape

        def heads(x: Tensor) -> Tensor:
            return x.view(batch, context, self.heads, -1).transpose(1, 2)

        def turned(x: Tensor) -> Tensor:
            pairs = torch.view_as_complex(heads(x).unflatten(-1, (-1, 2)))
            return normalize(torch.view_as_real(pairs * turns[:context]).flatten(-2), dim=-1) * sqk

        sqk = (self.sqk / self.base_scale).view(1, self.heads, 1, -1)
        q, k, v = turned(h @ self.query.T), turned(h @ self.key.T), heads(h @ self.value.T)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True, scale=math.sqrt(d / self.heads))
        return mixed.transpose(1, 2).reshape(batch, context, d) @ self.att_c_proj.T

    def mlp(self, h: Tensor) -> Tensor:
        u, v = (self.suv * math.sqrt(h.shape[-1]) * (h @ self.c_fc.T)).chunk(2, dim=-1)
        return (u * silu(v)) @ self.mlp_c_proj.T

    def forward(self, h: Tensor, turns: Tensor, trace: list[Step] | None) -> Tensor:
        for block, alpha in zip((partial(self.attention, turns=turns), self.mlp), self.alphas(), strict=True):
            step = ngpt_step(h, block(h), alpha)
            if trace is not None:
                trace.append(step)
            h = step.after
        return h


class NGPT(nn.Module):
    """The model: bytes in, logits of the next byte out."""

    def __init__(self, preset: Preset, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        d, self.base_scale = preset.dim, 1 / math.sqrt(preset.dim)
        self.transformer = nn.ModuleDict(
            {"h": nn.ModuleList(Layer(preset, generator) for _ in range(preset.layers))}
        )
        self.wte = nn.Parameter(torch.randn(BYTES, d, generator=generator))
        self.lm_head = nn.Parameter(torch.randn(BYTES, d, generator=generator))
        self.sz = nn.Parameter(torch.full((BYTES,), self.base_scale))
        self.register_buffer("turns", rotary(preset.context, d // preset.heads).to(torch.complex64), False)
        self.normalise_matrices()

    def forward(self, text: Tensor, trace: list[Step] | None = None) -> Tensor:
        h = self.wte[text]
        for layer in self.transformer["h"]:
            h = layer(h, self.turns, trace)
        return self.sz / self.base_scale * (h @ self.lm_head.T)

    def loss(self, windows: Tensor) -> Tensor:
        """Mean cross entropy, in nats per byte, of each byte after the first."""
        return cross_entropy(self(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    @torch.no_grad()
    def normalise_matrices(self) -> None:
        """Give every row, or column where the output is the embedding, the norm 1."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                parameter.copy_(normalize(parameter, dim=0 if name.endswith("c_proj") else 1))


# --- the text ---


def corpus() -> bytes:
    """The texts of pydoc_data.topics, in alphabetical order of their names."""
    return "\n".join(topics.topics[name] for name in sorted(topics.topics)).encode()


def split(text: bytes) -> tuple[bytes, bytes]:
    """The first nine tenths, to train on, and the rest."""
    cut = len(text) * 9 // 10
    return text[:cut], text[cut:]


def numbers(text: bytes) -> Tensor:
    return torch.from_numpy(np.frombuffer(text, dtype=np.uint8).astype(np.int64))


def recurring(text: bytes, held_out: bytes, length: int = PASSAGE) -> np.ndarray:
    """For each byte of `held_out`, whether it lies in `length` bytes in a row that are in `text` too."""
    seen = {text[i : i + length] for i in range(len(text) - length + 1)}
    inside = np.zeros(len(held_out), dtype=bool)
    for i in range(len(held_out) - length + 1):
        if held_out[i : i + length] in seen:
            inside[i : i + length] = True
    return inside


def looked_at(held_out: int, context: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the windows start, among so many bytes, whose states are looked at; the places in each."""
    starts = held_out_windows(held_out, context)[::4]
    return starts, np.arange(PLACES) * context // PLACES + context // PLACES - 1


def held_out_windows(held_out: int, context: int) -> np.ndarray:
    """Where the windows start, among so many bytes, on which the loss is measured."""
    return np.linspace(0, held_out - context - 1, 4 * WINDOWS).astype(int)


def windows(text: Tensor, starts: np.ndarray, length: int) -> Tensor:
    return torch.stack([text[start : start + length] for start in starts])


def batch(text: Tensor, preset: Preset, seed: int, step: int) -> Tensor:
    """The windows of one step: they depend on nothing but the seed and the step, so that a run can resume."""
    starts = np.random.default_rng([seed, step]).integers(len(text) - preset.context, size=preset.batch)
    return windows(text, starts, preset.context + 1)


# --- the training, and what is kept of it ---


class Run:
    """One seed's training: it can be stopped at any time, and resumes from its last checkpoint."""

    def __init__(self, name: str, preset: Preset, seed: int, out: Path) -> None:
        self.preset, self.seed, self.out, text = preset, seed, out, corpus()
        self.text, self.held_out = map(numbers, split(text))
        self.about = provenance(name, preset, seed, text)
        self.model, self.done = NGPT(preset, seed), 0
        self.optimizer = torch.optim.Adam(self.model.parameters(), betas=(0.9, 0.95))
        looks, blocks = len(preset.moments), 2 * preset.layers
        self.record = {
            "curve.train_loss": torch.full((preset.steps,), math.nan),
            "curve.held_out_loss": torch.full((looks,), math.nan),
            "alphas": torch.full((looks, blocks, preset.dim), math.nan),
            "theta": torch.full((looks, blocks, WINDOWS * PLACES), math.nan),
            "off_plane": torch.full((looks, blocks, WINDOWS * PLACES), math.nan),
        }

    @property
    def checkpoint(self) -> Path:
        return self.out / "unfinished.pt"

    @property
    def result(self) -> Path:
        return self.out / "run.safetensors"

    @property
    def finished(self) -> bool:
        if not self.result.exists():
            return False
        with safetensors.safe_open(self.result, "numpy") as file:
            return file.metadata() == self.about

    def resume(self) -> None:
        """Go back to where the last checkpoint was written, if there is one."""
        if not self.checkpoint.exists():
            return
        state = torch.load(self.checkpoint, weights_only=True)
        if state["about"] != self.about:
            raise SystemExit(f"{self.checkpoint} belongs to another run: finish that one, or delete the file")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.record, self.done = state["record"], state["done"]

    def save_checkpoint(self) -> None:
        state = {
            "about": self.about,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "record": self.record,
            "done": self.done,
        }
        partial_file = self.checkpoint.with_suffix(".partial")
        torch.save(state, partial_file)
        os.replace(partial_file, self.checkpoint)

    def train_step(self) -> None:
        decay = (1 + math.cos(math.pi * self.done / self.preset.steps)) / 2
        self.optimizer.param_groups[0]["lr"] = self.preset.learning_rate * decay
        loss = self.model.loss(batch(self.text, self.preset, self.seed, self.done))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.model.normalise_matrices()
        self.record["curve.train_loss"][self.done] = loss.item()
        self.done += 1

    @torch.no_grad()
    def look(self) -> list[Step]:
        """Record the loss on all held-out windows, the alphas and the steps' geometry; return these steps."""
        look, context = self.preset.moments.index(self.done), self.preset.context
        starts = held_out_windows(len(self.held_out), context)
        loss = self.model.loss(windows(self.held_out, starts, context + 1))
        self.record["curve.held_out_loss"][look] = loss
        starts, places = looked_at(len(self.held_out), context)
        trace: list[Step] = []
        self.model(windows(self.held_out, starts, context), trace)
        trace = [Step(*(x[:, places].flatten(0, 1) for x in step)) for step in trace]
        for block, (step, alpha) in enumerate(zip(trace, self.alphas().values(), strict=True)):
            self.record["alphas"][look, block] = alpha
            self.record["theta"][look, block], self.record["off_plane"][look, block] = geometry(step)
        return trace

    def alphas(self) -> dict[str, Tensor]:
        """The stored alphas under their official names, in the order in which the model uses them."""
        return {
            f"transformer.h.{i}.{name}": getattr(layer, name).detach()
            for i, layer in enumerate(self.model.transformer["h"])
            for name in ("attn_alpha", "mlp_alpha")
        }

    def write(self, trace: list[Step]) -> None:
        """Write the files of the finished run, the one that says that it is finished last."""
        names = list(self.alphas())
        for done, stored in zip(self.preset.moments, self.record.pop("alphas"), strict=True):
            about = self.about | {"iter_num": str(done)}
            tensors = {name: alpha.clone() for name, alpha in zip(names, stored, strict=True)}
            write(tensors, self.out / f"alphas-{done:04d}.safetensors", about)
        rows = slice(None, None, STORED_EVERY)
        states = torch.stack([trace[0].h, *(step.after for step in trace)])
        arrays = self.record | {
            "moments": torch.tensor(self.preset.moments, dtype=torch.int32),
            "states": states[:, rows].contiguous(),
            "targets": torch.stack([step.target for step in trace])[:, rows].contiguous(),
        }
        write(arrays, self.result, self.about)
        self.checkpoint.unlink(missing_ok=True)


def geometry(step: Step) -> tuple[Tensor, Tensor]:
    """The angle between state and target, and the part of the new state outside their plane, in float64."""
    h, target, after = (normalize(x.double(), dim=-1) for x in step)
    theta = 2 * torch.atan2((h - target).norm(dim=-1), (h + target).norm(dim=-1))
    plane = torch.linalg.qr(torch.stack([h, target], dim=-1)).Q
    inside = plane @ (plane.mT @ after[..., None])
    return theta, (after - inside[..., 0]).norm(dim=-1)


def provenance(name: str, preset: Preset, seed: int, text: bytes) -> dict[str, str]:
    """What one must know to make the files again, as the metadata that they carry."""
    threads = torch.get_num_threads()
    config = {key: value for key, value in asdict(preset).items() if key != "seeds"}
    return {
        "command": f"python notebooks/data/train_ngpt.py --preset {name} --seeds {seed} --threads {threads}",
        "seed": str(seed),
        "config": json.dumps(config),
        "alpha_init_value": str(ALPHA_INIT),
        "base_scale": repr(1 / math.sqrt(preset.dim)),
        **about_text(text),
        "python": platform.python_version(),
        "torch": str(torch.__version__),  # a class of its own that torch.load refuses
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
        "machine": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
    }


def about_text(text: bytes) -> dict[str, str]:
    """Which text it is."""
    return {
        "corpus": "pydoc_data.topics, joined by newlines in the order of the names",
        "corpus_bytes": str(len(text)),
        "corpus_sha256": hashlib.sha256(text).hexdigest(),
        "corpus_licence": "PSF-2.0",
    }


def write_text(context: int, out: Path) -> None:
    """Write which bytes of the held-out text recur, and which of the places that are looked at."""
    text = corpus()
    inside = torch.from_numpy(recurring(*split(text)))
    starts, places = looked_at(len(inside), context)
    tensors = {"held_out.recurring": inside, "places.recurring": inside[starts[:, None] + places].flatten()}
    write(tensors, out / "text.safetensors", about_text(text) | {"passage_bytes": str(PASSAGE)})


def write(tensors: dict[str, Tensor], path: Path, about: dict[str, str]) -> None:
    """Write a safetensors file whole or not at all, its metadata in the order given: save shuffles them."""
    data = save(tensors, about)
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8:start]) | {"__metadata__": about}).encode()
    header += b" " * (-len(header) % 8)
    partial_file = path.with_suffix(".partial")
    partial_file.write_bytes(len(header).to_bytes(8, "little") + header + data[start:])
    os.replace(partial_file, path)


def train(name: str, seed: int, out: Path, progress: Progress) -> None:
    """Train one seed into a folder of its own, or resume it, or say that it is there already."""
    preset, folder = PRESETS[name], out / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(name, preset, seed, folder)
    if run.finished:
        progress.console.print(f"seed {seed}: finished before, in {folder}", soft_wrap=True)
        return
    run.resume()
    task = progress.add_task(f"seed {seed}", total=preset.steps, completed=run.done)
    trace = run.look() if run.done in preset.moments else []
    while run.done < preset.steps:
        run.train_step()
        if run.done in preset.moments:
            trace = run.look()
        if run.done % CHECKPOINT_EVERY == 0:
            run.save_checkpoint()
        progress.update(task, completed=run.done)
    losses = run.record["curve.held_out_loss"]
    run.write(trace)
    loss = f"held-out loss {losses[-1]:.3f} nats per byte"
    progress.console.print(f"seed {seed}: {loss}; written to {folder}", soft_wrap=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", choices=PRESETS, default="book", help="size (default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: 0 1 2 for book, 0 for test")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=HERE / "ngpt", help="default: ngpt beside this script")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        for seed in options.seeds or PRESETS[options.preset].seeds:
            try:
                train(options.preset, seed, options.out, progress)
            except KeyboardInterrupt:
                progress.console.print(f"seed {seed}: interrupted; the same command resumes")
                return 130
    write_text(PRESETS[options.preset].context, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
