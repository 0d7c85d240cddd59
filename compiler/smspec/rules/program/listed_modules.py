"""Which modules an image of AWS provides whose packages are public."""

from __future__ import annotations

from smspec.rules.program.program_and_image import ProgramAndImage
from smspec.service.image_reference import parsed_reference
from smspec.source.frozen import dataclass
from smspec.spec.model import BuiltImage, CommandEntry

_INSTALLED_AT_START = ("requirements.txt", "setup.py")
_OF_PYTHON = ("PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModules:
    """``image``: its name without the registry. ``names``: the first parts of modules outside of the standard library.

    ``as_of`` ends a sentence.
    """

    image: str
    names: frozenset[str]
    as_of: str


def listed_modules(both: ProgramAndImage) -> ListedModules | None:
    """Return the modules of an image of AWS, or of a base, to which the job adds none; None if they are unknown."""
    job, image = both.job, both.job.image
    if image is None or both.reach.is_open or any(both.source.has(name) for name in _INSTALLED_AT_START):
        return None
    if any(name in job.environment for name in _OF_PYTHON):
        return None
    if isinstance(job.entry_point, CommandEntry) and job.entry_point.command[:1] not in (("python",), ("python3",)):
        return None
    if isinstance(image, BuiltImage):
        if image.commands or image.python_packages or image.python_requirements is not None or image.system_packages:
            return None
        if any(name in image.job_variables for name in _OF_PYTHON):
            return None
    uri = image.base if isinstance(image, BuiltImage) else image.uri
    reference = parsed_reference(uri)
    if reference is None or reference.account is None:
        return None
    # Imported late: few images are those of AWS, and only theirs are in the table.
    from smspec.service.image_contents import modules_as_of, modules_of

    names = modules_of(uri)
    shown = reference.repository + (f":{reference.tag}" if reference.tag else "")
    return None if names is None else ListedModules(image=shown, names=names, as_of=modules_as_of())
