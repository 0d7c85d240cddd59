"""The code in the training container. ``pipe`` is loaded on use."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType  # noqa: F401

    from . import pipe
    from .training_job import Job  # noqa: F401

__all__ = ["job", "pipe"]


def job():
    # type: () -> Job
    """The container's job; outside SageMaker one in the current directory."""
    import os

    from .training_job import read_job

    return read_job(os.environ)


def __dir__():
    # type: () -> list[str]
    return __all__


def __getattr__(name):
    # type: (str) -> ModuleType
    if name == "pipe":
        from importlib import import_module

        return import_module("smspec_runtime.pipe")
    raise AttributeError("module 'smspec_runtime' has no attribute %r" % name)
