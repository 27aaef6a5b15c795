"""Print what it costs to read the alphas of large checkpoints, and what mutated files do to the reader.

    python tests/benchmarks/checkpoints.py [mutations]

The large files are holes that take no room on the disk: one file of 40 GB with 64 layers, and 200 shards of
200 MB. Each is summarised by ``ngeodesic alphas`` in a process of its own, the start of Python and imports
included: processor time, which on an idle machine is the time it takes, and peak memory. So is a file with a
header of 350,000 tensors, nearly as many as may be, in its own limits. Then 10^4 mutated files of each format
are read in one process, in which only CheckpointError may be raised, no file may take a second, and memory
may not grow. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import os
import random
import resource
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ngeodesic.checkpoints import CheckpointError, read_alphas

sys.path.insert(0, str(Path(__file__).parents[1]))
from checkpoint_files import tensor_pickle, torch_file

LAYERS, DIM = 64, 4096
SECONDS, MEGABYTES = 1.0, 100.0
MANY, MANY_SECONDS, MANY_MEGABYTES = 350_000, 5.0, 600.0


def layer(i: int, size: int) -> dict[str, tuple[str, list[int], int]]:
    """The tensors of one layer, of `size` bytes in all: name, dtype, shape, bytes."""
    alphas = {f"blocks.{i}.{block}_alpha": ("F32", [DIM], 4 * DIM) for block in ("attn", "mlp")}
    rest = (size - 8 * DIM) // 8
    weights = {f"blocks.{i}.w{j}.weight": ("BF16", [rest // 2], rest // 2 * 2) for j in range(8)}
    return alphas | weights


def write(path: Path, tensors: dict[str, tuple[str, list[int], int]]) -> None:
    """A safetensors file with numbers for the alphas and holes for the rest."""
    rng, header, end = np.random.default_rng(0), {}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, entry in header.items():
            if name.endswith("_alpha"):
                file.seek(8 + len(text) + entry["data_offsets"][0])
                file.write(rng.normal(0.1, 0.01, DIM).astype("<f4").tobytes())
        file.truncate(8 + len(text) + end)


def summarise(path: Path) -> tuple[float, float]:
    """Processor seconds and megabytes of ``ngeodesic alphas PATH --json``."""
    command = [sys.executable, "-m", "ngeodesic.cli", "alphas", str(path), "--json"]
    child = os.posix_spawn(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{path}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(path: Path) -> tuple[float, float]:
    return min(summarise(path) for _ in range(5))


def mutate(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed))
        match rng.randrange(6):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                changed[at:at] = rng.randbytes(rng.randint(1, 8))
            case 3:
                del changed[at : at + rng.randint(1, 8)]
            case 4:
                changed[at:at] = rng.choice(
                    [b"[", b"{", b'"', b"9" * 30, b"-", b"null", b'"a":', b"\\ud800", b"1e9"]
                )
            case 5:
                del changed[at + 1 :]
        if not changed:
            return b""
    return bytes(changed)


def right_files(folder: Path) -> list[Path]:
    """A small right file of each format."""
    header = {
        "__metadata__": {"format": "pt"},
        "blocks.0.attn_alpha": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
        "blocks.0.mlp_alpha": {"dtype": "BF16", "shape": [4], "data_offsets": [16, 24]},
        "w": {"dtype": "F8_E4M3", "shape": [2, 4], "data_offsets": [24, 32]},
    }
    text = json.dumps(header).encode()
    files = [folder / "a.safetensors", torch_file(folder / "a.pt", tensor_pickle("blocks.0.attn_alpha"))]
    files[0].write_bytes(struct.pack("<Q", len(text)) + text + np.ones(4, "<f4").tobytes() + bytes(16))
    return files


def fuzz(path: Path, count: int) -> tuple[int, float, float]:
    """How many were refused, the slowest in seconds, and the growth of the peak memory in megabytes."""
    right, rng = path.read_bytes(), random.Random(0)
    refused, slowest, settled = 0, 0.0, 0
    for i in range(count):
        if i == count // 5:
            settled = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        path.write_bytes(mutate(right, rng))
        start = time.process_time()
        try:
            read_alphas(path)
        except CheckpointError:
            refused += 1
        slowest = max(slowest, time.process_time() - start)
    return refused, slowest, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - settled) / 1024


def main(args: Sequence[str]) -> int:
    count = int(args[0]) if args else 10_000
    misses = 0

    def line(what: str, seconds: float, megabytes: float, limits: tuple[float, float]) -> None:
        nonlocal misses
        good = seconds <= limits[0] and megabytes <= limits[1]
        misses += not good
        print(f"{what:<52} {seconds:7.3f} s {megabytes:7.1f} MB   {'ok' if good else 'MISSED'}")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = folder / "one.safetensors"
        write(one, {k: v for i in range(LAYERS) for k, v in layer(i, 40 * 10**9 // LAYERS).items()})
        shards = folder / "shards"
        shards.mkdir()
        weight_map: dict[str, Any] = {}
        for i in range(200):
            tensors = layer(i, 200 * 10**6)
            shard = f"model-{i + 1:05}-of-00200.safetensors"
            write(shards / shard, tensors)
            weight_map |= dict.fromkeys(tensors, shard)
        (shards / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
        limits = (SECONDS, MEGABYTES)
        line(f"one file, {one.stat().st_size / 1e9:.1f} GB, 64 layers", *best(one), limits)
        line("200 shards", *best(shards), limits)
        # last: its peak memory counts the process that starts it, which has grown by writing the header
        many = folder / "many.safetensors"
        write(many, layer(0, 10**6) | {f"w{i}": ("F32", [1, 1], 4) for i in range(MANY - 10)})
        line(f"a header of {MANY} tensors", *best(many), (MANY_SECONDS, MANY_MEGABYTES))
        for path in right_files(folder):
            refused, slowest, growth = fuzz(path, count)
            line(
                f"{count} mutated {path.suffix} ({refused} refused): slowest", slowest, growth, (SECONDS, 1.0)
            )
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
