"""Values: frozen dataclasses that cost nothing until one is created, and a memory of what was found about them.

A command imports some seventy of them and creates few. The standard library generates and compiles five methods for
each when it is declared, and loads `inspect` to do so: together half of the time that `smspec validate` took. Here a
class is declared with shared methods, and its ``__init__`` is compiled when more than a few values are created. Type
checkers see the standard library's own, and `dataclasses.fields`, `dataclasses.replace`, and `inspect.signature` work.

`ByContent` and `ByIdentity` remember results for values that the jobs of a repository share.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

__all__ = ["asdict", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, replace
else:

    class _Factory:
        """The default of a field that is created for each value."""

        __slots__ = ("make",)

        def __init__(self, make):
            self.make = make

    class _Twin:
        """An attribute of the standard library's dataclass of the same declaration, created on first access."""

        __slots__ = ("_name", "_twins")

        def __init__(self, name):
            self._name = name
            self._twins = {}

        def __get__(self, instance, owner):
            if owner not in self._twins:
                self._twins[owner] = _standard(owner)
            return getattr(self._twins[owner], self._name)

    def dataclass(*, frozen, slots, kw_only=False):
        """Return the decorator that makes a class a frozen dataclass with slots; there is no other kind here."""
        assert frozen and slots

        def declare(cls):
            members = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
            names = tuple(cls.__annotations__)
            members["__frozen__"] = names, {name: members.pop(name) for name in names if name in members}, kw_only
            members["__slots__"] = names
            members["__match_args__"] = () if kw_only else names
            return type(cls.__name__, cls.__bases__, {**_MEMBERS, **members})

        return declare

    def field(*, default=None, default_factory=None):
        """Return the default of a field; ``default_factory`` creates it for each value."""
        return default if default_factory is None else _Factory(default_factory)

    def fields(declared):
        """Return the fields of a dataclass or of a value of one, as in the standard library."""
        return tuple(declared.__dataclass_fields__.values())

    def asdict(value):
        """Return the members of a value by name, as in the standard library where no member is a dataclass."""
        return {name: getattr(value, name) for name in value.__slots__}

    def replace(value, /, **changes):
        """Return the same value with ``changes``."""
        for name in value.__slots__:
            if name not in changes:
                changes[name] = getattr(value, name)
        return type(value)(**changes)

    def _first(self, *args, **kwargs):
        """Create one of the first values of a class; after them, compile the class's own ``__init__`` and use that."""
        cls = type(self)
        made = _MADE[cls] = _MADE.get(cls, 0) + 1
        if made > _FEW or not _is_set(self, cls, args, kwargs):
            _compile(cls)
            self.__init__(*args, **kwargs)

    def _is_set(self, cls, args, kwargs):
        """Set the members of a value; False for arguments that the compiled ``__init__`` rejects."""
        names, defaults, kw_only = cls.__frozen__
        if len(args) > len(names) or (args and (kw_only or not kwargs.keys().isdisjoint(names[: len(args)]))):
            return False
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for name in names:
            if name not in given:
                if name not in defaults:
                    return False
                default = defaults[name]
                given[name] = default.make() if isinstance(default, _Factory) else default
            _PUT(self, name, given[name])
        return len(given) == len(names)

    _MADE = {}
    _FEW = 24
    """To compile it takes as long as to create so many values without it."""
    _PUT = object.__setattr__

    def _compile(cls):
        names, defaults, kw_only = cls.__frozen__
        scope = {}
        parameters, lines = ["*"] if kw_only and names else [], []
        for name in names:
            if name in defaults:
                default = scope[f"default_{name}"] = defaults[name]
                parameters.append(f"{name}=default_{name}")
                if isinstance(default, _Factory):
                    lines.append(f" if {name} is default_{name}: {name} = default_{name}.make()")
            else:
                parameters.append(name)
            scope[f"set_{name}"] = getattr(cls, name).__set__  # the slot's own: it need not be looked up by name
            lines.append(f" set_{name}(self, {name})")
        exec(f"def __init__(self, {', '.join(parameters)}):\n" + ("\n".join(lines) or " pass"), scope)
        cls.__init__ = scope["__init__"]

    def _refuse(self, name, *_value):
        from dataclasses import FrozenInstanceError  # imported late: only a bug in smspec reaches this

        raise FrozenInstanceError(f"cannot change `{name}` of a {type(self).__name__}")

    def _values(self):
        return tuple([getattr(self, name) for name in self.__slots__])

    def _eq(self, other):
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__qualname__}({shown})"

    def _reduce(self):
        return _remade, (type(self), _values(self))

    _SETTERS = {}

    def _remade(cls, values):
        if cls not in _SETTERS:
            _SETTERS[cls] = [getattr(cls, name).__set__ for name in cls.__slots__]
        value = object.__new__(cls)
        for put, member in zip(_SETTERS[cls], values, strict=True):
            put(value, member)
        return value

    def _standard(cls):
        import dataclasses  # imported late: only tests and tools use it

        names, defaults, kw_only = cls.__frozen__
        members = {
            name: dataclasses.field(default_factory=value.make) if isinstance(value, _Factory) else value
            for name, value in defaults.items()
        }
        members |= {
            "__annotations__": {name: cls.__annotations__[name] for name in names},
            "__module__": cls.__module__,
        }
        twin = dataclasses.dataclass(frozen=True, kw_only=kw_only)(type(cls.__name__, (), members))
        import inspect

        twin.__signature__ = inspect.signature(twin)
        return twin

    _MEMBERS = {
        "__init__": _first,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__eq__": _eq,
        "__hash__": _hash,
        "__repr__": _repr,
        "__reduce__": _reduce,
        "__dataclass_fields__": _Twin("__dataclass_fields__"),
        "__signature__": _Twin("__signature__"),
    }


