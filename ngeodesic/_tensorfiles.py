"""Named tensors out of the files of models: safetensors, torch, and models in several files.

Places, sizes, shapes and dtypes are checked before they are used, nothing in a file is executed, and only
what is asked for is read: of a safetensors file the header, of a torch file the list of its entries and the
pickle, of either the bytes of the wanted tensors. Checksums are not compared: that would take all the bytes.
A file that changes before the last is read is refused. Everything that can be wrong with a file is a
`CheckpointError`.

References
----------
huggingface/safetensors, `README.md`; pytorch/pytorch, `torch/serialization.py`.
"""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ngeodesic._torchpickle import Other, Tensor, describe

Floats = NDArray[np.float64]

# far above what any model needs; they bound the time and memory of the worst file
_JSON_CAP = 100_000_000  # bytes of a header, the cap of the safetensors format, and of any other JSON
_JSON_PARTS = 4_000_000  # commas and brackets, of which a tensor in a header has about ten
_ZIP_CAP = 2**24  # bytes of the list of entries of a torch file
_PICKLE_CAP = 2**26  # bytes
_VECTOR_CAP = 2**20  # numbers of a tensor that is read: fifty times the widest model there is
_TOTAL_CAP = 2**24  # numbers of all of them, and those between the numbers of a strided one


class CheckpointError(ValueError):
    """What is wrong with a checkpoint: the file, the tensor where there is one, the reason."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def printable(text: str) -> str:
    """The text with all that could steer a terminal escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 2, 100, 100, 100
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 8


