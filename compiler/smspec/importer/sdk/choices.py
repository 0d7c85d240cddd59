"""Functions that a program takes out of a list or mapping, without saying which: any of them may be called."""

from __future__ import annotations

from smspec.importer.sdk.callables import SdkClass, is_callable
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
