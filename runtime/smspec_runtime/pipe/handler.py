"""The author's part of a pipe loop: a function, or a class with the methods it wants."""

from importlib import import_module
from typing import Any, Callable, Mapping, NamedTuple

from ..training_job import Job
from .stream import Stream


class Handler(NamedTuple):
    """``begin`` and ``end`` are called once, ``epoch`` once per epoch.

    ``resume``, after ``begin``, is given the epoch that follows those in the checkpoints, or 0, and returns the one to
    begin with.
    """

    begin: Callable[[Job], object] = lambda _: None
    resume: Callable[[Job, int], int] = lambda _, epoch: epoch
    epoch: Callable[[Job, int, Mapping[str, Stream]], object] = lambda *_: None
    end: Callable[[Job], object] = lambda _: None


def load_handler(name: str) -> Handler:
    """Import ``package.module:name``. An object is made of a class; methods that it lacks do nothing."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"the handler is `{name}`; it must be `package.module:name`")
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if isinstance(found, type):
        found = found()
    methods = {method: getattr(found, method) for method in Handler._fields if hasattr(found, method)}
    if callable(found) and not methods:
        methods["epoch"] = found
    if not methods:
        raise TypeError(f"`{name}` is neither a function nor a class with `begin`, `epoch` or `end`")
    return Handler(**methods)
