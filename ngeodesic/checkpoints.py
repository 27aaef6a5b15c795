"""Effective alphas ("eigen learning rates") of trained nGPT models, read from their checkpoints.

nGPT moves a state by ``h <- Norm(h + alpha * (h_A - h))`` with a vector alpha for each block (attention, mlp)
of each layer. A checkpoint does not store alpha but a number from which the model's code makes it:
``alpha = stored * init_value / init_scaling``, in most families its absolute value. The same tensor name
hides different factors, so a family is recognised by its names, each record names the rule it was made by,
and a factor that the checkpoint does not tell is asked for, never guessed.

========== ============================================ ===================== ======================= =====
family     tensors of layer i                           init_value            init_scaling            abs
========== ============================================ ===================== ======================= =====
nvidia     transformer.h.i.{attn,mlp}_alpha             0.05                  base_scale (model_args) yes
                                                                              or 1/32 if d = 1024
lm-engine  the same, beside sequence_mixer or mlp_block ngpt_attn_alpha_init  ngpt_alpha_init_scaling yes
           tensors or a config.json that has this       ngpt_mlp_alpha_init   (config.json)
           init_scaling                                 or 0.05
olmo-core  blocks.i.{attn,mlp}_alpha                    0.05                  1/sqrt(d)               yes
hf         [model.]layers.i.{attn,mlp}_alpha            attn_alpha_init_value initializer_range       yes
                                                        mlp_alpha_init_value  (config.json)
                                                        or 0.05
megatron   layers.i.{attn,mlp}_alpha.param, or blocks   ngpt_alpha_init       ngpt_base_scale or      yes
           in place of layers                           or 0.05               base_scale
lucidrains layers.i.{0,1}.branch_scale.scale,           1/depth (asked for)   1/sqrt(d)               no
           residual_lerp_scales.i.{0,1}.scale
lucidrains residual_lerp_scales.i.{0,1}                 1                     1                       no
lucidrains the same beside to_patch_embedding           1                     1/sqrt(d)               no
other      attn_alpha, alpha_attention, alpha_A, a_A,   asked for             asked for               asked
           sa_scaler.scale elsewhere; their mlp forms
========== ============================================ ===================== ======================= =====

In lucidrains, 0 is attention and 1 the mlp. The wrappers ``_orig_mod.`` (torch.compile) and ``module.`` (DDP)
may stand in any order before a name. A setting is looked for in the options, in the checkpoint (`model_args`,
the metadata of a safetensors file), and in the config.json beside it.

Only what the alphas need is read: of a safetensors file the header and the alphas' bytes, of a torch file the
pickle and the alphas' pages. The headers are read with all their claims checked; torch files go through
``torch.load(weights_only=True)`` of torch 2.6 or later and nothing else.

References
----------
The nGPT paper, arXiv:2410.01131, section 2.2.2. Code of the families: NVIDIA/ngpt `model.py`,
open-lm-engine/lm-engine `ngpt/layer.py`, allenai/OLMo-core `NormalizedTransformerBlock`, vLLM forks
`NGPTDecoderLayer`, lucidrains/nGPT-pytorch `nGPT.py` and vit-pytorch `normalized_vit.py`. The file format:
huggingface/safetensors, `README.md`.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ngeodesic.offplane import predicted_off_plane_norm

__all__ = ["FAMILIES", "AlphaRecord", "AlphaSummary", "CheckpointError", "read_alphas", "summarize"]

Floats = NDArray[np.float64]
Progress = Callable[[str], None]

FAMILIES = ("nvidia", "lm-engine", "olmo-core", "hf", "megatron", "lucidrains", "other")
"""The families that `read_alphas` knows, as in the table of this module."""

_JSON_CAP = 100_000_000  # bytes of a header, the cap of the safetensors format, and of any other JSON here
_DIM_CAP = 2**20  # entries of an alpha: fifty times the widest model there is


class CheckpointError(ValueError):
    """What is wrong with a checkpoint: the file, the tensor where there is one, the reason."""


class AlphaRecord(NamedTuple):
    """The alphas of one block, as `read_alphas` returns them."""

    layer: int
    block: str
    """"attention" or "mlp"."""
    name: str
    """The tensor, as it is named in the file."""
    alpha: Floats
    """The d effective alphas in float64; of a scalar, one."""
    rule: str
    """How alpha was made from the stored numbers, and where each factor comes from."""


class AlphaSummary(NamedTuple):
    """The alphas of one block in numbers, as `summarize` returns them."""

    layer: int
    block: str
    dim: int
    mean: float
    std: float
    """The population's standard deviation (ddof = 0)."""
    cv: float
    """std/mean; nan, that is undefined, if the mean is 0."""
    off_plane_90: float
    """The off-plane norm that ng-off-plane predicts at theta = 90 degrees."""
    off_plane: float
    """The same at the theta asked for."""


