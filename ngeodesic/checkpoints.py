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

Only what the alphas need is read: of a safetensors file the header and the alphas, of a torch file the list
of its entries, the pickle and the alphas. Where the alphas lie and how long they are is checked against the
file; checksums are not. Nothing in a torch file is executed, and torch is not needed: its pickle is followed
step by step, and only tensors, dicts, numbers and text are noted down. One that names any other code than
that of tensors is refused. Tensors are looked for in its dicts `model`, `model_state_dict`, `state_dict` and
`module`, or, if these hold none, in the outermost and every dict in it.

References
----------
The nGPT paper, arXiv:2410.01131, section 2.2.2. Code of the families: NVIDIA/ngpt `model.py`,
open-lm-engine/lm-engine `ngpt/layer.py`, allenai/OLMo-core `NormalizedTransformerBlock`, vLLM forks
`NGPTDecoderLayer`, lucidrains/nGPT-pytorch `nGPT.py` and vit-pytorch `normalized_vit.py`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ngeodesic._tensorfiles import (
    Access,
    CheckpointError,
    Floats,
    choose_file,
    open_contents,
    read_json_object,
    show,
)
from ngeodesic.offplane import predicted_off_plane_norm

__all__ = [
    "FAMILIES",
    "AlphaRecord",
    "AlphaSummary",
    "CheckpointError",
    "missing_blocks",
    "read_alphas",
    "summarize",
]

FAMILIES = ("nvidia", "lm-engine", "olmo-core", "hf", "megatron", "lucidrains", "other")
"""The families that `read_alphas` knows, as in the table of this module."""


class AlphaRecord(NamedTuple):
    """The alphas of one block, as `read_alphas` returns them."""

    layer: int
    """The number of the layer, from 0 as in the file."""
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
    """As in `AlphaRecord`."""
    block: str
    """As in `AlphaRecord`."""
    dim: int
    """How many alphas."""
    mean: float
    """Their mean."""
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
    progress: Callable[[str], None] | None = None,
    on_file: Callable[[Path], None] | None = None,
) -> list[AlphaRecord]:
    """Return the effective alphas of every block of a checkpoint, in the order in which the model uses them.

    alpha = stored * init_value / init_scaling, of that the absolute value unless `signed`; the rule of each
    family is in the table of this module.

    Parameters
    ----------
    path
        A .safetensors file; the .index.json of a sharded one, safetensors or torch; a .pt, .pth or .bin file
        of torch; or the directory of a model, which holds one of these beside the files that an index lists.
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
    on_file
        Called with the path of each file of the checkpoint that is found, the config.json beside it included.

    Returns
    -------
    list of AlphaRecord
        By layer, attention before mlp. A block that the checkpoint lacks has no record: see `missing_blocks`.

    Raises
    ------
    CheckpointError
        A file that is missing, cut short, malformed, larger than a model needs, that names code, or that
        changes while it is read; no alphas; alphas of two families; alphas of different lengths, but for
        family other; a factor that is not known; an alpha that is not finite.
    ValueError
        An option that cannot be, or an empty path.
    TypeError
        signed or follow_links that is no boolean.

    Notes
    -----
    Accuracy: exact conversion to float64, then one rounding of init_value/init_scaling and one of the
    product. A model that computes in float32 uses alphas within 2 ulp (float32) of these.
    """
    options = _checked(_Options(family, depth, init_value, init_scaling, signed))
    if not isinstance(follow_links, bool):
        raise TypeError(f"follow_links must be True or False: got {show(follow_links)}")
    if not os.fspath(path):
        raise ValueError("path must not be empty")
    access = Access(follow_links, progress or (lambda text: None), on_file or (lambda path: None))
    file = choose_file(Path(path), access)
    with open_contents(file, access) as contents:
        kind, places = _choose_family(file, contents.names, options)
        stored, settings = contents.read([place.name for place in places])
        checkpoint = _Checkpoint(file, access, contents.names, settings)
        if options.family == "auto" and kind == "nvidia" and _is_lm_engine(checkpoint, options):
            kind = "lm-engine"
        _check_lengths(file, kind, places, stored)
        layers = 1 + places[-1].layer
        vision = any("to_patch_embedding." in name for name in contents.names)
        rules = (_Rule(kind, checkpoint, options, layers, vision, p, stored[p.name]) for p in places)
        records = [rule.record() for rule in rules]
    access.check()
    return records


