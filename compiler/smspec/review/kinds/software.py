"""What the job runs: its image, by rebuilt layers, and its code, by changed files.

The packages of an image are those of the lock: the digest of their file stands for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change, quoted
from smspec.review.kinds.kind import Kind, count, subjects
from smspec.review.layers import (
    BASE,
    ENTRY_POINT,
    LAYERS,
    PYTHON_PACKAGES,
    REQUIREMENTS,
    RUNTIME,
    SOURCE,
    LayerItem,
    Layers,
)
from smspec.review.version import JobVersion, Pair
from smspec.service.image_reference import parsed_reference
from smspec.service.shapes import items, member
from smspec.source import ListedFile, Listing, Path
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL, SETTINGS_HYPERPARAMETER, RunPlan

REBUILDS = "rebuilds the image"

MOST_PACKAGES = 20
"""Packages with a change of their own; the image is the first kind, and the others must fit below it."""

_OURS = ("platform", "title", "templates", REQUIREMENTS, "ssh", *(n.replace("_", " ") for n in RunPlan._fields))
_SHORT_DIGEST = len("sha256:") + 12
_REBUILT = "is rebuilt"
_NEW = "is new"
_NOT_IN_A_READY_ONE = ("platform", "title", "ssh", *(name.replace("_", " ") for name in RunPlan._fields))
_OTHER = "another image"
_MOVED = "same image, another repository"
_ANOTHER_REPOSITORY = "another repository"
_PACKAGE_KEYS: tuple[Path, ...] = (("image", "python_requirements"), ("image", "python_packages"))
_DELIVERED = {
    "image": "in the image, which is rebuilt",
    "channel": "in the channel `code`, without a new image",
    "s3": "as an archive in S3, without a new image",
}
IGNORED: Path = ("source", "ignore")
_CODE_MEMBERS = ("sagemaker_program", "sagemaker_submit_directory", SETTINGS_HYPERPARAMETER)
_PLACE = "place of the code"
_DELIVERED_START = "in the channel `smspec`, without a new image"


def _image_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes in the image; none if both have the same content and name."""
    old, new = pair.old.layers, pair.new.layers
    found: list[Change] = []
    if old is not None and new is not None:
        for layer in LAYERS:
            found += _layer(pair, layer, old.get(layer, ()), new.get(layer, ()))
            if layer == PYTHON_PACKAGES and _are_packages_known(pair):
                found += _package_changes(pair)
        if not found and pair.old.image_tag != pair.new.image_tag:
            what = f"{RUNTIME}: {_REBUILT}" if old == new else f"the image {_REBUILT}"
            found.append(pair.change(IMAGE.name, ("image",), what, brief=RUNTIME if old == new else ""))
    elif new is not None and pair.old.request and pair.new.request:
        found += _built_now(pair, new)
    yield from found
    images = [member(side.payload, "AlgorithmSpecification", "TrainingImage") for side in (pair.old, pair.new)]
    built = [_repository_of_build(side, image) for side, image in zip((pair.old, pair.new), images, strict=True)]
    if images[0] == images[1] and new is not None and built[1] is None and (found or built[0]):
        path: Path = ("api", "AlgorithmSpecification", "TrainingImage")
        what = "the job keeps this image, and the one that the spec builds is not used"
        yield pair.change(IMAGE.name, path, what, old=images[0], new=images[1], brief="unused")
    for leaf in pair.leaves_of(IMAGE.name):
        if leaf.at[-1] != "TrainingImage":
            yield pair.at_leaf(IMAGE.name, leaf, "algorithm", brief="algorithm")
            continue
        if None not in built and built[0] == built[1] and not pair.is_replaced(leaf):
            continue  # its tag is another one since its layers are
        path = pair.spec_path(leaf)
        if None not in built and path[:1] != ("api",):
            path = ("image", "repository")
        is_same = None not in built and pair.old.image_tag == pair.new.image_tag
        what = _MOVED if is_same else _OTHER if None in built else _ANOTHER_REPOSITORY
        if what == _OTHER and pair.old.request and pair.new.request and (old is None) != (new is None):
            what += ": built from the spec now" if new else ": a ready one now"
        yield pair.change(IMAGE.name, path, what, old=leaf.old, new=leaf.new, brief=_registry(leaf.old, leaf.new))


def _repository_of_build(side: JobVersion, uri: object) -> str | None:
    """Return the repository of an image that smspec builds; None for any other, such as one that `api` names."""
    repository, _, tag = str(uri).rpartition(":")
    return repository if side.layers is not None and side.image_tag is not None and tag == side.image_tag else None