def show(value: object) -> str:
    """A value out of a file or from a caller: short whatever it is, and in ASCII."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # Python's limit on the digits of an integer
        text = "an integer of thousands of digits"
    return text.encode("ascii", "backslashreplace").decode()


# --- which file ---------------------------------------------------------------------------------------------


class Access:
    """How files may be reached, and which ones have been."""

    def __init__(
        self, follow_links: bool, progress: Callable[[str], None], on_file: Callable[[Path], None]
    ) -> None:
        self.follow_links, self.progress, self.on_file = follow_links, progress, on_file
        self._opened: list[tuple[Path, os.stat_result]] = []
        self._numbers = 0

    def member(self, folder: Path, name: str) -> Path:
        """The file of this name in the folder, unless it is a link that leads out of it."""
        path = folder / name
        try:
            inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
        except OSError as error:  # the current directory has been removed
            raise CheckpointError(f"{path}: {error.strerror}") from error
        if not self.follow_links and not inside:
            raise CheckpointError(
                f"{path}: a link that leads out of the model's directory; to follow it, set follow_links "
                f"(--follow-links)"
            )
        return path

    @contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """An open file; any trouble with it is a CheckpointError."""
        # without O_NONBLOCK, opening a pipe waits for ever
        flags = getattr(os, "O_NONBLOCK", 0)
        try:
            with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
                state = os.fstat(file.fileno())
                if not stat.S_ISREG(state.st_mode):
                    raise CheckpointError(f"{path}: not a regular file")
                if state.st_size == 0:
                    raise CheckpointError(f"{path}: the file is empty")
                self._opened.append((path, state))
                self.on_file(path)
                if file.read(24) == b"version https://git-lfs.":
                    raise CheckpointError(
                        f"{path}: a Git LFS pointer, not the file itself; fetch it with: git lfs pull"
                    )
                file.seek(0)
                yield file
        except OSError as error:
            raise CheckpointError(f"{path}: {error.strerror or error}") from error
        except MemoryError:
            raise CheckpointError(f"{path}: there is not enough memory to read it") from None

    def check(self) -> None:
        """Refuse files of which one was changed or replaced since it was opened."""
        for path, before in self._opened:
            after = os.stat(path) if os.path.exists(path) else None
            for field in ("st_dev", "st_ino", "st_size", "st_mtime_ns"):
                if getattr(before, field) != getattr(after, field, None):
                    raise CheckpointError(f"{path}: changed or replaced while it was read")

    def count(self, where: str, numbers: int) -> None:
        """Take note that so many numbers are going to be read."""
        self._numbers += numbers
        if self._numbers > _TOTAL_CAP:
            raise CheckpointError(f"{where}: with it, more than {_TOTAL_CAP} numbers would have to be read")


class Contents(NamedTuple):
    """What is in a model, its tensors not read yet."""

    names: Sequence[str]
    read: Callable[[Sequence[str]], tuple[dict[str, Floats], list[Mapping[str, Any]]]]
    """Reads the tensors of these names, each a vector, as float64; with them come the settings that the files
    read have: the model_args of a torch file, the metadata of a safetensors file or an index."""


_TORCH = (".pt", ".pth", ".bin")
_KINDS = f".safetensors, .index.json, {', '.join(_TORCH)}"
_SHARD = re.compile(r".*-[0-9]{5}-of-(?!00001)[0-9]{5}\.[a-z]+")
_NOT_WEIGHTS = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state).*")


def choose_file(path: Path, access: Access) -> Path:
    """The file to read for a path: itself, or the one of a directory."""
    if not _is_possible(str(path)):
        raise CheckpointError(f"{path}: no file can have such a name")
    if os.path.isdir(path):
        return access.member(path, _choose_member(path, access))
    if _SHARD.fullmatch(path.name):
        raise CheckpointError(
            f"{path}: one shard of several; give the .index.json or the directory, lest layers be missing"
        )
    return path


@contextmanager
def open_contents(path: Path, access: Access) -> Iterator[Contents]:
    """The contents of a file or of all the files of an index, readable as long as the context lasts."""
    if not path.name.endswith((".index.json", ".safetensors", *_TORCH)):
        what = "unknown kind of file" if os.path.exists(path) else "no such file"
        raise CheckpointError(f"{path}: {what}; give a {_KINDS} file or a directory with one")
    with access.open(path) as file:
        if path.name.endswith(".index.json"):
            yield _sharded(path, file, access)
        else:
            access.progress(f"reading {printable(path.name)}")
            yield _single(path, file, access)


def read_json_object(folder: Path, name: str, access: Access) -> Mapping[str, Any]:
    path = access.member(folder, name)
    with access.open(path) as file:
        found = _parse_json(file, path)
    if not isinstance(found, dict):
        raise CheckpointError(f"{path}: must hold a JSON object")
    return found


def _choose_member(folder: Path, access: Access) -> str:
    """The one file of a model's directory that holds its weights, or lists those that do."""
    try:
        names = sorted(name for name in os.listdir(folder) if not os.path.isdir(folder / name))
    except OSError as error:
        raise CheckpointError(f"{folder}: {error.strerror}") from error
    kinds = (".safetensors", *_TORCH)
    found = [name for name in names if name.endswith(tuple(f"{kind}.index.json" for kind in kinds))]
    files = [name for name in names if name.endswith(kinds) and not _NOT_WEIGHTS.fullmatch(name)]
    shards = [name for name in files if _SHARD.fullmatch(name)]
    if shards and not found:
        raise CheckpointError(
            f"{folder}: holds shards such as {show(shards[0])} but no .index.json; give the path of a file"
        )
    listed: Any = {}
    if len(found) == 1 and len(files) > len(shards):
        listed = read_json_object(folder, found[0], access).get("weight_map")
    ours = {name for name in listed.values() if isinstance(name, str)} if isinstance(listed, dict) else ()
    found += [name for name in files if name not in shards and name not in ours]
    if len(found) > 1:
        few = ", ".join(map(show, found[:5]))
        raise CheckpointError(f"{folder}: holds {len(found)} models ({few}); give the path of one")
    if not found:
        raise CheckpointError(f"{folder}: holds no {_KINDS} file")
    return found[0]


