"""What the pickle in a torch file describes, found without executing any of it.

A pickle is a program for a stack machine, and its instructions can call any function of Python. The machine
here knows the instructions that ``torch.save`` writes in protocols 2 to 5 and calls nothing: of a call that
makes a tensor it notes the arguments, of any other the name. Time and memory are bounded by the length of the
pickle, whatever sizes it asks for.

References
----------
Python's `pickletools`, whose parser is used here. pytorch/pytorch `torch/_utils.py` and
`torch/serialization.py`: the calls that make tensors, the storages they refer to.
"""

from __future__ import annotations

import pickletools
import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

_STEPS = 2**22  # a tensor takes 40
_NAME_CAP = 500  # characters of the name of a function, which is repeated for each call


class _Global(NamedTuple):
    """A function or class of Python that the pickle names."""

    name: str


class Other(NamedTuple):
    """What the pickle makes and nobody needs here."""

    kind: str

    def __repr__(self) -> str:
        return self.kind


class _Storage(NamedTuple):
    dtype: str
    key: str


class Tensor(NamedTuple):
    """A dense tensor as the pickle describes it, nothing of which has been checked."""

    key: str
    """The name of its storage."""
    dtype: str
    offset: Any
    shape: Any
    strides: Any
    lazy: bool
    """Whether a conjugation or a change of sign was put off."""

    def __repr__(self) -> str:  # to show what is in it could take for ever
        return "a tensor"


# what torch.save writes for tensors, for plain values, and for NumPy's random state
_HARMLESS = re.compile(
    r"torch\.(\w*Storage|Tensor|Size|device|per_\w+|b?float\w+|q?u?int\w+|complex\w+|bool|bits\w+)"
    r"|torch\.storage\.\w+|torch\._utils\._rebuild_\w+|torch\._tensor\._rebuild_from_type_v2"
    r"|torch\.nn\.parameter\.Parameter|torch\.serialization\._get_layout|collections\.(OrderedDict|Counter)"
    r"|numpy\.(_core|core)\.(multiarray\._reconstruct|numeric\._frombuffer)|numpy\.(ndarray|dtype)"
    r"|_codecs\.encode|(builtins|__builtin__)\.(frozenset|set|complex|bytearray)",
    re.ASCII,
)
_DTYPES = {
    **dict.fromkeys(("torch.DoubleStorage", "torch.float64"), "F64"),
    **dict.fromkeys(("torch.FloatStorage", "torch.float32"), "F32"),
    **dict.fromkeys(("torch.HalfStorage", "torch.float16"), "F16"),
    **dict.fromkeys(("torch.BFloat16Storage", "torch.bfloat16"), "BF16"),
    "torch.float8_e4m3fn": "F8_E4M3",
    "torch.float8_e5m2": "F8_E5M2",
}


def describe(data: bytes) -> tuple[Any, set[str]]:
    """Return what a pickle describes, and the names in it of code that is not known to be harmless.

    Tensors are `Tensor`, dicts have only the items with text as key, plain values and tuples are themselves,
    all else is `Other`. Raises ValueError for what torch.save does not write.
    """
    machine = _Machine()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of strange escapes in names
            for i, (opcode, argument, _) in enumerate(pickletools.genops(data)):
                if i == _STEPS:
                    raise ValueError(f"more than {_STEPS} steps")
                machine.step(opcode.name, argument)
        return machine.stack[-1], machine.foreign
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


class _Machine:
    """The stack machine of pickle, for the opcodes that torch.save writes, which calls nothing."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.foreign: set[str] = set()

    def step(self, opcode: str, argument: Any) -> None:
        stack = self.stack
        match opcode:
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = stack[-1]
            case "MEMOIZE":
                self.memo[len(self.memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(self.memo[argument])
            case "BINUNICODE" | "SHORT_BINUNICODE" | "SHORT_BINSTRING" | "BINBYTES" | "SHORT_BINBYTES":
                stack.append(argument)
            case "BININT1" | "BININT2" | "BININT" | "LONG1" | "BINFLOAT" | "BYTEARRAY8":
                stack.append(argument)
            case "NONE":
                stack.append(None)
            case "NEWTRUE" | "NEWFALSE":
                stack.append(opcode == "NEWTRUE")
            case "MARK":
                self.marked.append(stack)
                self.stack = []
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                count = int(opcode[-1])
                stack[-count:] = [tuple(stack[-count:])]
            case "TUPLE":
                self._below_mark().append(tuple(stack))
            case "EMPTY_DICT":
                stack.append({})
            case "SETITEM":
                _set_items(stack[-3], stack[-2:])
                del stack[-2:]
            case "SETITEMS":
                _set_items(self._below_mark()[-1], stack)
            case "EMPTY_LIST" | "EMPTY_SET":
                stack.append(Other("a list" if opcode == "EMPTY_LIST" else "a set"))
            case "APPEND" | "BUILD":
                del stack[-1]
            case "APPENDS" | "ADDITEMS":
                self._below_mark()
            case "FROZENSET":
                self._below_mark().append(Other("a set"))
            case "GLOBAL":
                stack.append(self._named(*argument.split(" ", 1)))
            case "STACK_GLOBAL":
                stack[-2:] = [self._named(*stack[-2:])]
            case "REDUCE" | "NEWOBJ":
                arguments = stack.pop()
                stack[-1] = _made(stack[-1], arguments)
            case "BINPERSID":
                _, kind, key, _, _ = stack[-1]
                if not isinstance(kind, _Global) or not isinstance(key, str):
                    raise TypeError("a storage without type or name")
                stack[-1] = _Storage(kind.name, key)
            case "PROTO" | "FRAME" | "STOP":
                pass
            case _:
                raise ValueError(f"opcode {opcode} is not of those for tensors in protocols 2 to 5")

    def _named(self, module: str, name: str) -> _Global:
        if len(module) + len(name) > _NAME_CAP:
            raise ValueError(f"a function whose name has more than {_NAME_CAP} characters")
        full = f"{module}.{name}"
        if not _HARMLESS.fullmatch(full):
            self.foreign.add(full)
        return _Global(full)

    def _below_mark(self) -> list[Any]:
        self.stack = self.marked.pop()
        return self.stack


def _set_items(target: Any, items: Sequence[Any]) -> None:
    # text alone as keys: to hash a tuple that a file has made can take for ever
    if type(target) is dict:
        target.update((k, v) for k, v in zip(items[::2], items[1::2], strict=True) if type(k) is str)


def _made(function: Any, arguments: Any) -> Any:
    """What a call in the pickle would give."""
    name = function.name if isinstance(function, _Global) else "a call"
    match name:
        case "collections.OrderedDict":
            return {}
        case "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor_v3":
            storage, offset, shape, strides, _, _, *rest = arguments[:9]
            if not isinstance(storage, _Storage):
                raise TypeError("a tensor without storage")
            dtype = rest.pop(0).name if name.endswith("v3") else storage.dtype
            return Tensor(storage.key, _DTYPES.get(dtype, dtype), offset, shape, strides, any(rest))
        case "torch._utils._rebuild_parameter" | "torch._utils._rebuild_parameter_with_state":
            return arguments[0]
        case "torch._tensor._rebuild_from_type_v2" if arguments[0] != function:  # a tensor with attributes
            return _made(arguments[0], arguments[2])
    return Other(f"the result of {name}")
