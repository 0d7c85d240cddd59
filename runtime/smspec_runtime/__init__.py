"""What runs in the training container: standard library only, Python 3.8 and up.

A script may ask for its job, inside SageMaker or out::

    import smspec_runtime

    job = smspec_runtime.job()
    for path in job.shard(sorted(os.listdir(job.channel("train").path))):
        ...

Importing this package loads nothing else, so it costs nothing where it is not used; ``smspec_runtime.pipe`` is loaded
when it is first named.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import List

    from . import pipe
    from .training_job import Job

__all__ = ["job", "pipe"]


def job() -> "Job":
    """Return the job of this container; outside SageMaker one of a single host in the current directory."""
    import os

    from .training_job import read_job

    return read_job(os.environ)


def __dir__() -> "List[str]":
    return __all__


def __getattr__(name: str) -> "ModuleType":
    if name == "pipe":
        from importlib import import_module

        return import_module("smspec_runtime.pipe")
    raise AttributeError(f"module 'smspec_runtime' has no attribute {name!r}")
