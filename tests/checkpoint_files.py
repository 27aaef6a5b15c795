"""Checkpoint files for the tests, made by hand, so that they can also be made wrong."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Tensor = tuple[str, Sequence[int], bytes]  # dtype, shape, data
OFFICIAL = "transformer.h.{}.{}_alpha"


def f32(*values: float) -> Tensor:
    return "F32", [len(values)], np.array(values, "<f4").tobytes()


def f64(values: Any) -> Tensor:
    array = np.asarray(values, "<f8")
    return "F64", list(array.shape), array.tobytes()


def header_of(tensors: Mapping[str, Tensor], metadata: Any = None) -> dict[str, Any]:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    end = 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + len(data)]}
        end += len(data)
    return header


def raw_file(path: Path, header: Any, body: bytes) -> Path:
    """A safetensors file with any header: text, bytes, or what json.dumps takes."""
    text = header if isinstance(header, str | bytes) else json.dumps(header)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(struct.pack("<Q", len(data)) + data + body)
    return path


def tensor_file(path: Path, tensors: Mapping[str, Tensor], metadata: Any = None) -> Path:
    """A right safetensors file."""
    return raw_file(path, header_of(tensors, metadata), b"".join(data for _, _, data in tensors.values()))


def official_file(path: Path, layers: int = 2, *, d: int = 1024, base_scale: float | None = None) -> Path:
    """Alphas as the official code names them, around 0.05 to 0.3, of both signs."""
    rng = np.random.default_rng(0)
    tensors = {
        OFFICIAL.format(i, block): f64(rng.normal(0.1, 0.02, d) * rng.choice([-1, 1], d))
        for i in range(layers)
        for block in ("attn", "mlp")
    }
    return tensor_file(path, tensors, None if base_scale is None else {"base_scale": repr(base_scale)})


def sharded_model(folder: Path, weight_map: Mapping[str, Any]) -> Path:
    """An index alone, in a new folder: the shards are for the test to write."""
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": dict(weight_map)}))
    return folder


def tensor_pickle(
    name: str, *, shape: int = 2, offset: int = 0, stride: int = 1, numbers: int = 2, extra: bytes = b""
) -> bytes:
    """The pickle of a dict with one float32 tensor, as torch.save writes it, and more items after it."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def number(value: int) -> bytes:
        return b"\x8a\x10" + value.to_bytes(16, "little", signed=True)

    storage = (
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(numbers) + b"tQ"
    )
    vector = number(offset) + number(shape) + b"\x85" + number(stride) + b"\x85"
    tensor = (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + vector + b"\x89ccollections\nOrderedDict\n)RtR"
    )
    return b"\x80\x02}(" + text(name) + tensor + extra + b"u."


def torch_file(path: Path, pickle: bytes, data: bytes = bytes(8)) -> Path:
    """A torch file with any pickle, and one storage, "0"."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle)
        archive.writestr("archive/data/0", data)
    return path
