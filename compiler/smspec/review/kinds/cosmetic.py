"""The spec is written differently, with the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.user_text import quoted
from smspec.review.version_pair import Pair
from smspec.source import Mapping, Node, Path, Scalar, dotted, is_near, to_data
from smspec.source import Sequence as SequenceNode

LAYOUT = "layout"
_MEANINGLESS = ("description", "checks", "vars", "overlays", "local")


def changes(pair: Pair, reported: Sequence[Change]) -> Iterator[Change]:
    """Yield what is written differently and has no effect that is already reported."""
    old, new = pair.old.writing, pair.new.writing
    if old is None or new is None or old.form is None or old.form != new.form:
        return  # a request is not a different way to write a spec, and a response of the service was not written
    explained = [change.path for change in reported if change.path]
    found = False
    for path, was, will in _differences(old.document.root, new.document.root, ()):
        if any(is_near(path, other) for other in explained):
            continue
        found = True
        values = [None if node is None else to_data(node) for node in (was, will)]
        what = "equivalent value" if None not in values else "has no effect"
        if path[0] in _MEANINGLESS or path[-1] in _MEANINGLESS:
            what = "reaches neither the request nor the image"
        if values[0] == values[1]:
            values = [_text(was), _text(will)]
        yield pair.change(KIND.name, path, what, old=values[0], new=values[1], brief=quoted(dotted(path)))
    texts = [[text.text for text in writing.document.texts] for writing in (old, new)]
    if not found and not reported and texts[0] != texts[1]:
        yield pair.change(KIND.name, (), "comments, order, layout, variables or overlays", brief=LAYOUT)


def _differences(old: Node | None, new: Node | None, path: Path) -> Iterator[tuple[Path, Node | None, Node | None]]:
    """Yield the smallest parts of two trees with different values or spellings."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before = {key.text: value for key, value in old.entries}
        after = {key.text: value for key, value in new.entries}
        for name in dict.fromkeys([*after, *before]):
            yield from _differences(before.get(name), after.get(name), (*path, name))
    elif not _is_same(old, new):
        yield path, old, new


def _is_same(old: Node | None, new: Node | None) -> bool:
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        return (old.text, type(old.value)) == (new.text, type(new.value))
    if isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
        pairs = zip(old.items, new.items, strict=False)
        return len(old.items) == len(new.items) and all(_is_same(a, b) for a, b in pairs)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return next(_differences(old, new, ()), None) is None
    return old is new


def _text(node: Node | None) -> object:
    return node.text if isinstance(node, Scalar) else None


def verdict(changes: Sequence[Change]) -> str:
    return f"cosmetic: same request, same image{subjects(changes)}"


KIND = Kind(
    name="cosmetic",
    meaning="comments, order, spelling, `description`, `checks`, `local`, `rehearsal`, `vars`, `overlays`: generated "
    "files stay the same",
    changes=changes,
    verdict=verdict,
)