def read_alphas(
    path: str | os.PathLike[str],
    *,
    family: str = "auto",
    depth: int | None = None,
    init_value: float | None = None,
    init_scaling: float | None = None,
    signed: bool | None = None,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> list[AlphaRecord]:
    """Return the effective alphas of every block of a checkpoint, in the order in which the model uses them.

    alpha = stored * init_value / init_scaling, of that the absolute value unless `signed`; the rule of each
    family is in the table of this module.

    Parameters
    ----------
    path
        A .safetensors file; the .index.json of a sharded one, safetensors or torch; a .pt, .pth or .bin file
        of torch; or the directory of a model.
    family
        One of `FAMILIES`, or "auto": by the names of the tensors.
    depth
        Number of layers that the model was built with, for family lucidrains.
    init_value, init_scaling
        The two factors, in place of the family's. The official code calls init_scaling `base_scale`.
    signed
        False for the absolute value, True for none, None for what the family does.
    follow_links
        Follow links that lead out of the model's directory, as in a Hugging Face cache.
    progress
        Called with a line of text before each file is read.

    Returns
    -------
    list of AlphaRecord
        By layer, attention before mlp.

    Raises
    ------
    CheckpointError
        A file that is missing, cut short, malformed or not safe to load; no alphas; alphas of two families;
        a factor that is not known; an alpha that is not finite.
    ValueError
        An option that cannot be.
    ImportError
        A torch file, and no torch.

    Notes
    -----
    Accuracy: exact conversion to float64, then one rounding of init_value/init_scaling and one of the
    product. A model that computes in float32 uses alphas within 2 ulp (float32) of these.
    """
    options = _Options(family, depth, init_value, init_scaling, signed)
    checkpoint = _open_checkpoint(Path(path), _Access(follow_links, progress or (lambda text: None)))
    kind, places = _choose_family(checkpoint, options)
    stored = checkpoint.read([place.name for place in places])
    model = _Model(
        kind,
        checkpoint,
        options,
        layers=1 + max(place.layer for place in places),
        vision=any("to_patch_embedding." in name for name in checkpoint.names),
    )
    return [_record(model, place, stored[place.name]) for place in places]


def summarize(records: Iterable[AlphaRecord], *, theta: float = math.pi / 2) -> list[AlphaSummary]:
    """Return mean, spread and predicted off-plane norm of each record.

    The prediction is ``sqrt(s^2 C / (1 - (mu(1 - mu) - s^2) C))``, C = 2 - 2 cos theta (ng-off-plane), with
    the mean mu and the standard deviation s of the record: what a step with these alphas, independent of the
    state, does in high dimension.

    Parameters
    ----------
    records
        What `read_alphas` returned.
    theta
        Angle between state and block output in radians, for `off_plane`.

    Returns
    -------
    list of AlphaSummary
        One for each record, in their order.

    Raises
    ------
    ValueError
        theta outside [0, pi].
    """
    if not 0 <= theta <= math.pi:
        raise ValueError(f"theta must lie in [0, pi]: got {theta!r}")
    records = list(records)
    with np.errstate(all="ignore"):  # alphas near the largest float64 have no mean: nan
        mean = np.array([np.mean(record.alpha) for record in records])
        std = np.array([np.std(record.alpha) for record in records])
        mean, std = (np.where(np.isfinite(mean + std), numbers, np.nan) for numbers in (mean, std))
        cv = np.where(mean == 0, np.nan, std / mean)
    laws = (predicted_off_plane_norm(mean, std, angle) for angle in (math.pi / 2, theta))
    rows = np.stack([mean, std, cv, *laws], axis=-1).tolist()
    return [
        AlphaSummary(record.layer, record.block, record.alpha.size, *row)
        for record, row in zip(records, rows, strict=True)
    ]


# --- what the caller asks for -------------------------------------------------------------------------------


class _Options:
    """The options of `read_alphas`, checked."""

    def __init__(
        self,
        family: str,
        depth: int | None,
        init_value: float | None,
        init_scaling: float | None,
        signed: bool | None,
    ) -> None:
        if family not in ("auto", *FAMILIES):
            raise ValueError(f"family must be one of auto, {', '.join(FAMILIES)}: got {family!r}")
        if depth is not None and not (_is_integer(depth) and depth > 0):
            raise ValueError(f"depth must be a positive integer: got {depth!r}")
        for name, value in (("init_value", init_value), ("init_scaling", init_scaling)):
            if value is not None and _number(value) is None:
                raise ValueError(f"{name} must be a finite number other than 0: got {value!r}")
        self.family, self.depth, self.signed = family, depth, signed
        self.init_value, self.init_scaling = init_value, init_scaling


class _Access(NamedTuple):
    follow_links: bool
    progress: Progress

    def member(self, folder: Path, name: str) -> Path:
        """The file of this name in the folder, or a CheckpointError if it is a link that leads out of it."""
        path = folder / name
        real = Path(os.path.realpath(path))
        if not self.follow_links and not real.is_relative_to(os.path.realpath(folder)):
            raise CheckpointError(
                f"{path}: a link that leads out of the model's directory; to follow it, set follow_links "
                f"(--follow-links)"
            )
        return path


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> float | None:
    """A setting as a finite float other than 0, or None; the metadata of safetensors are text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | np.number):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number != 0 else None


def _show(value: object) -> str:
    """A name out of a file, quoted, with control characters escaped, and not longer than a line."""
    text = ascii(value[:200] if isinstance(value, str) else value)
    return text if len(text) <= 100 else f"{text[:100]}..."


# --- which family, which tensors ----------------------------------------------------------------------------


class _Place(NamedTuple):
    layer: int
    block: str
    name: str


_WRAPPERS = {"_orig_mod", "module"}
_BLOCKS = {"attn": "attention", "0": "attention", "mlp": "mlp", "1": "mlp"}
_PATTERNS = {
    "nvidia": r"transformer\.h\.([0-9]{1,6})\.(attn|mlp)_alpha",
    "olmo-core": r"blocks\.([0-9]{1,6})\.(attn|mlp)_alpha",
    "hf": r"(?:model\.)?layers\.([0-9]{1,6})\.(attn|mlp)_alpha",
    "megatron": r"(?:[a-z_]+\.){0,3}(?:layers|blocks)\.([0-9]{1,6})\.(attn|mlp)_alpha\.param",
    "lucidrains": r"layers\.([0-9]{1,6})\.([01])\.branch_scale\.scale"
    r"|residual_lerp_scales\.([0-9]{1,6})\.([01])(?:\.scale)?",
    "other": r"(?:[A-Za-z_][A-Za-z_0-9]*\.|[0-9]+\.){0,8}([0-9]{1,6})\.(?:[A-Za-z_]+\.){0,3}"
    r"(?:(attn_alpha|alpha_attn|alpha_attention|alpha_A|a_A|sa_scaler\.scale)"
    r"|(?:mlp|ff|ffn)_alpha|alpha_(?:mlp|ff|M)|a_M|mlp_scaler\.scale)(?:\.param)?",
}
_PATTERNS["lm-engine"] = _PATTERNS["nvidia"]
_COMPILED = {family: re.compile(pattern) for family, pattern in _PATTERNS.items()}


def _locate(family: str, name: str) -> _Place | None:
    """The layer and block of a tensor, if its name is one of the family's for an alpha."""
    found = _COMPILED[family].fullmatch(".".join(p for p in name.split(".") if p not in _WRAPPERS))
    if found is None:
        return None
    if family == "other":
        return _Place(int(found[1]), "attention" if found[2] else "mlp", name)
    layer, block = (group for group in found.groups() if group is not None)
    return _Place(int(layer), _BLOCKS[block], name)


def _choose_family(checkpoint: _Checkpoint, options: _Options) -> tuple[str, list[_Place]]:
    """The family, and its alphas in the order of use."""
    found: dict[str, list[_Place]] = {}
    for name in checkpoint.names:
        order = FAMILIES if options.family == "auto" else (options.family,)
        for family in order:
            place = _locate(family, name)
            if place is not None:
                found.setdefault(family, []).append(place)
                break
    if not found:
        asked = "" if options.family == "auto" else f" of family {options.family}"
        alike = [name for name in checkpoint.names if re.search("alpha|lerp|branch_scale|scaler", name)]
        seen = ", ".join(_show(name) for name in alike[:5]) or f"none of {len(checkpoint.names)} is alike"
        raise CheckpointError(f"{checkpoint.path}: no alphas{asked} found among its tensors ({seen})")
    if len(found) > 1:
        kinds = " and ".join(f"{family} ({_show(places[0].name)})" for family, places in found.items())
        raise CheckpointError(f"{checkpoint.path}: alphas of {kinds}: say which with family (--family)")
    ((family, places),) = found.items()
    places.sort(key=lambda place: (place.layer, place.block))
    for a, b in pairwise(places):
        if a[:2] == b[:2]:
            raise CheckpointError(
                f"{checkpoint.path}: {_show(a.name)} and {_show(b.name)} are both the {a.block} alpha of "
                f"layer {a.layer}"
            )
    if options.family == "auto" and family == "nvidia" and _is_lm_engine(checkpoint, options):
        family = "lm-engine"
    if options.depth is not None and family != "lucidrains":
        raise CheckpointError(
            f"{checkpoint.path}: depth (--depth) has no part in the rule of family {family}; give init_value "
            f"(--init-value)"
        )
    return family, places


def _is_lm_engine(checkpoint: _Checkpoint, options: _Options) -> bool:
    if any(".sequence_mixer." in name or ".mlp_block." in name for name in checkpoint.names):
        return True
    if None not in (options.init_value, options.init_scaling):  # no config.json needed
        return False
    return "base_scale" not in checkpoint.settings and "ngpt_alpha_init_scaling" in checkpoint.config()


# --- the rules ----------------------------------------------------------------------------------------------


class _Factor(NamedTuple):
    value: float
    source: str


class _Model(NamedTuple):
    family: str
    checkpoint: _Checkpoint
    options: _Options
    layers: int
    """The number of layers that the file shows."""
    vision: bool


def _record(model: _Model, place: _Place, stored: Floats) -> AlphaRecord:
    where = f"{model.checkpoint.path}: {_show(place.name)}"
    _refuse_nonfinite(where, "stored", stored)
    rule = _Rule(model, place, stored.size, where)
    value, scaling, signed = rule.init_value(), rule.init_scaling(), rule.signed()
    with np.errstate(all="ignore"):
        alpha = stored * (value.value / scaling.value)
    if not signed:
        alpha = np.abs(alpha)
    _refuse_nonfinite(where, "effective", alpha)
    product = f"stored * {value.value:.8g} / {scaling.value:.8g}"
    text = f"{model.family}: {product if signed else f'|{product}|'}"
    text += f"; {value.value:.8g} is {value.source}; {scaling.value:.8g} is {scaling.source}"
    if model.options.signed is not None:
        text += "; sign by option"
    return AlphaRecord(place.layer, place.block, place.name, alpha, text)


def _refuse_nonfinite(where: str, kind: str, alpha: Floats) -> None:
    bad = ~np.isfinite(alpha)
    if bad.any():
        index = int(np.argmax(bad))
        raise CheckpointError(f"{where}: the {kind} alpha at index {index} is {alpha[index]}")


class _Rule(NamedTuple):
    """How a model makes one alpha of d entries."""

    model: _Model
    place: _Place
    d: int
    where: str

    def init_value(self) -> _Factor:
        if self.model.options.init_value is not None:
            return _Factor(float(self.model.options.init_value), "init_value, as given")
        short = "attn" if self.place.block == "attention" else "mlp"
        default = _Factor(0.05, "the start value in the family's code")
        match self.model.family:
            case "nvidia" | "olmo-core":
                return default
            case "lm-engine":
                return self._setting(f"ngpt_{short}_alpha_init") or default
            case "hf":
                self._check_model_type()
                return self._setting(f"{short}_alpha_init_value") or default
            case "megatron":
                return self._setting("ngpt_alpha_init") or default
            case "lucidrains":
                return _Factor(1.0, "no factor in the family's code") if self._plain else self._over_depth()
        self._ask_all()

    def init_scaling(self) -> _Factor:
        if self.model.options.init_scaling is not None:
            return _Factor(float(self.model.options.init_scaling), "init_scaling, as given")
        match self.model.family:
            case "nvidia":
                return self._setting("base_scale") or self._default_base_scale()
            case "lm-engine":
                return self._setting("ngpt_alpha_init_scaling") or self._ask_config("ngpt_alpha_init_scaling")
            case "hf":
                return self._setting("initializer_range") or self._ask_config("initializer_range")
            case "megatron":
                found = self._setting("ngpt_base_scale") or self._setting("base_scale")
                return found or self._ask("init_scaling", "no base_scale in the checkpoint", "--base-scale")
            case "lucidrains" if self._plain and not self.model.vision:
                return _Factor(1.0, "no factor in the family's code")
            case "olmo-core" | "lucidrains":
                return self._root_of_d()
        self._ask_all()

    def signed(self) -> bool:
        if self.model.options.signed is not None:
            return self.model.options.signed
        if self.model.family == "other":
            self._ask_all()
        return self.model.family == "lucidrains"

    @property
    def _plain(self) -> bool:
        """Whether this is the first form of the lucidrains code, which keeps the alphas in a list."""
        return not self.place.name.endswith(".scale")

    def _default_base_scale(self) -> _Factor:
        width = self._setting("n_embd") or _Factor(float(self.d), "")
        if width.value != 1024:
            why = (
                f"no base_scale in the checkpoint, and the official code has two defaults, 1/sqrt(d), here "
                f"{self.d**-0.5:.9g}, when it trains and 1/sqrt(1024) = 0.03125 when it builds a model"
            )
            self._ask("init_scaling", why, "--base-scale")
        return _Factor(1024**-0.5, "1/sqrt(1024), base_scale by default")

    def _over_depth(self) -> _Factor:
        layers = self.model.layers
        depth = self._setting("depth")
        if self.model.options.depth is not None:
            depth = _Factor(float(self.model.options.depth), "depth, as given")
        if depth is None:
            why = f"1/depth, and the depth is at least {layers}, by the highest layer in the file"
            self._ask("depth", why, "--depth")
        if not depth.value.is_integer() or depth.value < layers:
            raise CheckpointError(
                f"{self.where}: {depth.source}, is {depth.value:g}, but the file has {layers} layers"
            )
        return _Factor(1 / depth.value, f"1/depth, {depth.source}")

    def _root_of_d(self) -> _Factor:
        if self.d == 1:
            self._ask("init_scaling", "1/sqrt(d), and a scalar does not tell d", "--init-scaling")
        return _Factor(1 / math.sqrt(self.d), "1/sqrt(d)")

    def _check_model_type(self) -> None:
        kind = self.model.checkpoint.config().get("model_type")
        if self.model.options.family == "auto" and kind is not None and "ngpt" not in str(kind).lower():
            why = f"config.json says model_type {_show(kind)}, whose factors need not be those of ngpt"
            self._ask("family", why, "--family")

    def _setting(self, name: str) -> _Factor | None:
        """A setting of the checkpoint or of its config.json, or None if neither has it."""
        if name in self.model.checkpoint.settings:
            given, source = self.model.checkpoint.settings[name], f"{name} in the checkpoint"
        else:
            given, source = self.model.checkpoint.config().get(name), f"{name} in config.json"
        if given is None:
            return None
        value = _number(given)
        if value is None:
            raise CheckpointError(
                f"{self.where}: {source} must be a finite number other than 0: got {_show(given)}"
            )
        return _Factor(value, source)

    def _ask(self, what: str, why: str, option: str) -> NoReturn:
        raise CheckpointError(
            f"{self.where}: {what} is not known for family {self.model.family}: {why}. Give {what} ({option})"
        )

    def _ask_config(self, name: str) -> NoReturn:
        self._ask("init_scaling", f"no {name} in a config.json beside the checkpoint", "--init-scaling")

    def _ask_all(self) -> NoReturn:
        raise CheckpointError(
            f"{self.where}: models that name their alphas so differ in their factors. Give init_value, "
            f"init_scaling and signed (--init-value, --init-scaling, --signed or --absolute)"
        )


# --- opening a checkpoint -----------------------------------------------------------------------------------


class _Checkpoint:
    """A checkpoint whose alphas have not been read yet."""

    def __init__(
        self,
        path: Path,
        access: _Access,
        names: Sequence[str],
        settings: Mapping[str, Any],
        read: Callable[[Sequence[str]], dict[str, Floats]],
    ) -> None:
        self.path, self.names, self.settings, self.read = path, names, settings, read
        self._access = access
        self._config: Mapping[str, Any] | None = None

    def config(self) -> Mapping[str, Any]:
        """What the config.json beside the checkpoint says; nothing if there is none."""
        if self._config is None:
            path = self.path.parent / "config.json"
            self._config = {}
            if os.path.lexists(path):
                found = _read_json(self._access.member(path.parent, path.name))
                if not isinstance(found, dict):
                    raise CheckpointError(f"{path}: must hold a JSON object")
                self._config = found
        return self._config


_SHARD = re.compile(r".*-[0-9]{5}-of-(?!00001)[0-9]{5}\.[a-z]+")
_TORCH = (".pt", ".pth", ".bin")
_NOT_WEIGHTS = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state).*")
_USUAL = ("model.safetensors", "pytorch_model.bin", "ckpt.pt")


