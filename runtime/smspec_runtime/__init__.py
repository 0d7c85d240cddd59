"""The code in the training container. ``pipe`` is loaded on use."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import pipe
    from .training_job import Job

__all__ = ["job", "pipe"]


def job() -> "Job":
    """The container's job; outside SageMaker one in the current directory."""
    import os

    from .training_job import read_job

    return read_job(os.environ)


def __dir__() -> "list[str]":
    return __all__


def __getattr__(name: str) -> "ModuleType":
    if name == "pipe":
        from importlib import import_module

        return import_module("smspec_runtime.pipe")
    raise AttributeError(f"module 'smspec_runtime' has no attribute {name!r}")
