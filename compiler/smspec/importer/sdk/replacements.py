"""What a program sets in another way than `object.name = value`, and what of the SDK it replaces."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec.importer.sdk.callables import HOOKS, is_callable
from smspec.importer.sdk.sdk_facts import SDK, TRAINERS, is_job_class
from smspec.importer.sdk.values import Collection, Entries, SdkInstance, SdkUnknown, lifted
from smspec.script.follow import values as followed
from smspec.script.follow.values import UNKNOWN, Bound, Known, Named

if TYPE_CHECKING:
    from smspec.script.follow.frames import Call
    from smspec.source import Span

_SETTERS = frozenset(("setattr", "__setattr__", "delattr", "__delattr__"))
_PATCHES = _SETTERS | {"patch", "object", "multiple"}
"""Functions, of `unittest.mock` and pytest too, that replace what their first argument has or names."""

_PACKAGES = (f"{SDK}.", f"{SDK}_core.", "boto3.", "botocore.")
_STARTERS = frozenset(("fit", "train", "create_training_job"))
_CONFIG = "sagemaker_config"
_OF_A_SESSION = frozenset(("train", "expand_role", "_get_train_request", "_intercept_create_request"))
_READS = frozenset(("get", "keys", "values", "items", "copy", "__contains__", "__getitem__", "__len__", "__iter__"))


class AttributesOf(followed.Value):
    """``vars(estimator)``, or its ``__dict__``."""

    may_be_none = False

    def __init__(self, instance: SdkInstance) -> None:
        self._instance = instance

    def escape(self) -> None:
        self._instance.escape()

    def look_through(self) -> None:
        """Let other code read it; that changes nothing."""

    def item(self, key: followed.Value, _place: Span) -> followed.Value:
        name = key.constant()
        return self._instance.attribute(name) if isinstance(name, str) else UNKNOWN

    def set_item(self, key: followed.Value, value: followed.Value) -> None:
        name = key.constant()
        if isinstance(name, str):
            self._instance.set_attribute(name, value)
        else:
            self._instance.escape()

    def method(self, name: str, call: Call) -> followed.Value:
        given = call.arguments[0] if call.arguments else Entries({})
        if name == "update" and call.is_whole and isinstance(given, Entries) and given.is_known:
            for key, value in (*given.values.items(), *call.keywords.items()):
                self._instance.set_attribute(str(key), lifted(value))
            return Known(None)
        if name not in _READS:
            self._instance.escape()
        return UNKNOWN


def set_by_name(name: str, owner: followed.Value | None, given: tuple[followed.Value, ...], call: Call) -> bool:
    """Follow `setattr` and the like for an object of the SDK; return whether it is one, and all is known."""
    word = given[0].constant() if given else ...
    last = name.rpartition(".")[2]
    if last not in _SETTERS or not isinstance(owner, SdkInstance) or not isinstance(word, str) or not call.is_whole:
        return False
    if last in ("setattr", "__setattr__") and len(given) == 2:
        owner.set_attribute(word, given[1])
        return True
    return False


def set_in_another_way(name: str, call: Call) -> followed.Value | None:
    """Return the result of `vars` or `setattr` of an object of the SDK; None for all others."""
    first = call.arguments[0] if call.arguments else None
    if name == "vars" and isinstance(first, SdkInstance):
        return AttributesOf(first)
    return Known(None) if set_by_name(name, first, call.arguments[1:], call) else None


def replaced_attribute(owner: followed.Value, name: str, value: followed.Value | None = None) -> str:
    """Return what of the SDK a program replaces by setting an attribute, as it names that; empty if nothing."""
    if isinstance(owner, SdkUnknown) and owner.function is not None:
        owner = owner.function
    if isinstance(owner, Named):
        full = f"{owner.name}.{name}"
        is_of_others = not f"{full}.".startswith(_PACKAGES)
        return "" if is_of_others or "logg" in full.lower() or name == "__version__" else full
    if not isinstance(owner, SdkInstance) or not owner.kind or owner.kind.startswith("class "):
        return ""  # an object of a class of the program
    is_method = name in _STARTERS or (name in HOOKS and owner.kind.rpartition(".")[2] not in TRAINERS)
    return f"{owner.name or 'estimator'}.{name}" if is_method or is_callable(value) else ""


def replaced_by(name: str, call: Call) -> str:
    """Return what of the SDK a call of `setattr`, of a session, or a patch of a test replaces; empty if nothing."""
    if name.startswith(f"{SDK}.") and name.endswith("Session") and _CONFIG in call.keywords:
        return "" if call.keywords[_CONFIG].constant() is None else _CONFIG
    if name.rpartition(".")[2] not in _PATCHES or not call.arguments:
        return ""
    first, *rest = call.arguments
    text = first.constant()
    if isinstance(text, str):
        return text if text.startswith(_PACKAGES) else ""
    word = rest[0].constant() if rest else ...
    return replaced_attribute(first, word if isinstance(word, str) else "…", rest[1] if len(rest) > 1 else None)


def replaced_by_class(node: ast.ClassDef, bases: Iterable[followed.Value]) -> str:
    """Return what a subclass of the SDK's session replaces that a request goes through; empty if nothing."""
    is_session = any(
        isinstance(one, Named) and one.name.startswith(f"{SDK}.") and one.name.endswith("Session") for one in bases
    )
    names = [part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name in _OF_A_SESSION]
    return f"{SDK}.Session.{names[0]}" if is_session and names else ""


def is_about(replaced: str, kind: str) -> bool:
    """Return whether what is replaced may change a job of a class or, for boto3, of a call."""
    return is_job_class(kind) or replaced.startswith(("boto3.", "botocore."))


def objects_in(values: tuple[followed.Value, ...]) -> list[SdkInstance]:
    """Return the objects of the SDK that code gets with its arguments: as they are, by a method, or in a list."""
    found: list[SdkInstance] = []
    for value in values:
        owner = value.function if isinstance(value, SdkUnknown) else value
        owner = owner.owner if isinstance(owner, Bound) else owner
        inner = owner.members().values() if isinstance(owner, Collection) else ()
        found += [each for each in (owner, *inner) if isinstance(each, SdkInstance)]
    return found