def _is_possible(name: str) -> bool:
    """Whether the system could have a file of this name."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _read_at(where: str, file: BinaryIO, begin: int, length: int) -> bytes:
    if not 0 <= begin <= _size(file) - length:
        raise CheckpointError(f"{where}: cut short: {length} bytes at byte {begin} are not in the file")
    file.seek(begin)
    data = file.read(length)
    if len(data) != length:
        raise CheckpointError(f"{where}: cut short while it was read")
    return data


def _parse_json(file: BinaryIO, path: Path) -> Any:
    if _size(file) > _JSON_CAP:
        raise CheckpointError(f"{path}: {_size(file)} bytes of JSON, more than {_JSON_CAP}")
    return _parse(file.read(_JSON_CAP), str(path))


def _parse(data: bytes, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise CheckpointError(f"{where}: duplicate key {show(key)}")
        return found

    if sum(map(data.count, (b"{", b"[", b","))) > _JSON_PARTS:
        raise CheckpointError(f"{where}: more than {_JSON_PARTS} values, which no model needs")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except CheckpointError:
        raise
    except RecursionError:
        raise CheckpointError(f"{where}: JSON that is nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{where}: not JSON: {error}") from None
    except ValueError:  # Python's limit on the digits of an integer
        raise CheckpointError(f"{where}: an integer of thousands of digits") from None


# --- models in several files --------------------------------------------------------------------------------


def _single(path: Path, file: BinaryIO, access: Access) -> Contents:
    kind = _safetensors if path.suffix == ".safetensors" else _torch
    return kind(path, file, access)


def _sharded(path: Path, file: BinaryIO, access: Access) -> Contents:
    index = _parse_json(file, path)
    shards = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(shards, dict):
        raise CheckpointError(f"{path}: has no weight_map that says which file holds which tensor")
    held: dict[str, list[str]] = {}
    for name, shard in shards.items():
        if isinstance(shard, str) and shard in held:
            held[shard].append(name)
            continue
        if not _is_shard_name(shard):
            raise CheckpointError(
                f"{path}: weight_map entry {show(name)}: {show(shard)} is not the name of a "
                f".safetensors, {', '.join(_TORCH)} file beside it"
            )
        held[shard] = [name]
    files = {shard: access.member(path.parent, shard) for shard in sorted(held)}
    missing = [shard for shard, file in files.items() if not os.path.isfile(file)]
    if missing:
        raise CheckpointError(f"{path}: {len(missing)} of {len(files)} files missing: {', '.join(missing)}")

    for member in files.values():
        access.on_file(member)

    def read(names: Sequence[str]) -> tuple[dict[str, Floats], list[Mapping[str, Any]]]:
        needed = sorted({shards[name] for name in names})
        stored: dict[str, Floats] = {}
        metadata = index.get("metadata")
        settings: list[Mapping[str, Any]] = [metadata] if isinstance(metadata, dict) else []
        for i, shard in enumerate(needed):
            access.progress(f"reading {shard} ({i + 1} of {len(needed)})")
            with access.open(files[shard]) as file:
                contents = _single(files[shard], file, access)
                there = set(contents.names)
                for name in held[shard]:
                    if name not in there:
                        raise CheckpointError(
                            f"{files[shard]}: {show(name)}: not here, but {path.name} says so"
                        )
                numbers, more = contents.read([name for name in names if shards[name] == shard])
                stored |= numbers
                settings += more
        return stored, settings

    return Contents(list(shards), read)


def _is_shard_name(name: object) -> TypeGuard[str]:
    if not isinstance(name, str) or not name.isprintable() or not _is_possible(name):
        return False
    return name.endswith((".safetensors", *_TORCH)) and not any(mark in name for mark in "/\\:")


# --- safetensors --------------------------------------------------------------------------------------------


# bits of one number of each dtype of the format
_BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}


def _safetensors(path: Path, file: BinaryIO, access: Access) -> Contents:
    size = _size(file)
    if size < 8:
        raise CheckpointError(f"{path}: {size} bytes are too few for a safetensors file")
    (length,) = struct.unpack("<Q", _read_at(str(path), file, 0, 8))
    if length > min(size - 8, _JSON_CAP):
        raise CheckpointError(
            f"{path}: not a safetensors file, or cut short: a header of {length} bytes in a file of {size} "
            f"(at most {_JSON_CAP})"
        )
    data = _read_at(f"{path}: header", file, 8, length)
    if not data.startswith(b"{"):
        raise CheckpointError(f"{path}: not a safetensors file: the header is not a JSON object")
    entries = _parse(data, f"{path}: header")
    metadata = entries.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise CheckpointError(f"{path}: __metadata__ must map names to strings")
    start = 8 + length
    _check_entries(path, entries, size - start)

    def read(names: Sequence[str]) -> tuple[dict[str, Floats], list[Mapping[str, Any]]]:
        found = {}
        for name in names:
            where, entry = f"{path}: {show(name)}", entries[name]
            begin, end = entry["data_offsets"]
            decode = _decoder(where, entry["dtype"], entry["shape"])
            access.count(where, math.prod(entry["shape"]))
            found[name] = decode(_read_at(where, file, start + begin, end - begin))
        return found, [metadata]

    return Contents(list(entries), read)


def _check_entries(path: Path, entries: Mapping[str, Any], room: int) -> None:
    """Each entry must be right, and the tensors must fill the data of the file without gaps and overlaps."""
    for name, entry in entries.items():
        fault = _fault(entry, room)
        if fault:
            raise CheckpointError(f"{path}: {show(name)}: {fault}")
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        if begin != reached:
            what = "overlap those of another tensor" if begin < reached else "leave a gap before them"
            raise CheckpointError(f"{path}: {show(name)}: its data {what} (byte {begin})")
        reached = end
    if reached != room:
        raise CheckpointError(f"{path}: {room - reached} bytes at its end belong to no tensor")


def _fault(entry: Any, room: int) -> str | None:
    """What is wrong with a tensor's entry in the header of a file with so many bytes of data."""
    if not isinstance(entry, dict):
        return "must be an object with dtype, shape and data_offsets"
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str):
        return f"dtype must be text: got {show(dtype)}"
    if not _are_naturals(shape, list):
        return f"shape must be a list of integers from 0: got {show(shape)}"
    if not _are_naturals(offsets, list) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"data_offsets must be two integers, 0 <= begin <= end: got {show(offsets)}"
    begin, end = offsets
    if end > room:
        return f"its data end at byte {end} of {room}: the file is cut short or its header lies"
    bits = _BITS.get(dtype)
    if bits is not None and _count(shape, room) * bits != (end - begin) * 8:
        return f"{dtype} of shape {show(shape)} does not fill {end - begin} bytes"
    return None


