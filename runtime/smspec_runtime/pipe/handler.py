"""The author's part of a pipe loop: a function, or a class with the methods it wants."""

from importlib import import_module
from typing import Any, Callable, Mapping, NamedTuple

from ..training_job import Job
from .stream import Stream

METHODS = ("begin", "resume", "epoch", "end")


class Handler(NamedTuple):
    """``begin`` and ``end`` are called once, ``epoch`` once per epoch.

    ``resume(job, epoch)``, after ``begin``, is given the epoch that follows those in the checkpoints, or 0, and
    returns the one to begin with.
    """

    begin: Callable[[Job], object]
    resume: Callable[[Job, int], int]
    epoch: Callable[[Job, int, Mapping[str, Stream]], object]
    end: Callable[[Job], object]


def load_handler(name: str) -> Handler:
    """Import ``package.module:name``. An object is made of a class; methods that it lacks do nothing."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"the handler is `{name}`; it must be `package.module:name`")
    found = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return handler_of(found, name)


def handler_of(found: Any, name: str) -> Handler:
    """Make a handler of what the author wrote."""
    if isinstance(found, type):
        found = found()
    methods = {method: getattr(found, method) for method in METHODS if hasattr(found, method)}
    if callable(found) and not methods:
        methods["epoch"] = found
    if not methods:
        raise TypeError(f"`{name}` is neither a function nor a class with `begin`, `epoch` or `end`")
    return Handler(**{"begin": _nothing, "resume": _as_found, "epoch": _nothing, "end": _nothing, **methods})


def _nothing(*_: object) -> None:
    return None


def _as_found(_: Job, epoch: int) -> int:
    return epoch
