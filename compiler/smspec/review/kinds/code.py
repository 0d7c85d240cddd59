"""Which files of the author's code changed, and how they reach the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, count
from smspec.review.layers import ENTRY_POINT
from smspec.review.user_text import quoted
from smspec.review.version_pair import Pair
from smspec.source.listing import ListedFile, Listing
from smspec_runtime.run_plan import RUNTIME_CHANNEL

_DELIVERED = {
    "image": "in the image, which is rebuilt",
    "channel": "in the channel `code`, without a new image",
    "s3": "as an archive in S3, without a new image",
}
_DELIVERED_START = "in the channel `smspec`, without a new image"


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
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
        yield pair.change(KIND.name, ("source",), what, brief=count(len(files), "file"))
    if pair.old.delivery != pair.new.delivery and pair.old.delivery and pair.new.delivery:
        way = pair.old.delivery, pair.new.delivery
        yield pair.change(
            KIND.name, ("source", "delivery"), f"the code travels {delivered}", old=way[0], new=way[1], brief="delivery"
        )
    yield from _starts(pair)
    is_told = known and old != new
    for leaf in pair.leaves_of(KIND.name):
        if leaf.at[-2:-1] != ("HyperParameters",) and RUNTIME_CHANNEL in leaf.at:
            if not (pair.starts() and _prefix(leaf.old) == _prefix(leaf.new)):
                yield pair.at_leaf(KIND.name, leaf, "runtime and entry point, in a channel", brief="runtime")
        elif leaf.at[-1] == "sagemaker_program":
            yield pair.at_leaf(KIND.name, leaf, "program that the image's toolkit starts", brief="program")
        elif not (is_told and _prefix(leaf.old) == _prefix(leaf.new)):
            # Changed files have a different digest below the same prefix.
            yield pair.at_leaf(KIND.name, leaf, "where the code lies", brief="place of the code")


def _starts(pair: Pair) -> Iterator[Change]:
    """Yield the changes in how an existing image starts the script; the launcher belongs to the hosts."""
    for item, old, new in pair.starts():
        if item.name not in ("launcher", "delivery"):
            what = f"{ENTRY_POINT} ({item.name}); travels {_DELIVERED_START}"
            yield pair.change(KIND.name, item.path, what, old=old, new=new, brief=ENTRY_POINT)


def _prefix(uri: object) -> str:
    """Return a URI without the digest of its content."""
    parts = str(uri).split("/")
    return "/".join(part for part in parts if not (len(part) == 64 and part.isalnum()))


def _files(pair: Pair, old: Listing, new: Listing, delivered: str) -> Iterator[Change]:
    before, after = ({file.path: file for file in listing.files} for listing in (old, new))
    for path in sorted({*before, *after}, key=lambda path: path.encode(errors="surrogateescape")):
        was, will = before.get(path), after.get(path)
        if was is None or will is None or (was.sha256, was.executable) != (will.sha256, will.executable):
            way = f"; travels {delivered}" if delivered else ""
            yield pair.change(
                KIND.name,
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


def verdict(changes: Sequence[Change]) -> str:
    files = [change for change in changes if change.path == ("source",) and change.brief]
    if files:
        return f"changes code ({count(len(files), 'file')})"
    starts = any(change.brief == ENTRY_POINT for change in changes)
    return f"changes the {ENTRY_POINT}" if starts else "changes how code reaches the job"


KIND = Kind(
    name="code",
    meaning="changed files of the source, and how they reach the job; those in an image also change the image",
    changes=changes,
    verdict=verdict,
)
