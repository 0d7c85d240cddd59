"""Programs of this machine that a job needs where no image has them."""

from __future__ import annotations

import shutil

from smspec.local.running.request import RunFailed
from smspec.spec.model import JobSpec, Torchrun


def require_torchrun(job: JobSpec, path: str) -> None:
    """Check that a job's launcher is on its PATH. Raise RunFailed."""
    if isinstance(job.distribution, Torchrun) and shutil.which("torchrun", path=path) is None:
        raise RunFailed(
            3,
            "cannot find `torchrun` on PATH: add `torch` to `image.python_packages`, "
            "or choose a Python that has PyTorch with --python",
        )