def missing_blocks(records: Iterable[AlphaRecord]) -> str:
    """Name the blocks that lack a record, from layer 0 to the highest, such as "attention 3, 5-7; mlp 3".

    A checkpoint may be a part of a model, and some count their layers from 1. No number of another block
    depends on those missing, so that they are named and not refused.

    Parameters
    ----------
    records
        What `read_alphas` returned.

    Returns
    -------
    str
        Empty if each layer has both blocks.
    """
    there = {(record.layer, record.block) for record in records}
    layers = 1 + max((layer for layer, _ in there), default=-1)
    parts = []
    for block in ("attention", "mlp"):
        ends = [-1, *sorted(layer for layer, b in there if b == block), layers]
        gaps = [(a + 1, b - 1) for a, b in pairwise(ends) if b - a > 1]
        if gaps:
            parts.append(f"{block} {', '.join(str(a) if a == b else f'{a}-{b}' for a, b in gaps)}")
    return "; ".join(parts)


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

    Notes
    -----
    Accuracy: mean and std within a few ulp of the largest absolute alpha and of the largest deviation, at any
    scale. The std of a constant alpha is exactly 0. The law is nan for alphas so large that it would
    overflow.
    """
    if not 0 <= theta <= math.pi:
        raise ValueError(f"theta must lie in [0, pi]: got {show(theta)}")
    records = list(records)
    mean, std = np.array([_moments(record.alpha) for record in records]).reshape(-1, 2).T
    with np.errstate(all="ignore"):
        cv = np.where(mean == 0, np.nan, std / mean)
    spread = np.where(np.maximum(np.abs(mean), std) > np.finfo(np.float64).max / 8, np.nan, std)
    laws = (predicted_off_plane_norm(mean, spread, angle) for angle in (math.pi / 2, theta))
    rows = np.stack([mean, std, cv, *laws], axis=-1).tolist()
    return [
        AlphaSummary(record.layer, record.block, record.alpha.size, *row)
        for record, row in zip(records, rows, strict=True)
    ]


def _moments(alpha: Floats) -> tuple[float, float]:
    """Mean and standard deviation, by way of differences from the first entry: exact for a constant."""
    exponent = np.frexp(np.max(np.abs(alpha)))[1]
    scaled = np.ldexp(alpha, -exponent)  # into [-1, 1]: no overflow, and no underflow that counts
    deviation = scaled - scaled[0]
    largest = np.max(np.abs(deviation)) or 1.0
    mean, std = scaled[0] + np.mean(deviation), largest * np.std(deviation / largest)
    return float(np.ldexp(mean, exponent)) + 0.0, float(np.ldexp(std, exponent))  # no -0


# --- what the caller asks for -------------------------------------------------------------------------------


class _Options(NamedTuple):
    """The options of `read_alphas`."""

    family: str
    depth: int | None
    init_value: float | None
    init_scaling: float | None
    signed: bool | None


_LAYERS = 10**6  # as many as the names below can tell


def _checked(options: _Options) -> _Options:
    if options.family not in ("auto", *FAMILIES):
        raise ValueError(f"family must be one of auto, {', '.join(FAMILIES)}: got {show(options.family)}")
    depth = options.depth
    if depth is not None and not (type(depth) is int and 0 < depth <= _LAYERS):
        raise ValueError(f"depth must be an integer from 1 to {_LAYERS}: got {show(depth)}")
    for name in ("init_value", "init_scaling"):
        value = getattr(options, name)
        if value is not None and _number(value) is None:
            raise ValueError(f"{name} must be a finite number other than 0: got {show(value)}")
    if not isinstance(options.signed, bool | None):
        raise TypeError(f"signed must be True, False or None: got {show(options.signed)}")
    return options


def _number(value: object) -> float | None:
    """A setting as a finite float other than 0, or None; the metadata of safetensors are text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | np.integer | np.floating):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number != 0 else None