Value = TypeVar("Value")

Found = TypeVar("Found")

_LARGEST = 4096

_MOST = 4096

_MOST_SHARED = 128


class ByContent(Generic[Found]):
    """What was found about small values of plain data. It must depend on nothing except the value and the ``subject``.

    It forgets everything after some thousand values, so that it stays small.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, bytes], Found] = {}

    def of(self, subject: Hashable, value: Value, find: Callable[[Value], Found]) -> Found:
        """Return what ``find`` returns for a value; of an equal value, the object that it returned then."""
        # The bytes of version 2 depend on the content alone. Unlike `==`, they distinguish 1, 1.0, and true.
        content = marshal.dumps(value, 2)  # type: ignore[arg-type]  # it is plain data
        key = subject, content
        if key in self._known:
            return self._known[key]
        found = find(value)
        if len(content) <= _LARGEST:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = found
        return found


class ByIdentity(Generic[Found]):
    """What was found about objects that never change. It must depend on nothing except them and the ``subject``.

    It keeps the objects, so that no other one gets the identity of one of them, and forgets those that some hundred
    others were asked about since: what one job alone has would soon take more time in memory than it saves.
    """

    __slots__ = ("_before", "_known")

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], tuple[Found, tuple[object, ...]]] = {}
        self._before: dict[tuple[Hashable, ...], tuple[Found, tuple[object, ...]]] = {}

    def of(self, subject: Hashable, value: object, find: Callable[[], Found]) -> Found:
        """Return what ``find`` returns about an object; when asked again, the object that it returned then."""
        # This runs a hundred times for each job.
        key = subject, id(value)
        known = self._known.get(key)
        return known[0] if known is not None else self._find(key, (value,), find)

    def of_all(self, subject: Hashable, objects: tuple[object, ...], find: Callable[[], Found]) -> Found:
        """Return what ``find`` returns about several objects, as `of` does."""
        key = (subject, *map(id, objects))
        known = self._known.get(key)
        return known[0] if known is not None else self._find(key, objects, find)

    def _find(self, key: tuple[Hashable, ...], objects: tuple[object, ...], find: Callable[[], Found]) -> Found:
        known = self._before.get(key) or (find(), objects)
        if len(self._known) >= _MOST_SHARED:
            self._before, self._known = self._known, {}
        self._known[key] = known
        return known[0]