def _open_checkpoint(path: Path, access: _Access) -> _Checkpoint:
    if os.path.isdir(path):
        path = access.member(path, _choose_file(path))
    elif _SHARD.fullmatch(path.name):
        raise CheckpointError(
            f"{path}: one shard of several; give the .index.json or the directory, lest layers be missing"
        )
    if path.name.endswith(".index.json"):
        return _open_sharded(path, access)
    access.progress(f"reading {path.name}")
    return _open_one(path, access)


def _open_one(path: Path, access: _Access) -> _Checkpoint:
    if path.suffix == ".safetensors":
        return _open_safetensors(path, access)
    if path.suffix in _TORCH:
        return _open_torch(path, access)
    what = "unknown kind of file" if os.path.exists(path) else "no such file"
    raise CheckpointError(
        f"{path}: {what}; give a .safetensors, .index.json, {', '.join(_TORCH)} file or a directory with one"
    )


def _choose_file(folder: Path) -> str:
    """The one file of a model's directory that holds its weights, or lists those that do."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise CheckpointError(f"{folder}: {error.strerror}") from error
    for suffixes in ((".safetensors",), _TORCH):
        files = [n for n in names if n.endswith(suffixes) and not _NOT_WEIGHTS.fullmatch(n)]
        indexes = [n for n in names if n.endswith(tuple(f"{s}.index.json" for s in suffixes))]
        whole = [n for n in files if not _SHARD.fullmatch(n)]
        # an index is the whole model, unless a file claims to be the same
        rivals = {n.removesuffix(".index.json") for n in indexes}.intersection(whole)
        found = [*indexes, *rivals] or [n for n in _USUAL if n in whole][:1] or whole
        if len(found) > 1:
            raise CheckpointError(f"{folder}: holds {', '.join(map(_show, found))}; give the path of one")
        if found:
            return found[0]
        if files:
            raise CheckpointError(f"{folder}: holds shards such as {_show(files[0])} but no .index.json")
    raise CheckpointError(f"{folder}: holds no .safetensors, {', '.join(_TORCH)} file")


def _open_sharded(path: Path, access: _Access) -> _Checkpoint:
    index = _read_json(path)
    shards = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(shards, dict):
        raise CheckpointError(f"{path}: has no weight_map that says which file holds which tensor")
    held: dict[str, list[str]] = {}
    for name, shard in shards.items():
        if not _is_plain_name(shard):
            raise CheckpointError(
                f"{path}: weight_map entry {_show(name)}: {_show(shard)} is not the name of a file beside it"
            )
        held.setdefault(shard, []).append(name)
    files = {shard: access.member(path.parent, shard) for shard in sorted(held)}
    missing = [shard for shard, file in files.items() if not os.path.isfile(file)]
    if missing:
        raise CheckpointError(f"{path}: {len(missing)} of {len(files)} files missing: {', '.join(missing)}")

    def read(names: Sequence[str]) -> dict[str, Floats]:
        needed = sorted({shards[name] for name in names})
        stored: dict[str, Floats] = {}
        for i, shard in enumerate(needed):
            access.progress(f"reading {shard} ({i + 1} of {len(needed)})")
            opened = _open_one(files[shard], access)
            there = set(opened.names)
            for name in held[shard]:
                if name not in there:
                    raise CheckpointError(f"{files[shard]}: {_show(name)}: not here, but {path.name} says so")
            stored |= opened.read([name for name in names if shards[name] == shard])
        return stored

    return _Checkpoint(path, access, list(shards), {}, read)


def _is_plain_name(name: object) -> bool:
    if not isinstance(name, str) or not name.isprintable() or name in ("", ".", ".."):
        return False
    return not any(separator in name for separator in "/\\:")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """A file and its size; any trouble with it is a CheckpointError."""
    try:
        # a pipe or a device could be read for ever
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CheckpointError(f"{path}: not a regular file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise CheckpointError(f"{path}: the file is empty")
            if file.read(24) == b"version https://git-lfs.":
                raise CheckpointError(
                    f"{path}: a Git LFS pointer, not the file itself; fetch it with: git lfs pull"
                )
            file.seek(0)
            yield file, size
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror or error}") from error


def _read_json(path: Path) -> Any:
    with _opened(path) as (file, size):
        if size > _JSON_CAP:
            raise CheckpointError(f"{path}: {size} bytes of JSON, more than {_JSON_CAP}")
        return _parse_json(file.read(_JSON_CAP), str(path))


def _parse_json(data: bytes, where: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise CheckpointError(f"{where}: duplicate key {_show(key)}")
        return found

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except CheckpointError:
        raise
    except RecursionError:
        raise CheckpointError(f"{where}: JSON that is nested too deeply") from None
    except ValueError as error:
        raise CheckpointError(f"{where}: not JSON: {error}") from None


# --- safetensors --------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    dtype: str
    shape: list[int]
    begin: int
    """From the start of the file."""
    end: int


# bits of one number of each dtype of the format
_BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}


def _open_safetensors(path: Path, access: _Access) -> _Checkpoint:
    with _opened(path) as (file, size):
        entries, metadata = _read_header(path, file, size)

    def read(names: Sequence[str]) -> dict[str, Floats]:
        with _opened(path) as (file, _):
            return {name: _read_tensor(path, file, name, entries[name]) for name in names}

    return _Checkpoint(path, access, list(entries), metadata, read)


def _read_header(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, _Entry], Mapping[str, str]]:
    """What the header of a safetensors file says, all its claims checked against the file."""
    if size < 8:
        raise CheckpointError(f"{path}: {size} bytes are too few for a safetensors file")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > min(size - 8, _JSON_CAP):
        raise CheckpointError(
            f"{path}: not a safetensors file, or cut short: a header of {length} bytes in a file of {size} "
            f"(at most {_JSON_CAP})"
        )
    data = file.read(length)
    if len(data) != length or not data.startswith(b"{"):
        raise CheckpointError(f"{path}: not a safetensors file: the header is not a JSON object")
    header = _parse_json(data, f"{path}: header")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise CheckpointError(f"{path}: __metadata__ must map names to strings")
    start = 8 + length
    entries = {name: _entry(path, name, info, start, size) for name, info in header.items()}
    _check_layout(path, entries, start, size)
    return entries, metadata


def _entry(path: Path, name: str, info: Any, start: int, size: int) -> _Entry:
    where = f"{path}: {_show(name)}"
    if not isinstance(info, dict):
        raise CheckpointError(f"{where}: must be an object with dtype, shape and data_offsets")
    dtype, shape, offsets = (info.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str):
        raise CheckpointError(f"{where}: dtype must be text: got {_show(dtype)}")
    if not _are_naturals(shape):
        raise CheckpointError(f"{where}: shape must be a list of integers from 0: got {_show(shape)}")
    if not _are_naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise CheckpointError(
            f"{where}: data_offsets must be two integers, 0 <= begin <= end: got {_show(offsets)}"
        )
    begin, end = offsets
    if end > size - start:
        raise CheckpointError(
            f"{where}: its data end at byte {end} of {size - start}: the file is cut short or its header lies"
        )
    bits = _BITS.get(dtype)
    if bits is not None and _count(shape, size) * bits != (end - begin) * 8:
        raise CheckpointError(f"{where}: {dtype} of shape {_show(shape)} does not fill {end - begin} bytes")
    return _Entry(dtype, shape, start + begin, start + end)


def _are_naturals(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(_is_integer(v) and v >= 0 for v in values)


def _count(shape: Sequence[int], size: int) -> int:
    """The product of the shape, or some number too large for any file of this size."""
    product = 1
    for length in sorted(shape):  # zeros first
        product *= length
        if product > 2 * size:
            break
    return product


def _check_layout(path: Path, entries: Mapping[str, _Entry], start: int, size: int) -> None:
    """The data of the tensors must fill the rest of the file, without gaps and overlaps."""
    reached = start
    for name, entry in sorted(entries.items(), key=lambda item: item[1][2:]):
        if entry.begin != reached:
            what = "overlap those of another tensor" if entry.begin < reached else "leave a gap before them"
            raise CheckpointError(f"{path}: {_show(name)}: its data {what} (byte {entry.begin})")
        reached = entry.end
    if reached != size:
        raise CheckpointError(f"{path}: {size - reached} bytes at its end belong to no tensor")


def _read_tensor(path: Path, file: BinaryIO, name: str, entry: _Entry) -> Floats:
    where = f"{path}: {_show(name)}"
    _check_shape(where, entry.shape)
    decode = _DECODE.get(entry.dtype)
    if decode is None:
        raise CheckpointError(f"{where}: dtype {_show(entry.dtype)} is not one of {', '.join(_DECODE)}")
    file.seek(entry.begin)
    data = file.read(entry.end - entry.begin)
    if len(data) != entry.end - entry.begin:
        raise CheckpointError(f"{where}: the file was cut short while it was read")
    return decode(data)


def _check_shape(where: str, shape: Sequence[int]) -> None:
    size = _count(shape, _DIM_CAP)
    if size == 0 or size > _DIM_CAP or size != max(shape, default=1):
        raise CheckpointError(
            f"{where}: of shape {_show(list(shape))}; an alpha has one entry for each dimension of the state"
        )


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


# --- torch --------------------------------------------------------------------------------------------------


_STATE_DICTS = ("model", "model_state_dict", "state_dict", "module")
_TO_SAFETENSORS = "where it was made, save its tensors alone, with safetensors.torch.save_file"


def _open_torch(path: Path, access: _Access) -> _Checkpoint:
    with _opened(path) as (file, _):
        _check_zip(path, file)
    loaded = _torch_load(path)
    if not isinstance(loaded, Mapping):
        raise CheckpointError(f"{path}: holds a {type(loaded).__name__}, not a dict of tensors")
    state = next((loaded[k] for k in _STATE_DICTS if isinstance(loaded.get(k), Mapping)), loaded)
    settings = loaded.get("model_args")
    names = [name for name in state if isinstance(name, str)]

    def read(names: Sequence[str]) -> dict[str, Floats]:
        return {name: _from_torch(f"{path}: {_show(name)}", state[name]) for name in names}

    return _Checkpoint(path, access, names, settings if isinstance(settings, Mapping) else {}, read)


def _check_zip(path: Path, file: BinaryIO) -> None:
    """Refuse what torch.save does not write: a compressed entry can grow a thousandfold when it is read."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise CheckpointError(
            f"{path}: cut short, or not a file that torch.save of torch 1.6 or later wrote ({error})"
        ) from None
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise CheckpointError(f"{path}: compressed, which torch.save never does")