# --- which family, which tensors ----------------------------------------------------------------------------


class _Checkpoint:
    """What the rules ask of a checkpoint."""

    def __init__(
        self, path: Path, access: Access, names: Sequence[str], settings: Sequence[Mapping[str, Any]]
    ) -> None:
        self.path, self.names, self.settings = path, names, settings
        self._access = access
        self._config: Mapping[str, Any] | None = None
        access.on_file(path.parent / "config.json")

    def config(self) -> Mapping[str, Any]:
        """What the config.json beside the checkpoint says; nothing if there is none."""
        folder, name = self.path.parent, "config.json"
        if self._config is None:
            there = os.path.lexists(folder / name)
            self._config = read_json_object(folder, name, self._access) if there else {}
        return self._config


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
    # the end of a name; the layer is the last number before it
    "other": r"\.(?:(attn_alpha|alpha_attn|alpha_attention|alpha_A|a_A|sa_scaler\.scale)"
    r"|(?:mlp|ff|ffn)_alpha|alpha_(?:mlp|ff|M)|a_M|mlp_scaler\.scale)(?:\.param)?\Z",
}
_PATTERNS["lm-engine"] = _PATTERNS["nvidia"]
_COMPILED = {family: re.compile(pattern) for family, pattern in _PATTERNS.items()}
_ALIKE = re.compile(r"alpha|lerp_scales|branch_scale|scaler|a_A|a_M")  # one of these is in every name above


def _locate(family: str, name: str) -> _Place | None:
    """The layer and block of a tensor, if its name is one of the family's for an alpha."""
    text = ".".join(part for part in name.split(".") if part not in _WRAPPERS)
    if family == "other":
        end = _COMPILED[family].search(text)
        parts = text[: end.start()].split(".") if end else []
        number = next((part for part in reversed(parts) if part.isascii() and part.isdecimal()), "")
        if end is None or not 0 < len(number) <= 6:
            return None
        return _Place(int(number), "attention" if end[1] else "mlp", name)
    found = _COMPILED[family].fullmatch(text)
    if found is None:
        return None
    layer, block = (group for group in found.groups() if group is not None)
    return _Place(int(layer), _BLOCKS[block], name)


def _choose_family(path: Path, names: Sequence[str], options: _Options) -> tuple[str, list[_Place]]:
    """The family, lm-engine apart, and its alphas in the order of use."""
    families = FAMILIES if options.family == "auto" else (options.family,)
    alike = [name for name in names if len(name) < 1000 and _ALIKE.search(name)]
    found: dict[str, list[_Place]] = {}
    for name in alike:
        for family in families:
            place = _locate(family, name)
            if place is not None:
                found.setdefault(family, []).append(place)
                break
    if not found:
        asked = "" if options.family == "auto" else f" of family {options.family}"
        seen = ", ".join(map(show, alike[:5])) or f"none of {len(names)} is alike"
        if names and not alike:
            seen += f", such as {', '.join(map(show, names[:5]))}"
        raise CheckpointError(
            f"{path}: no alphas{asked} found among its tensors ({seen}). Those of no known family must be "
            f"named like h.0.attn_alpha and h.0.mlp_alpha, with the number of the layer"
        )
    if len(found) > 1:
        kinds = " and ".join(f"{family} ({show(places[0].name)})" for family, places in found.items())
        raise CheckpointError(f"{path}: alphas of {kinds}: say which with family (--family)")
    ((family, places),) = found.items()
    places.sort()
    for a, b in pairwise(places):
        if a[:2] == b[:2]:
            raise CheckpointError(
                f"{path}: {show(a.name)} and {show(b.name)} are both the {a.block} alpha of layer {a.layer}"
            )
    if options.depth is not None and family != "lucidrains":
        raise CheckpointError(
            f"{path}: depth (--depth) has no part in the rule of family {family}; give init_value "
            f"(--init-value)"
        )
    return family, places


