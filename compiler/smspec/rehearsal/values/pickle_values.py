"""Pickled objects, read without making them: what would call a function or create an object becomes a list.

Pickles of equal objects have different bytes if one of them was itself loaded from a pickle: which strings are the
same object differs, and so does what refers to what. Therefore values are compared, not bytes.
"""

from __future__ import annotations

import io
import math
import pickletools
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from smspec.rehearsal.values.file_values import numbers
from smspec.rehearsal.values.leaf import Array, Leaves, Unreadable, flattened

_STORAGES = {
    "FloatStorage": "f4",
    "DoubleStorage": "f8",
    "HalfStorage": "f2",
    "BFloat16Storage": "bf16",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "b1",
}
_SIZES = {kind: 2 if kind == "bf16" else int(kind[1:]) for kind in _STORAGES.values()}
_MOST_VALUES, _MOST_LEVELS = 5_000_000, 200
_MAPPINGS = ("collections.OrderedDict", "collections.defaultdict", "collections.Counter")
_SETS = {f"{module}.{kind}" for module in ("builtins", "__builtin__") for kind in ("set", "frozenset")}
"""Before protocol 4 they are calls with a list, whose order is that of hashes."""

_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_SET": list,
}
_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}


class _Mark:
    pass


class _Global:
    def __init__(self, name: str) -> None:
        self.name = name


class _Made:
    """An object: the function that would make it with its arguments, and the state that it would get."""

    def __init__(self, name: str, arguments: object) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None
        self.items: list[object] = []
        self.pairs: dict[object, object] = {}


def decode(data: bytes, storages: Mapping[str, bytes] | None = None) -> Leaves:
    """Return the values of a pickled object, none if it cannot be read. ``storages``: the tensors of torch."""
    if data[:1] != b"\x80":
        raise Unreadable
    file = io.BytesIO(data)
    machine = _Machine(storages or {})
    try:
        for opcode, argument, _ in pickletools.genops(file):
            machine.step(opcode.name, argument)
            if opcode.name == "BUILD":
                machine.read_array(file)
        if file.read(1):
            raise ValueError("more follows")
        return dict(flattened(_Values().plain(machine.stack[-1])))
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        return {}  # its bytes say nothing


class _Machine:
    """The machine of pickle without its power: see `pickletools` for what an operation does."""

    def __init__(self, storages: Mapping[str, bytes]) -> None:
        self.stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._storages = storages

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _VALUES:
            stack.append(argument)
        elif name == "MARK":
            stack.append(_Mark())
        elif name in ("PROTO", "FRAME", "STOP"):
            pass
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            self._memo[int(argument)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(self._memo[int(argument)])
        elif name in ("TUPLE", "LIST", "FROZENSET"):
            items = self._marked()
            stack.append(tuple(items) if name == "TUPLE" else items if name == "LIST" else _sorted(items))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            count = int(name[-1])
            items, stack[-count:] = stack[-count:], []
            stack.append(tuple(items))
        elif name == "DICT":
            items = self._marked()
            stack.append(dict(zip(map(_key, items[::2]), items[1::2], strict=True)))
        elif name in ("APPEND", "APPENDS", "ADDITEMS"):
            items = [stack.pop()] if name == "APPEND" else self._marked()
            _items_of(stack[-1]).extend(items if name != "ADDITEMS" else _sorted(items))
        elif name in ("SETITEM", "SETITEMS"):
            items = [stack.pop(-2), stack.pop()] if name == "SETITEM" else self._marked()
            _pairs_of(stack[-1]).update(zip(map(_key, items[::2]), items[1::2], strict=True))
        elif name == "STACK_GLOBAL":
            attribute, module = stack.pop(), stack.pop()
            stack.append(_Global(f"{module}.{attribute}"))
        elif name == "GLOBAL":
            stack.append(_Global(argument.replace(" ", ".")))
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, made = stack.pop(), stack.pop()
            stack.append(_Made(_name(made), arguments))
        elif name == "NEWOBJ_EX":
            keywords, arguments, made = stack.pop(), stack.pop(), stack.pop()
            stack.append(_Made(_name(made), [arguments, keywords]))
        elif name == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], _Made):
                stack[-1].state = state
        elif name == "BINPERSID":
            stack.append(self._storage(stack.pop()))
        elif name == "POP":
            stack.pop()
        elif name == "POP_MARK":
            self._marked()
        elif name == "DUP":
            stack.append(stack[-1])
        else:
            raise ValueError(name)

    def read_array(self, file: BinaryIO) -> None:
        """Read the bytes of an array, which joblib writes after the object that describes it."""
        described = self.stack[-1]
        if not isinstance(described, _Made) or not described.name.endswith(".NumpyArrayWrapper"):
            return
        state = described.state
        if state.get("numpy_array_alignment_bytes") is not None:
            file.read(file.read(1)[0])
        kind = _type_of(state["dtype"])
        size = math.prod(map(int, state["shape"])) * int(kind.lstrip("<>|=")[1:])
        data = file.read(size)
        if len(data) != size:
            raise ValueError("cut")
        described.state = numbers(kind, tuple(map(int, state["shape"])), data)

    def _marked(self) -> list[Any]:
        items = []
        while not isinstance(self.stack[-1], _Mark):
            items.append(self.stack.pop())
        self.stack.pop()
        return items[::-1]

    def _storage(self, words: Any) -> object:
        """Return a storage of torch: ("storage", type, key, place, count)."""
        _, kind, key, *_ = words
        kind = _name(kind).rpartition(".")[2]
        return Array(_STORAGES.get(kind, kind), (), self._storages[str(key)])