def _are_naturals(values: Any, kind: type[Sequence[int]]) -> TypeGuard[Sequence[int]]:
    return type(values) is kind and all(type(v) is int and v >= 0 for v in values)


def _count(shape: Sequence[int], limit: int) -> int:
    """The product of the shape, or some number above twice the limit."""
    product = 1
    for length in sorted(shape):  # zeros first
        product *= length
        if product > 2 * limit:
            break
    return product


# --- torch --------------------------------------------------------------------------------------------------


_STATE_DICTS = ("model", "model_state_dict", "state_dict", "module")


def _torch(path: Path, file: BinaryIO, access: Access) -> Contents:
    """The contents of a torch file: a zip archive of a pickle and the numbers of each storage."""
    entries = _zip_entries(path, file)
    pickles = [name for name in entries if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(pickles) != 1:
        raise CheckpointError(f"{path}: not a file that torch.save wrote: it holds {len(pickles)} data.pkl")
    folder = pickles[0].removesuffix("data.pkl")

    def load(name: str, cap: int) -> bytes:
        begin, length = _zip_place(path, file, entries[name])
        if length > cap:
            raise CheckpointError(f"{path}: {show(name)}: {length} bytes, more than {cap}")
        return _read_at(f"{path}: {show(name)}", file, begin, length)

    if f"{folder}byteorder" in entries and load(f"{folder}byteorder", 16) != b"little":
        raise CheckpointError(f"{path}: written on a machine of another byte order")
    try:
        root, foreign = describe(load(pickles[0], _PICKLE_CAP))
    except ValueError as error:
        raise CheckpointError(f"{path}: not a pickle as torch.save writes it: {show(str(error))}") from None
    if foreign:
        raise CheckpointError(
            f"{path}: not loaded: needs {', '.join(map(show, sorted(foreign)[:5]))}, which could run code; "
            f"where it was made, save its tensors alone, with safetensors.torch.save_file"
        )
    if not isinstance(root, dict):
        raise CheckpointError(f"{path}: holds {_kind(root)}, not a dict of tensors")
    settings = root.get("model_args")
    held: dict[str, list[tuple[str, Any]]] = {}
    for key, state in _state_dicts(root):
        for name, tensor in state.items():
            held.setdefault(name, []).append((key, tensor))

    def vector(where: str, tensor: Any) -> Floats:
        if not isinstance(tensor, Tensor):
            raise CheckpointError(f"{where}: not a dense tensor but {_kind(tensor)}")
        entry = entries.get(f"{folder}data/{tensor.key}")
        if entry is None:
            raise CheckpointError(f"{where}: its numbers are not in the file")
        return _read_strided(where, file, tensor, *_zip_place(path, file, entry), access)

    def read(names: Sequence[str]) -> tuple[dict[str, Floats], list[Mapping[str, Any]]]:
        found = {}
        for name in names:
            where = f"{path}: {show(name)}"
            (first, tensor), *others = held[name]
            found[name] = vector(where, tensor)
            for key, other in others:
                if not np.array_equal(found[name], vector(where, other)):
                    raise CheckpointError(
                        f"{where}: differs between the dicts {show(first)} and {show(key)} of the file; save "
                        f"one of them alone"
                    )
        return found, [settings] if isinstance(settings, dict) else []

    return Contents(list(held), read)


def _state_dicts(root: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The dicts that can hold the model's tensors, with their keys: the usual ones, or any there are."""
    dicts = {key: value for key, value in root.items() if isinstance(value, dict)}
    filled = {k: d for k, d in dicts.items() if any(isinstance(value, Tensor) for value in d.values())}
    usual = {key: filled[key] for key in _STATE_DICTS if key in filled}
    return list({id(d): (k, d) for k, d in (usual or {"the outermost": root} | dicts).items()}.values())


class _Bounded:
    """A file for `zipfile`, which reads as many bytes at once as the file asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.seek, self.tell = file, file.seek, file.tell

    def read(self, length: int = -1, /) -> bytes:
        data = self.file.read(min(length, _ZIP_CAP + 1) if length >= 0 else _ZIP_CAP + 1)
        if len(data) > _ZIP_CAP:
            raise ValueError(f"a list of entries of more than {_ZIP_CAP} bytes")
        return data


def _zip_entries(path: Path, file: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(_Bounded(file)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, struct.error) as error:
        why = show(str(error))
        raise CheckpointError(
            f"{path}: cut short, or not a file that torch.save of torch 1.6 or later wrote: {why}"
        ) from None
    if any(entry.filename.endswith("/constants.pkl") for entry in entries):
        raise CheckpointError(f"{path}: a program that torch.jit.save wrote; save the model's state_dict()")
    # a compressed entry can grow a thousandfold
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
        raise CheckpointError(f"{path}: compressed or encrypted, which torch.save never does")
    named = {entry.filename: entry for entry in entries}
    if len(named) < len(entries):
        raise CheckpointError(f"{path}: two of its entries have one name")
    return named


def _zip_place(path: Path, file: BinaryIO, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """Where the bytes of an entry begin, and how many they are."""
    where = f"{path}: {show(entry.filename)}"
    header = _read_at(where, file, entry.header_offset, 30)
    begin = entry.header_offset + 30 + sum(struct.unpack("<HH", header[26:]))  # lengths of name and extra
    if header[:4] != b"PK\3\4" or begin + entry.file_size > _size(file):
        raise CheckpointError(f"{where}: its {entry.file_size} bytes are not in the file")
    return begin, entry.file_size


def _kind(value: object) -> str:
    return value.kind if isinstance(value, Other) else f"a {type(value).__name__.strip('_')}"


def _read_strided(
    where: str, file: BinaryIO, tensor: Tensor, begin: int, size: int, access: Access
) -> Floats:
    """The numbers of a tensor whose storage begins at a byte of the file and has this size."""
    if tensor.lazy:
        raise CheckpointError(f"{where}: with a conjugation or a change of sign put off; save it resolved")
    offset, shape, strides = tensor.offset, tensor.shape, tensor.strides
    if not all(_are_naturals(numbers, tuple) for numbers in ((offset,), shape, strides)):
        raise CheckpointError(
            f"{where}: offset, shape and strides must be integers from 0: "
            f"got {show(offset)}, {show(shape)}, {show(strides)}"
        )
    decode = _decoder(where, tensor.dtype, shape)
    count, width = math.prod(shape), _BITS[tensor.dtype] // 8
    stride = next((s for n, s in zip(shape, strides, strict=False) if n > 1), 1)
    span = (count - 1) * stride + 1
    end = (offset + span) * width
    if len(strides) != len(shape) or end > size:
        raise CheckpointError(f"{where}: its numbers end at byte {end} of {size} in its storage")
    access.count(where, max(count, span))
    numbers = decode(_read_at(where, file, begin + offset * width, span * width))
    return numbers if stride == 1 else numbers[np.arange(count) * stride]


# --- numbers ------------------------------------------------------------------------------------------------


def _decoder(where: str, dtype: str, shape: Sequence[int]) -> Callable[[bytes], Floats]:
    """What makes float64 of the bytes of a vector."""
    count = _count(shape, _VECTOR_CAP)
    if not 0 < count <= _VECTOR_CAP or count != max(shape, default=1):
        raise CheckpointError(
            f"{where}: of shape {show(list(shape))}; an alpha has one entry for each dimension of the state"
        )
    if dtype not in _DECODE:
        raise CheckpointError(f"{where}: dtype {show(dtype)} is not one of {', '.join(_DECODE)}")
    return _DECODE[dtype]


def _numbers(dtype: str) -> Callable[[bytes], Floats]:
    return lambda data: np.frombuffer(data, dtype).astype(np.float64)


def _bfloat16(data: bytes) -> Floats:
    return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _float8_e5m2(data: bytes) -> Floats:
    # the upper byte of a float16
    return (np.frombuffer(data, np.uint8).astype(np.uint16) << 8).view(np.float16).astype(np.float64)


def _float8_e4m3(data: bytes) -> Floats:
    code = np.frombuffer(data, np.uint8).astype(np.int64)
    exponent, mantissa = code >> 3 & 15, code & 7
    value = np.where(exponent == 0, np.ldexp(mantissa, -9), np.ldexp(1 + mantissa / 8, exponent - 7))
    value = np.where(code & 127 == 127, np.nan, value)  # no infinities, one NaN
    return np.asarray(np.where(code < 128, value, -value), dtype=np.float64)


_DECODE: dict[str, Callable[[bytes], Floats]] = {
    "F64": _numbers("<f8"),
    "F32": _numbers("<f4"),
    "F16": _numbers("<f2"),
    "BF16": _bfloat16,
    "F8_E4M3": _float8_e4m3,
    "F8_E5M2": _float8_e5m2,
}