def _torch_load(path: Path) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f'{path} is a torch file: pip install "ngeodesic-companion[torch]"', name="torch"
        ) from error
    version = re.match(r"([0-9]+)\.([0-9]+)", torch.__version__)
    if version is None or (int(version[1]), int(version[2])) < (2, 6):
        raise CheckpointError(
            f"{path}: torch {torch.__version__} can be made to run code by the file, even with weights_only "
            f"(CVE-2025-32434); upgrade to 2.6 or later, or use a safetensors file"
        )
    with torch.serialization.safe_globals([(_Inert, name) for name in _NUMPY_NAMES]):
        try:
            return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except Exception as error:  # a malformed pickle can make any
            try:
                blocked = torch.serialization.get_unsafe_globals_in_checkpoint(path)
            except Exception:  # no pickle that could be looked into
                blocked = []
            if blocked:
                why = f"needs {', '.join(map(_show, sorted(blocked)[:5]))}, which could run code"
                raise CheckpointError(f"{path}: not loaded: {why}; {_TO_SAFETENSORS}") from None
            reason = _show(str(error).partition("\n")[0])
            raise CheckpointError(
                f"{path}: not loaded: {type(error).__name__}: {reason}; {_TO_SAFETENSORS}"
            ) from None


class _Inert:
    """Stands in a torch file for what NumPy's random state is made of: takes anything and builds nothing.

    An official ckpt.pt holds that state, and nobody needs it here. NumPy's own functions would build arrays
    of objects from the bytes of the file, whose pointers the file may choose.
    """

    def __init__(self, *ignored: Any) -> None: ...

    def __setstate__(self, ignored: Any) -> None: ...


_NUMPY_NAMES = (
    "numpy.core.multiarray._reconstruct",  # NumPy 1
    "numpy._core.multiarray._reconstruct",
    "numpy.ndarray",
    "numpy.dtype",
)


def _from_torch(where: str, tensor: Any) -> Floats:
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise CheckpointError(f"{where}: not a tensor but a {type(tensor).__name__}")
    if not tensor.is_floating_point() or tensor.layout != torch.strided:
        raise CheckpointError(f"{where}: dtype {tensor.dtype}, {tensor.layout}: must be floating and dense")
    if tensor.device.type != "cpu":
        raise CheckpointError(f"{where}: holds no numbers (device {tensor.device})")
    _check_shape(where, tensor.shape)
    return np.asarray(tensor.detach().to(torch.float64).numpy(), dtype=np.float64).reshape(-1)