def _built_now(pair: Pair, layers: Layers) -> Iterator[Change]:
    """Yield what is in an image that replaces a ready one; how it starts the script is a change of the code."""
    for layer in LAYERS:
        if layer not in (RUNTIME, SOURCE):
            written = tuple(item for item in layers.get(layer, ()) if item.name not in _NOT_IN_A_READY_ONE)
            yield from _layer(pair, layer, (), written, _NEW)
        if layer == PYTHON_PACKAGES and _are_packages_known(pair):
            yield from _package_changes(pair, _NEW)


def _layer(
    pair: Pair, layer: str, old: tuple[LayerItem, ...], new: tuple[LayerItem, ...], how: str = _REBUILT
) -> Iterator[Change]:
    """Yield the changes of one layer: one for each named item, one in total for a list."""
    if _contents(old) == _contents(new):
        return
    what = f"{layer}: {how}"
    hides_file = layer == PYTHON_PACKAGES and _are_packages_known(pair)
    before, after = ({(item.path, item.name): item for item in items if item.name} for items in (old, new))
    for key in dict.fromkeys([*after, *before]):
        was, will = before.get(key), after.get(key)
        if (was and was.value) != (will and will.value):
            if hides_file and key[1] == REQUIREMENTS:
                continue  # a digest; the packages themselves are known
            name = key[1] if key[1] in _OURS else quoted(key[1])
            name = "" if key[1] in (key[0] and key[0][-1], layer) else f" ({name})"
            old_value, new_value = was and _short(was.value), will and _short(will.value)
            if layer == BASE and (digests := _moved(was, will)) is not None:
                name, old_value, new_value = digests
            yield pair.change(IMAGE.name, key[0], f"{layer}{name}: {how}", old=old_value, new=new_value, brief=layer)
    for place in dict.fromkeys(item.path[:2] for item in (*new, *old) if not item.name):
        sides = [[item for item in items if not item.name and item.path[:2] == place] for items in (old, new)]
        was_values, will_values = ([item.value for item in side] for side in sides)
        gone = [item for item in sides[0] if item.value not in will_values]
        come = [item for item in sides[1] if item.value not in was_values]
        if was_values == will_values:
            continue
        if [value for value in was_values if value in will_values] == [v for v in will_values if v in was_values]:
            path = (come or gone)[0].path
            yield pair.change(IMAGE.name, path, what, old=_listed(gone), new=_listed(come), brief=layer)
        else:
            # Each command, since what an order or a repetition does is not in those that are new.
            order = "" if gone or come else ", in another order"
            was_listed, is_listed = _listed(sides[0]), _listed(sides[1])
            yield pair.change(IMAGE.name, place, f"{layer}{order}: {how}", old=was_listed, new=is_listed, brief=layer)


def _moved(old: LayerItem | None, new: LayerItem | None) -> tuple[str, str, str] | None:
    """Return what a base image is called that has a new digest under its tag, and both digests; None for any other."""
    values = [item.value if item is not None and isinstance(item.value, str) else "" for item in (old, new)]
    (was, _, before), (will, _, after) = (value.partition("@") for value in values)
    if not before or not after or was != will:
        return None
    return f", {quoted(was)} (new digest)", before[:_SHORT_DIGEST], after[:_SHORT_DIGEST]


def _contents(items: tuple[LayerItem, ...]) -> list[tuple[str, object, Path]]:
    """Return what differs between layers: not the place in a list, but the key, which decides where it is in force."""
    return [(item.name, item.value, item.path[:2]) for item in items]


def _listed(items: list[LayerItem]) -> object:
    values = [_short(item.value) for item in items]
    return values[0] if len(values) == 1 else values or None


def _short(value: object) -> object:
    """Return the first digits of a digest."""
    is_digest = isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
    return str(value)[:12] if is_digest else value


def _registry(old: object, new: object) -> str:
    before, after = (parsed_reference(uri) if isinstance(uri, str) else None for uri in (old, new))
    return "registry" if before and after and before.registry != after.registry else ""


def _are_packages_known(pair: Pair) -> bool:
    """Return whether the lock has the packages of both states, and they differ. A ready image has none of it."""
    are_known = pair.new.packages is not None and (pair.old.packages is not None or pair.old.layers is None)
    return are_known and _listed_packages(pair.old, pair.new) != _listed_packages(pair.new, pair.old)


