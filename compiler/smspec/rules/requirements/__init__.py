"""Rules about what pip installs, into an image or at startup: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding
from smspec.diagnostics.quoting import quoted
from smspec.source import Path
from smspec.spec.model import BuiltImage


def requirement_findings(image: BuiltImage, content: bytes | None) -> Iterator[Finding]:
    """Yield the findings about the packages of an image; ``content`` is that of its requirements file.

    The lines of a file in a different format are not checked as requirements.
    """
    if content is None and not image.python_packages:
        return
    # Imported late: many jobs install nothing.
    from smspec.rules.requirements.requirement_that_pip_cannot_install import check_lines
    from smspec.rules.requirements.requirements_in_another_format import FILE, check_format
    from smspec.rules.requirements.secret_in_the_requirements import check_requirements
    from smspec.rules.requirements.unseen_in_the_requirements import check_unseen
    from smspec.rules.requirements.unset_variable_in_the_requirements import check_variables

    if content is not None:
        name = quoted(image.python_requirements or "")
        yield from check_unseen(content, FILE, f"`image.python_requirements`: {name}")
    yield from check_requirements(content)
    yield from check_variables(image, content)
    yield from [*check_format(content, image.python_requirements or "")] or check_lines(image, content)


def startup_findings(image: object, content: bytes, path: Path) -> Iterator[Finding]:
    """Yield the findings about requirements.txt in the source, which pip installs when the job starts."""
    # Imported late: few sources have one.
    from smspec.rules.requirements.requirement_that_pip_cannot_install import check_startup_lines
    from smspec.rules.requirements.requirements_in_another_format import check_startup_format
    from smspec.rules.requirements.unseen_in_the_requirements import check_unseen

    yield from check_unseen(content, path, "`requirements.txt`")
    yield from [*check_startup_format(content, path)] or check_startup_lines(content, path, image)