def _check_lengths(path: Path, family: str, places: Sequence[_Place], stored: Mapping[str, Floats]) -> None:
    """All alphas of a model scale one residual stream; other models may have scalars, or stages."""
    first = places[0].name
    for _, _, name in places:
        if family != "other" and stored[name].size != stored[first].size:
            raise CheckpointError(
                f"{path}: {show(first)} has {stored[first].size} entries and {show(name)} has "
                f"{stored[name].size}, but all those of a model of family {family} have one length"
            )


def _is_lm_engine(checkpoint: _Checkpoint, options: _Options) -> bool:
    if any(".sequence_mixer." in name or ".mlp_block." in name for name in checkpoint.names):
        return True
    if None not in (options.init_value, options.init_scaling):  # no config.json needed
        return False
    if any("base_scale" in settings for settings in checkpoint.settings):
        return False
    return "ngpt_alpha_init_scaling" in checkpoint.config()


# --- the rules ----------------------------------------------------------------------------------------------


class _Factor(NamedTuple):
    value: float
    source: str


# where the families keep their factors; {} is attn or mlp
_INIT_VALUE = {
    "lm-engine": "ngpt_{}_alpha_init",
    "hf": "{}_alpha_init_value",
    "megatron": "ngpt_alpha_init",
}
_INIT_SCALING = {
    "nvidia": ("base_scale",),
    "lm-engine": ("ngpt_alpha_init_scaling",),
    "hf": ("initializer_range",),
    "megatron": ("ngpt_base_scale", "base_scale"),
}


