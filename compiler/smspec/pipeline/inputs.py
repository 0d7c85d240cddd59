"""Everything that a compilation needs from the disk, gathered: the merged spec and the files that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from smspec.diagnostics import Finding, Rejected, Rule
from smspec.diagnostics.nearest import nearest
from smspec.pipeline.absence import is_directory, is_file
from smspec.pipeline.runtime_files import runtime_listing
from smspec.pipeline.source_listing import list_source
from smspec.pipeline.spec_files import read_spec_files
from smspec.plan.ingredients import Ingredients
from smspec.render import templates_digest
from smspec.source import Document, Path, Scalar, Sequence
from smspec.source.frozen import dataclass
from smspec.source.listing import Listing
from smspec.spec.layers.assembly import merged, overlay_names

NO_SOURCE_DIRECTORY = Rule("SM143", "source directory that does not exist")
NO_REQUIREMENTS_FILE = Rule("SM144", "requirements file that does not exist")

SOURCE = ("source", "dir")
REQUIREMENTS = ("image", "python_requirements")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is compiled. ``directory`` is where the spec lies; paths in the spec are relative to it.

    ``findings`` tell of files that the spec names and that are not there; ``ingredients`` are without them.
    """

    document: Document
    directory: str
    overlay: str | None
    ingredients: Ingredients
    findings: tuple[Finding, ...] = ()


def gather(
    path: str,
    overlay: str | None = None,
    settings: Mapping[str, str] | None = None,
    known: dict[str, Document] | None = None,
) -> Inputs:
    """Read the spec at ``path``, its bases, and the files it names; apply the overlay and the settings.

    ``known`` holds spec files that were read before, by real path. Raises `Rejected` where texts cannot be read or
    merged, `Misuse` for an overlay or a setting that does not exist, OSError where the disk refuses.
    """
    files = read_spec_files(path, known)
    return _Shelf().inputs(files, overlay, settings or {})


def gather_all(
    path: str, settings: Mapping[str, str] | None = None, known: dict[str, Document] | None = None
) -> Iterator[tuple[str | None, Inputs | Rejected]]:
    """Gather the spec at ``path``, then the spec under each of its overlays; everything is read once.

    What cannot be merged comes as the `Rejected` that tells why, so that the others are still looked at. ``known``
    holds spec files that were read before, by real path. Raises as `gather` does where there is nothing to merge.
    """
    files = read_spec_files(path, known)
    shelf = _Shelf()
    for overlay in (None, *overlay_names(*files)):
        try:
            yield overlay, shelf.inputs(files, overlay, settings or {})
        except Rejected as rejected:
            yield overlay, rejected


class _Shelf:
    """The files that specs name, each read once."""

    def __init__(self) -> None:
        self._listings: dict[tuple[str, tuple[str, ...]], Listing] = {}
        self._requirements: dict[str, bytes] = {}

    def inputs(self, files: tuple[Document, ...], overlay: str | None, settings: Mapping[str, str]) -> Inputs:
        document = merged(files, overlay, settings)
        directory = os.path.dirname(files[-1].texts[0].name)
        findings: list[Finding] = []
        ingredients = Ingredients(
            source=self._source(document, directory, findings),
            runtime=runtime_listing(),
            templates=templates_digest(),
            requirements=self._requirements_file(document, directory, findings),
        )
        return Inputs(
            document=document,
            directory=directory,
            overlay=overlay,
            ingredients=ingredients,
            findings=tuple(findings),
        )

    def _source(self, document: Document, directory: str, findings: list[Finding]) -> Listing:
        written = _text(document, SOURCE)
        if written is None:
            return Listing()
        path = os.path.join(directory, written)
        if not is_directory(path):
            findings.append(_missing(NO_SOURCE_DIRECTORY, SOURCE, "directory", written, path))
            return Listing()
        key = path, _texts(document, ("source", "ignore"))
        if key not in self._listings:
            self._listings[key] = list_source(*key)
        return self._listings[key]

    def _requirements_file(self, document: Document, directory: str, findings: list[Finding]) -> bytes | None:
        written = _text(document, REQUIREMENTS)
        if written is None:
            return None
        path = os.path.join(directory, written)
        if not is_file(path):
            findings.append(_missing(NO_REQUIREMENTS_FILE, REQUIREMENTS, "file", written, path))
            return None
        if path not in self._requirements:
            with open(path, "rb") as file:
                self._requirements[path] = file.read()
        return self._requirements[path]


def _missing(rule: Rule, at: Path, what: str, written: str, path: str) -> Finding:
    parent, name = os.path.split(os.path.normpath(path))
    try:
        near = nearest(name, sorted(os.listdir(parent or ".")))
    except (OSError, ValueError):
        near = None
    return rule.at(
        at,
        f"there is no {what} `{written}`",
        help="a path is relative to the directory of the file that writes it",
        label=f"did you mean `{os.path.join(os.path.dirname(written.rstrip('/')), near)}`?" if near else "",
    )


# The shape of the document is not checked yet: what is not as it should be is told there, and is nothing here.
def _text(document: Document, path: tuple[str, str]) -> str | None:
    node = document.node(path)
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None


def _texts(document: Document, path: tuple[str, str]) -> tuple[str, ...]:
    node = document.node(path)
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(item.value for item in items if isinstance(item, Scalar) and isinstance(item.value, str))