def _name(made: Any) -> str:
    return made.name if isinstance(made, _Global) else type(made).__name__


def _key(key: object) -> str:
    return key if isinstance(key, str) else repr(key) if isinstance(key, int | float | bytes | tuple) else str(key)


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=repr)


def _items_of(target: Any) -> list[Any]:
    items: list[Any] = target.items if isinstance(target, _Made) else target
    return items


def _pairs_of(target: Any) -> dict[Any, Any]:
    pairs: dict[Any, Any] = target.pairs if isinstance(target, _Made) else target
    return pairs


class _Values:
    """Makes nested lists and mappings of numbers, texts, and arrays; of an object in itself, only a mark."""

    def __init__(self) -> None:
        self._above: set[int] = set()
        self._count = 0

    def plain(self, value: Any) -> object:
        self._count += 1
        if self._count > _MOST_VALUES or len(self._above) > _MOST_LEVELS:
            raise ValueError("too many values")  # a small pickle can refer to itself again and again
        if isinstance(value, bytes | bytearray):
            return Array("u1", (len(value),), bytes(value))
        if isinstance(value, _Global):
            return value.name
        if not isinstance(value, dict | list | tuple | _Made):
            return value
        if id(value) in self._above:
            return "itself"
        self._above.add(id(value))
        try:
            if isinstance(value, dict):
                return {key: self.plain(item) for key, item in value.items()}
            return self._object(value) if isinstance(value, _Made) else [self.plain(item) for item in value]
        finally:
            self._above.discard(id(value))

    def _object(self, made: _Made) -> object:
        array = _array(made)
        if array is not None:
            return array
        if made.name in _SETS and isinstance(made.arguments, tuple) and made.arguments:
            return self.plain(_sorted(made.arguments[0]))
        if made.name == "torch._utils._rebuild_parameter" and isinstance(made.arguments, tuple):
            return self.plain(made.arguments[0])
        pairs = {str(key): self.plain(item) for key, item in made.pairs.items()}
        if made.name in _MAPPINGS:
            return pairs
        parts: dict[str, object] = {}
        if made.arguments not in ((), None):
            parts["arguments"] = self.plain(made.arguments)
        state = self.plain(made.state)
        if isinstance(state, dict):
            parts |= {str(key): item for key, item in state.items()}
        elif state is not None:
            parts["state"] = state
        if made.items:
            parts["items"] = self.plain(made.items)
        return {**parts, **pairs} or made.name


def _array(made: _Made) -> Array | None:
    """Return the array of numpy or the tensor of torch that an object is."""
    arguments = made.arguments
    if isinstance(made.state, Array):
        return made.state
    if made.name.startswith("torch._utils._rebuild_tensor") and isinstance(arguments, tuple):
        storage, offset, shape, strides = arguments[:4]
        if isinstance(storage, Array):
            return _tensor(storage, offset, shape, strides)
    if made.name.endswith("multiarray._reconstruct") and isinstance(made.state, tuple) and len(made.state) == 5:
        _, shape, kind, _, data = made.state
        if isinstance(data, bytes | bytearray):
            return numbers(_type_of(kind), tuple(shape), bytes(data))
    if made.name.endswith("multiarray.scalar") and isinstance(arguments, tuple) and len(arguments) == 2:
        kind, data = arguments
        if isinstance(data, bytes | bytearray):
            return numbers(_type_of(kind), (), bytes(data))
    return None


def _type_of(made: Any) -> str:
    """Return the type of an array of numpy with its byte order; it is pickled as a call of `numpy.dtype`."""
    word = made.arguments[0]
    if not isinstance(word, str) or "O" in word or "V" in word:
        raise ValueError("no numbers")
    return f"{made.state[1] if isinstance(made.state, tuple) else '<'}{word}"


def _tensor(storage: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """Return the part of a storage that a tensor is; of one that is not contiguous, the whole storage."""
    contiguous: list[int] = []
    step = 1
    for length in reversed(shape):
        contiguous.insert(0, step)
        step *= length
    size = _SIZES.get(storage.kind)
    if size is None or any(a != b and length > 1 for a, b, length in zip(strides, contiguous, shape, strict=True)):
        return Array(storage.kind, tuple(shape), storage.data)
    return Array(storage.kind, tuple(shape), storage.data[offset * size : (offset + step) * size])
