"""What runs in the training container: standard library only, Python 3.8 and up.

A script may ask for its job, inside SageMaker or out::

    import smspec_runtime

    job = smspec_runtime.job()
    for path in job.shard(sorted(os.listdir(job.channel("train").path))):
        ...

Importing this package loads nothing else, so it costs nothing where it is not used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from smspec_runtime.training_job import Job

__all__ = ["job"]


def job() -> "Job":
    """Return the job of this container; outside SageMaker one of a single host in the current directory."""
    import os

    from smspec_runtime.training_job import read_job

    return read_job(os.environ)
