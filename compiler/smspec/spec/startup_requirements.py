"""requirements.txt of the source, which pip installs when the job starts."""

from __future__ import annotations

import posixpath

from smspec.source.listing import ListedFile, Listing
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec
from smspec.spec.starter import starter

NAME = "requirements.txt"


def startup_requirements(job: JobSpec, source: Listing) -> ListedFile | None:
    """Return the file, unless nothing installs it, it is empty, or the image is built with the same file."""
    if job.source is None or starter(job) == "image":
        return None
    if starter(job) == "toolkit" and isinstance(job.entry_point, CommandEntry):
        return None
    written = job.image.python_requirements if isinstance(job.image, BuiltImage) else None
    if written is not None and posixpath.normpath(written) == posixpath.normpath(posixpath.join(job.source.dir, NAME)):
        return None
    return next((file for file in source.files if file.path == NAME and file.size), None)