class _Rule(NamedTuple):
    """How the code of a family makes one alpha from the stored numbers."""

    family: str
    checkpoint: _Checkpoint
    options: _Options
    layers: int
    """The number of layers that the file shows."""
    vision: bool
    place: _Place
    stored: Floats

    def record(self) -> AlphaRecord:
        self._refuse_nonfinite("stored", self.stored)
        value, scaling, signed = self._init_value(), self._init_scaling(), self._signed()
        with np.errstate(all="ignore"):
            alpha = self.stored * (value.value / scaling.value)
        if not signed:
            alpha = np.abs(alpha)
        self._refuse_nonfinite("effective", alpha)
        product = f"stored * {value.value:.8g} / {scaling.value:.8g}"
        text = f"{self.family}: {product if signed else f'|{product}|'}"
        text += f"; {value.value:.8g} is {value.source}; {scaling.value:.8g} is {scaling.source}"
        if self.options.signed is not None:
            text += "; sign by option"
        return AlphaRecord(*self.place, alpha, text)

    def _refuse_nonfinite(self, kind: str, alpha: Floats) -> None:
        bad = ~np.isfinite(alpha)
        if bad.any():
            index = int(np.argmax(bad))
            self._refuse(f"the {kind} alpha at index {index} is {alpha[index]}")

    def _init_value(self) -> _Factor:
        if self.options.init_value is not None:
            return _Factor(float(self.options.init_value), "init_value, as given")
        if self.family == "other":
            self._ask_all()
        if self.family == "lucidrains":
            return _Factor(1.0, "no factor in the family's code") if self._plain else self._over_depth()
        if self.family == "hf":
            self._check_model_type()
        short = "attn" if self.place.block == "attention" else "mlp"
        found = self._setting(_INIT_VALUE[self.family].format(short)) if self.family in _INIT_VALUE else None
        return found or _Factor(0.05, "the start value in the family's code")

    def _init_scaling(self) -> _Factor:
        if self.options.init_scaling is not None:
            return _Factor(float(self.options.init_scaling), "init_scaling, as given")
        names = _INIT_SCALING.get(self.family, ())
        for name in names:
            found = self._setting(name)
            if found:
                return found
        match self.family:
            case "nvidia":
                return self._default_base_scale()
            case "megatron":
                self._ask("init_scaling", "no base_scale in the checkpoint", "--base-scale")
            case "lm-engine" | "hf":
                why = f"no {names[0]} in a config.json beside the checkpoint"
                self._ask("init_scaling", why, "--init-scaling")
            case "lucidrains" if self._plain and not self.vision:
                return _Factor(1.0, "no factor in the family's code")
            case "olmo-core" | "lucidrains":
                return self._root_of_d()
        self._ask_all()

    def _signed(self) -> bool:
        if self.options.signed is not None:
            return self.options.signed
        if self.family == "other":
            self._ask_all()
        return self.family == "lucidrains"

    @property
    def _plain(self) -> bool:
        """Whether this is the first form of the lucidrains code, which keeps the alphas in a list."""
        return not self.place.name.endswith(".scale")

    def _default_base_scale(self) -> _Factor:
        d = self.stored.size
        width = self._setting("n_embd") or _Factor(float(d), "")
        if width.value != 1024:
            why = (
                f"no base_scale in the checkpoint, and the official code has two defaults, 1/sqrt(d), here "
                f"{d**-0.5:.9g}, when it trains and 1/sqrt(1024) = 0.03125 when it builds a model"
            )
            self._ask("init_scaling", why, "--base-scale")
        return _Factor(1024**-0.5, "1/sqrt(1024), base_scale by default")

    def _over_depth(self) -> _Factor:
        depth = self._setting("depth")
        if self.options.depth is not None:
            depth = _Factor(float(self.options.depth), "depth, as given")
        if depth is None:
            why = f"1/depth, and the depth is at least {self.layers}, by the highest layer in the file"
            self._ask("depth", why, "--depth")
        if not depth.value.is_integer() or depth.value < self.layers:
            self._refuse(f"{depth.source}, is {depth.value:g}, but the file has {self.layers} layers")
        return _Factor(1 / depth.value, f"1/depth, {depth.source}")

    def _root_of_d(self) -> _Factor:
        if self.stored.size == 1:
            self._ask("init_scaling", "1/sqrt(d), and a scalar does not tell d", "--init-scaling")
        return _Factor(1 / math.sqrt(self.stored.size), "1/sqrt(d)")

    def _check_model_type(self) -> None:
        kind = self.checkpoint.config().get("model_type")
        if self.options.family == "auto" and kind is not None and "ngpt" not in show(kind).lower():
            self._refuse(
                f"config.json says model_type {show(kind)}, whose factors need not be those of family hf. "
                f"Give family (--family hf) if they are"
            )

    def _setting(self, name: str) -> _Factor | None:
        """A setting of the checkpoint or of its config.json, or None if neither has it."""
        given = [s[name] for s in self.checkpoint.settings if s.get(name) is not None]
        source = f"{name} in the checkpoint"
        if not given and self.checkpoint.config().get(name) is not None:
            given, source = [self.checkpoint.config()[name]], f"{name} in config.json"
        values = {_number(value) for value in given}
        value = values.pop() if values else None
        if given and (value is None or values):
            self._refuse(
                f"{source} must be a finite number other than 0 and the same in each file: got "
                f"{', '.join(map(show, given[:5]))}. An option replaces it"
            )
        return None if value is None else _Factor(value, source)

    def _ask(self, what: str, why: str, option: str) -> NoReturn:
        self._refuse(f"{what} is not known for family {self.family}: {why}. Give {what} ({option})")

    def _ask_all(self) -> NoReturn:
        self._refuse(
            "models that name their alphas so differ in their factors. Give init_value, init_scaling and "
            "signed (--init-value, --init-scaling, --signed or --absolute)"
        )

    def _refuse(self, why: str) -> NoReturn:
        raise CheckpointError(f"{self.checkpoint.path}: {show(self.place.name)}: {why}")
