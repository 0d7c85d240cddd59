"""A function for each launcher returns this host's command."""

from importlib import import_module

from ..command import Command
from ..lean_typing import Callable
from .launch import Launch as Launch

LAUNCHERS = ("torchrun", "mpi", "smdataparallel", "parameter_server", "multi_worker_mirrored")


def launcher(name: str) -> Callable[[Launch], Command]:
    """A job has the module of its launcher alone."""
    function: Callable[[Launch], Command] = getattr(import_module(f"{__name__}.{name}"), name)
    return function
