"""A stand-in for `typing`, which is slow to load."""

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import *  # noqa: F403
else:

    class _Name:
        def __getitem__(self, _):
            return self

        __call__ = __getitem__

    Any = Callable = Dict = FrozenSet = Iterator = List = Mapping = NoReturn = _Name()
    Optional = Sequence = Set = Tuple = Type = TypeVar = Union = Any

    class NamedTuple(tuple):
        def __init_subclass__(cls):
            cls._fields = tuple(cls.__annotations__)
            cls._field_defaults = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}
            for place, name in enumerate(cls._fields):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, *values, **named):
            members = {**cls._field_defaults, **dict(zip(cls._fields, values)), **named}
            if len(values) > len(cls._fields) or members.keys() != set(cls._fields):
                raise TypeError(f"{cls.__name__} has the members {cls._fields}, some without a default")
            return super().__new__(cls, [members[name] for name in cls._fields])

        def __getnewargs__(self):
            return tuple(self)

        def _asdict(self):
            return dict(zip(self._fields, self))

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})


Environ = Mapping[str, str]
Json = Dict[str, Any]