def _listed_packages(version: JobVersion, other: JobVersion) -> dict[str, str]:
    """Return the packages of the lock with their versions, and the options about their indexes.

    A version that the ``other`` state has from other files has its hashes, too: it is another package.
    """
    found = dict(version.packages or {})
    if version.package_files is None or other.package_files is None:
        return found
    for name, files in version.package_files.items():
        if name.startswith("-"):
            found[name] = files
        elif name in found and found[name] == (other.packages or {}).get(name):
            found[name] += f" {files}" if files != other.package_files.get(name, files) else ""
    return found


def _package_changes(pair: Pair, how: str = _REBUILT) -> Iterator[Change]:
    """Yield the packages that are added, removed, or others; of many, the last ones together. Options come first."""
    old, new = _listed_packages(pair.old, pair.new), _listed_packages(pair.new, pair.old)
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    path = _package_key(pair.new) or _package_key(pair.old) or _PACKAGE_KEYS[0]
    for name in names[:MOST_PACKAGES]:
        what = f"{PYTHON_PACKAGES} ({quoted(name)}): {how}"
        yield pair.change(IMAGE.name, path, what, old=old.get(name), new=new.get(name), brief=PYTHON_PACKAGES)
    rest = names[MOST_PACKAGES:]
    if rest:
        what = f"{PYTHON_PACKAGES}, {len(rest)} more: {how}"
        was, will = ([f"{name} {known[name]}" for name in rest if name in known] for known in (old, new))
        yield pair.change(IMAGE.name, path, what, old=was or None, new=will or None, brief=PYTHON_PACKAGES)


def _package_key(version: JobVersion) -> Path | None:
    """Return the key that lists the packages; None if neither is written."""
    writing = version.writing
    return next((path for path in _PACKAGE_KEYS if writing is not None and writing.place(path)), None)


def is_rebuilt(change: Change) -> bool:
    """Return whether a change of the image rebuilds one of its layers."""
    return change.what.endswith(_REBUILT)


def _image_verdict(changes: Sequence[Change]) -> str:
    layers = [change for change in changes if is_rebuilt(change)]
    if layers:
        return f"{REBUILDS}{subjects(sorted(layers, key=_importance))}"
    if all(change.what == _MOVED for change in changes):
        return "keeps the image, in another repository"
    return "runs in another image"


def _importance(change: Change) -> int:
    """The order in a message: items of smspec, and those that follow from the code, come last."""
    return [*(layer for layer in LAYERS if layer not in (SOURCE, RUNTIME)), SOURCE, RUNTIME].index(change.brief)


IMAGE = Kind(
    name="image",
    meaning="rebuilt layers of the image (base, env, system packages, python packages, run, labels, runtime, "
    "entry point, source), or a different image; all layers of one that replaces a ready image",
    changes=_image_changes,
    verdict=_image_verdict,
)


