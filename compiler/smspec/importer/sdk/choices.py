"""Functions of which a call does not show what it runs: one out of a list or mapping, or none, as a result is kept."""

from __future__ import annotations

from smspec.importer.sdk.callables import SdkClass, SubclassInstance, is_callable, is_decorated
from smspec.importer.sdk.sdk_facts import is_job_class
from smspec.importer.sdk.values import Entries, SdkItems, applied, is_constant, lifted
from smspec.script.follow import values as followed
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.values import UNKNOWN, Bound, Named

_MOST = 50
_CHOOSERS = frozenset(("random.choice", "next", "iter", "secrets.choice", "numpy.random.choice"))
_TAKERS = frozenset(("get", "pop", "popitem", "popleft", "values", "setdefault"))


class OneOf(followed.Value):
    """One of several functions, each of which is followed where it is called."""

    may_be_none = False

    def __init__(self, functions: list[followed.Value]) -> None:
        self.functions = functions

    def truth(self) -> bool:
        return True

    def escape(self) -> None:
        for function in self.functions:
            function.escape()

    def call(self, call: Call) -> followed.Value:
        if len(self.functions) > 1 and any(isinstance(each, Named | SdkClass) for each in self.functions):
            return call.unknown_result()  # it makes an object of one of these classes
        results: list[followed.Value] = []
        for function in self.functions:
            with call.run.out_of_order():
                results.append(applied(function, call))
            if isinstance(function, Function) and len(self.functions) > 1:
                call.run.domain.reached(call.run, function.node, function.frame)
        return results[0] if len(results) == 1 else UNKNOWN


class Cached(followed.Value):
    """A function below `functools.cache`: the same arguments have the same result, without another run."""

    may_be_none = False

    def __init__(self, function: Function) -> None:
        self._function = function
        self._results: dict[object, followed.Value] = {}
        self._is_doubtful = False

    def truth(self) -> bool:
        return True

    def escape(self) -> None:
        self._is_doubtful = True
        self._function.escape()

    def call(self, call: Call) -> followed.Value:
        words = (*call.arguments, *call.keywords.values())
        key = (len(call.arguments), *call.keywords, *(word.constant() for word in words))
        is_known = call.is_whole and call.run.is_certain and all(is_constant(each) for each in key)
        if is_known and key in self._results and not self._is_doubtful:
            return self._results[key]
        if self._is_doubtful or (not is_known and self._results):
            return call.unknown_result()
        found = self._function.call(call)
        self._is_doubtful = not is_known
        self._results[key if is_known else ()] = found
        return found

    def method(self, name: str, call: Call) -> followed.Value:
        self._is_doubtful |= name != "cache_clear" or not call.run.is_certain
        if not self._is_doubtful:
            self._results.clear()
        return UNKNOWN


def kept(value: followed.Value, name: str, function: Function, owner: SubclassInstance) -> followed.Value:
    """Return the value of a property; the object has that of a `cached_property` from then on."""
    if is_decorated(function, "cached_property"):
        owner.set_attribute(name, value)
    return value


def one_of(owner: followed.Value) -> OneOf | None:
    """Return one of the functions in a list or mapping; None if there is none."""
    if isinstance(owner, OneOf):
        return owner
    values = map(lifted, owner.members().values()) if isinstance(owner, SdkItems | Entries) else owner.items() or ()
    functions = [value for value in values if _is_function(value)][:_MOST]
    return OneOf(functions) if functions else None


def item_of_one(owner: followed.Value, key: followed.Value) -> OneOf | None:
    """Return what is under a key that is not known, or in a collection that other code may have changed."""
    is_open = not isinstance(owner, SdkItems | Entries) or not owner.is_known
    return one_of(owner) if is_open or not is_constant(key.constant()) else None


def chosen(name: str, call: Call) -> OneOf | None:
    """Return what a function such as `random.choice` takes out of a list of functions."""
    return one_of(call.arguments[0]) if name in _CHOOSERS and call.arguments else None


def taken_out(owner: followed.Value, name: str, call: Call) -> followed.Value | None:
    """Return what a method such as `pop` takes out of a list or mapping of functions; None for all others."""
    if name not in _TAKERS or not isinstance(owner, SdkItems | Entries):
        return None
    index = call.arguments[0].constant() if call.arguments else -1
    if isinstance(owner, SdkItems):
        is_there = isinstance(index, int) and -len(owner.values) <= index < len(owner.values)
        if name == "pop" and owner.is_known and not owner.is_fixed and is_there and isinstance(index, int):
            return lifted(owner.values.pop(index))
    elif owner.is_known and (name == "values" or is_constant(index)):
        return None
    found = one_of(owner)
    if found is not None and name not in ("get", "values"):
        owner.is_known = False
    return found


def _is_function(value: followed.Value) -> bool:
    return is_callable(value) or isinstance(value, Bound) or (isinstance(value, Named) and is_job_class(value.name))
