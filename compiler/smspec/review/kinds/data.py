"""Which data the job sees, in which order, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.members import words
from smspec.review.user_text import quoted
from smspec.review.version_pair import Pair
from smspec.service.request import Request
from smspec.source import Path

_SHARED_OUT = "ShardedByS3Key"
_ORDER = ("ShuffleConfig", "S3DataDistributionType")
_SETTINGS: dict[str, str] = {
    "epochs": "passes over the data",
    "read": "how streams are read",
    "attributes": "attributes that records have",
    "prefetch": "bytes read ahead",
    "open_timeout": "seconds to wait for a stream",
}


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield changes of channels, of how the pipe loop uses them, and of the share of each host."""
    for leaf in pair.leaves_of(KIND.name):
        channel = str(leaf.at[1]) if leaf.at[0] == "InputDataConfig" else ""
        what = words(leaf.at)
        if len(leaf.at) == 2 and channel:
            what = "new channel" if leaf.old is None else "channel that is no longer there"
        ordered = f"order of {quoted(channel)}" if any(n in leaf.at for n in _ORDER) else channel and quoted(channel)
        yield pair.at_leaf(KIND.name, leaf, what, brief=ordered or "input mode")
    for name, old, new in pair.settings(*(n for n in _SETTINGS if n != "attributes")):
        path: Path = ("entry_point", name)
        yield pair.change(KIND.name, path, _SETTINGS[name], old=old, new=new, brief=name.replace("_", " "))
    yield from _epochs(pair)
    yield from _shares(pair)


def _epochs(pair: Pair) -> Iterator[Change]:
    """Yield the change of a hyperparameter that sets how often a pipe loop reads its channels."""
    old, new = (version.hyperparameters.get("epochs") for version in (pair.old, pair.new))
    decides = pair.new.runs_pipe_loop and "epochs" not in pair.new.settings
    if old != new and decides:
        path: Path = ("hyperparameters", "epochs")
        yield pair.change(KIND.name, path, _SETTINGS["epochs"], old=old, new=new, brief="epochs")


def _shares(pair: Pair) -> Iterator[Change]:
    """Yield the channels of which each host gets a different part, because the number of hosts changed."""
    before = {channel.name: channel for channel in Request(payload=pair.old.payload).channels}
    for channel in Request(payload=pair.new.payload).channels:
        was = before.get(channel.name)
        if was is None or any(c.s3.get("S3DataDistributionType") != _SHARED_OUT for c in (was, channel)):
            continue
        old, new = (Request(payload=v.payload).hosts_of(c) for v, c in ((pair.old, was), (pair.new, channel)))
        if old != new and old is not None and new is not None:
            path = pair.new.origin((*channel.s3_path, "S3DataDistributionType")) or channel.s3_path
            what = "share of each host: objects are redistributed"
            yield pair.change(
                KIND.name, path, what, old=f"1/{old}", new=f"1/{new}", brief=f"order of {quoted(channel.name)}"
            )


def verdict(changes: Sequence[Change]) -> str:
    return f"changes data{subjects(changes)}"


KIND = Kind(
    name="data",
    meaning="the data that the job reads, or their order: channels, prefixes, share of each host, seeds, input "
    "mode, compression, record wrapper, attributes, epochs, views, prefetch",
    changes=changes,
    verdict=verdict,
)