def _code_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield every file that changed, then what else changes about how code reaches the job."""
    old, new = pair.old.code, pair.new.code
    known = old is not None and new is not None
    delivered = _DELIVERED.get(pair.new.delivery or pair.old.delivery or "", "")
    if known:
        yield from _files(pair, old or Listing(), new or Listing(), delivered)
    elif (old is None) != (new is None) and pair.old.request and pair.new.request:
        come = new is not None
        files = (new or old or Listing()).files
        what = (
            f"{count(len(files), 'file')} {'of code now travel with the job' if come else 'of code travel no longer'}"
        )
        yield pair.change(CODE.name, ("source",), what, brief=count(len(files), "file"))
    if pair.old.delivery != pair.new.delivery and pair.old.delivery and pair.new.delivery:
        way = pair.old.delivery, pair.new.delivery
        yield pair.change(
            CODE.name, ("source", "delivery"), f"the code travels {delivered}", old=way[0], new=way[1], brief="delivery"
        )
    yield from _ignored(pair)
    yield from _starts(pair)
    is_told = known and old != new
    if is_told or pair.starts():
        yield from _kept(pair)
    for leaf in pair.leaves_of(CODE.name):
        if leaf.at[-2:-1] != ("HyperParameters",) and RUNTIME_CHANNEL in leaf.at:
            if pair.is_replaced(leaf) or not (pair.starts() and _prefix(leaf.old) == _prefix(leaf.new)):
                yield pair.at_leaf(CODE.name, leaf, "runtime and entry point, in a channel", brief="runtime")
        elif leaf.at[-1] == "sagemaker_program":
            yield pair.at_leaf(CODE.name, leaf, "program that the image's toolkit starts", brief="program")
        elif leaf.at[0] == "HyperParameters" and leaf.at[-1] != "sagemaker_submit_directory":
            yield pair.at_leaf(CODE.name, leaf, pair.words(leaf), brief="settings of the runtime")
        elif pair.is_replaced(leaf) or not (is_told and _prefix(leaf.old) == _prefix(leaf.new)):
            # Changed files have a different digest below the same prefix.
            yield pair.at_leaf(CODE.name, leaf, "where the code lies", brief=_PLACE)


def _ignored(pair: Pair) -> Iterator[Change]:
    """Yield other patterns of what stays behind: a checkout that submits may have files that git does not have."""
    old, new = pair.old.writing, pair.new.writing
    if old is None or new is None or pair.old.code is None or pair.new.code is None:
        return
    was, will = (writing.document.strings(IGNORED) for writing in (old, new))
    if was != will:
        what = "which files travel; those that git does not track are not compared"
        yield pair.change(CODE.name, IGNORED, what, old=list(was) or None, new=list(will) or None)


def _kept(pair: Pair) -> Iterator[Change]:
    """Yield the places of code that `api` keeps as they were, while the code is another one: the job runs the old."""
    payload = pair.new.payload
    paths: list[Path] = [("HyperParameters", name) for name in pair.new.hyperparameters if name in _CODE_MEMBERS]
    for number, channel in enumerate(items(payload, "InputDataConfig")):
        if member(channel, "ChannelName") in (CODE_CHANNEL, RUNTIME_CHANNEL):
            paths.append(("InputDataConfig", number, "DataSource", "S3DataSource", "S3Uri"))
    changed = {leaf.new_path for leaf in pair.leaves}
    for path in paths:
        if pair.new.origin(path)[:1] == ("api",) and path not in changed:
            what = "`api` sets where the code lies, so the job may run another one"
            yield pair.change(CODE.name, ("api", *path), what, brief=_PLACE)


def _starts(pair: Pair) -> Iterator[Change]:
    """Yield the changes in how the script is started that no layer has; the launcher belongs to the hosts."""
    way = f"travels {_DELIVERED_START if pair.new.layers is None else _DELIVERED['image']}"
    way = "smspec starts nothing now" if pair.new.run is None else way
    for item, old, new in pair.starts():
        if item.name not in ("launcher", "delivery"):
            what = f"{ENTRY_POINT} ({item.name}); {way}"
            yield pair.change(CODE.name, item.path, what, old=old, new=new, brief=ENTRY_POINT)


def _prefix(uri: object) -> str:
    """Return a URI without the digest of its content, which is the last one: a user's prefix may look like another."""
    parts = str(uri).split("/")
    digests = [number for number, part in enumerate(parts) if len(part) == 64 and part.isalnum()]
    return "/".join(part for number, part in enumerate(parts) if number not in digests[-1:])


def _files(pair: Pair, old: Listing, new: Listing, delivered: str) -> Iterator[Change]:
    before, after = ({file.path: file for file in listing.files} for listing in (old, new))
    for path in sorted({*before, *after}, key=lambda path: path.encode(errors="surrogateescape")):
        was, will = before.get(path), after.get(path)
        if was is None or will is None or (was.sha256, was.executable) != (will.sha256, will.executable):
            way = f"; travels {delivered}" if delivered else ""
            yield pair.change(
                CODE.name,
                ("source",),
                f"{quoted(path)} {_how(was, will)}{way}",
                old=was and _digest(was),
                new=will and _digest(will),
                brief=path,
            )


def _how(was: ListedFile | None, will: ListedFile | None) -> str:
    if was is None:
        return "is new"
    if will is None:
        return "is gone"
    if was.sha256 == will.sha256:
        return "is executable now" if will.executable else "is no longer executable"
    return "changed"


def _digest(file: ListedFile) -> str:
    return file.sha256[:12]


def _code_verdict(changes: Sequence[Change]) -> str:
    files = [change for change in changes if change.path == ("source",) and change.brief not in ("", _PLACE)]
    if files:
        return f"changes code ({count(len(files), 'file')})"
    starts = any(change.brief == ENTRY_POINT for change in changes)
    return f"changes the {ENTRY_POINT}" if starts else "changes how code reaches the job"


CODE = Kind(
    name="code",
    meaning="changed files of the source, what it ignores, and how they reach the job; those in an image also change "
    "the image",
    changes=_code_changes,
    verdict=_code_verdict,
)
