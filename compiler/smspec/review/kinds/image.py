"""The image: which layers are rebuilt, or that it is a different one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.kinds.locked_packages import are_known, package_changes
from smspec.review.layers import BASE, LAYERS, PYTHON_PACKAGES, REQUIREMENTS, RUNTIME, SOURCE, Item
from smspec.review.user_text import quoted
from smspec.review.version_pair import Pair
from smspec.service.image_reference import parsed_reference
from smspec.source import Path
from smspec_runtime.run_plan import RunPlan

_OURS = ("platform", "title", "templates", REQUIREMENTS, "ssh", *(n.replace("_", " ") for n in RunPlan._fields))
_SHORT_DIGEST = len("sha256:") + 12
_REBUILT = "is rebuilt"
REBUILDS = "rebuilds the image"
_OTHER = "another image"
_MOVED = "same image, another repository"


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes in the image; none if both have the same content and name."""
    old, new = pair.old.layers, pair.new.layers
    if old is not None and new is not None:
        for layer in LAYERS:
            yield from _layer(pair, layer, old.get(layer, ()), new.get(layer, ()))
            if layer == PYTHON_PACKAGES and are_known(pair):
                yield from package_changes(pair, KIND.name, _REBUILT)
        if old == new and pair.old.image_tag != pair.new.image_tag:
            yield pair.change(KIND.name, ("image",), f"{RUNTIME}: {_REBUILT}", brief=RUNTIME)
    same_layers = old is not None and old == new
    for leaf in pair.leaves_of(KIND.name):
        path: Path = pair.spec_path(leaf)
        if leaf.at[-1] != "TrainingImage":
            yield pair.at_leaf(KIND.name, leaf, "algorithm", brief="algorithm")
        elif same_layers or (old is None or new is None):
            is_moved = pair.old.image_tag is not None and pair.old.image_tag == pair.new.image_tag
            what = _MOVED if is_moved else _OTHER
            if what == _OTHER and pair.old.request and pair.new.request and (old is None) != (new is None):
                what += ": built from the spec now" if new else ": a ready one now"
            if is_moved:
                path = ("image", "repository")
            yield pair.change(KIND.name, path, what, old=leaf.old, new=leaf.new, brief=_registry(leaf.old, leaf.new))


def _layer(pair: Pair, layer: str, old: tuple[Item, ...], new: tuple[Item, ...]) -> Iterator[Change]:
    """Yield the changes of one layer: one for each named item, one in total for a list."""
    if _contents(old) == _contents(new):
        return
    what = f"{layer}: {_REBUILT}"
    hides_file = layer == PYTHON_PACKAGES and are_known(pair)
    before, after = ({(item.path, item.name): item for item in items if item.name} for items in (old, new))
    named = 0
    for key in dict.fromkeys([*after, *before]):
        was, will = before.get(key), after.get(key)
        if (was and was.value) != (will and will.value):
            named += 1
            if hides_file and key[1] == REQUIREMENTS:
                continue  # a digest; the packages themselves are known
            name = (
                ""
                if key[1] in (key[0] and key[0][-1], layer)
                else f" ({quoted(key[1])})"
                if key[1] not in _OURS
                else f" ({key[1]})"
            )
            old_value, new_value = was and _short(was.value), will and _short(will.value)
            if layer == BASE and (digests := _moved(was, will)) is not None:
                name, old_value, new_value = digests
            yield pair.change(
                KIND.name, key[0], f"{layer}{name}: {_REBUILT}", old=old_value, new=new_value, brief=layer
            )
    listed_before, listed_after = ([item for item in items if not item.name] for items in (old, new))
    gone = [item for item in listed_before if item.value not in [other.value for other in listed_after]]
    come = [item for item in listed_after if item.value not in [other.value for other in listed_before]]
    if gone or come:
        path = (come or gone)[0].path
        was_listed, is_listed = _listed(gone), _listed(come)
        yield pair.change(KIND.name, path, what, old=was_listed, new=is_listed, brief=layer)
    elif not named:
        path = (new or old)[0].path
        yield pair.change(KIND.name, path[:2], f"{layer}, in another order: {_REBUILT}", brief=layer)


def _moved(old: Item | None, new: Item | None) -> tuple[str, str, str] | None:
    """Return what a base image is called that has a new digest under its tag, and both digests; None for any other."""
    values = [item.value if item is not None and isinstance(item.value, str) else "" for item in (old, new)]
    (was, _, before), (will, _, after) = (value.partition("@") for value in values)
    if not before or not after or was != will:
        return None
    return f", {quoted(was)} (new digest)", before[:_SHORT_DIGEST], after[:_SHORT_DIGEST]


def _contents(items: tuple[Item, ...]) -> list[tuple[str, object]]:
    return [(item.name, item.value) for item in items]


def _listed(items: list[Item]) -> object:
    values = [_short(item.value) for item in items]
    return values[0] if len(values) == 1 else values or None


def _short(value: object) -> object:
    """Return the first digits of a digest."""
    is_digest = isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
    return str(value)[:12] if is_digest else value


def _registry(old: object, new: object) -> str:
    before, after = (parsed_reference(uri) if isinstance(uri, str) else None for uri in (old, new))
    return "registry" if before and after and before.registry != after.registry else ""


def is_rebuilt(change: Change) -> bool:
    """Return whether a change of the image rebuilds one of its layers."""
    return change.what.endswith(_REBUILT)


def verdict(changes: Sequence[Change]) -> str:
    layers = [change for change in changes if is_rebuilt(change)]
    if layers:
        return f"{REBUILDS}{subjects(sorted(layers, key=_importance))}"
    if all(change.what == _MOVED for change in changes):
        return "keeps the image, in another repository"
    return "runs in another image"


def _importance(change: Change) -> int:
    """The order in a message: items of smspec, and those that follow from the code, come last."""
    return [*(layer for layer in LAYERS if layer not in (SOURCE, RUNTIME)), SOURCE, RUNTIME].index(change.brief)


KIND = Kind(
    name="image",
    meaning="rebuilt layers of the image (base, env, system packages, python packages, run, labels, runtime, "
    "entry point, source), or a different image",
    changes=changes,
    verdict=verdict,
)
