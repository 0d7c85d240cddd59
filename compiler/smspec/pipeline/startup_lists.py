"""The lists of packages that a job installs when it starts: requirements.txt of its source, and what that leads to.

pip follows more than smspec does, so what is not followed is named, as `unseen`.
"""

from __future__ import annotations

from collections.abc import Iterator

from smspec.pipeline.input_cache import LARGEST_REQUIREMENTS, InputCache
from smspec.plan import StartupPackages
from smspec.service.requirement_lines import NOT_PLAIN, lists_missing, lists_named
from smspec.source import Document, Listing, Mapping, Scalar
from smspec.spec.startup import REQUIREMENTS as AT_STARTUP
from smspec.workspace.boundary import Boundary, FileNotRead


def startup_lists(document: Document, source: Listing, cache: InputCache, boundary: Boundary) -> StartupPackages | None:
    """Return the list of packages in a source that has one; None if it cannot be read, or is too large."""
    files = {file.path: file for file in source.files}
    if files[AT_STARTUP].size > LARGEST_REQUIREMENTS:
        return None
    variables = frozenset(_plain_variables(document))
    found: dict[str, bytes] = {}
    too_large: set[str] = set()
    unseen: dict[str, int] = {}
    missing: list[tuple[str, int, str]] = []
    ahead = [AT_STARTUP]
    while ahead:
        path = ahead.pop()
        if path in found:
            continue
        if files[path].size > LARGEST_REQUIREMENTS:
            too_large.add(path)
            continue
        try:
            found[path] = cache.requirements(files[path].origin, boundary)
        except (FileNotRead, OSError):
            continue
        named, unseen[path] = lists_named(path, found[path], files, variables)
        missing += ((path, line, name) for line, name in lists_missing(path, found[path], files))
        ahead += named
    reported = {(path, line) for path, line, _ in missing}
    content = found.pop(AT_STARTUP, None)
    if content is None:
        return None
    return StartupPackages(
        content=content,
        included=tuple(sorted(found.items())),
        too_large=tuple(sorted(too_large)),
        unseen=tuple(sorted((path, line) for path, line in unseen.items() if line and (path, line) not in reported)),
        missing=tuple(sorted(missing)),
    )


def _plain_variables(document: Document) -> Iterator[str]:
    """Yield the variables of a job that are one plain word: those of its environment, and its secrets."""
    for key in ("environment", "secrets"):
        node = document.node((key,))
        for name, value in node.entries if isinstance(node, Mapping) else ():
            text = value.value if isinstance(value, Scalar) else None
            is_plain = isinstance(text, str) and not NOT_PLAIN.search(text) and not name.text.startswith("SM_")
            if key == "secrets" or is_plain:
                yield name.text
