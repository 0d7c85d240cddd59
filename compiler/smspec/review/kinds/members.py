"""The members of the request: data, hosts, cost, hyperparameters, environment, output, and the others.

Of alternatives after the first only instances and limits are compared: the rest of their requests is that of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from smspec.plan import RequestPlan
from smspec.review.change import Change, Rise, quoted
from smspec.review.kinds.kind import Kind, by_member, listing, of_members, of_names, subjects
from smspec.review.version import JobVersion, Pair, paired
from smspec.service.cost_ceiling import Ceiling, amount, highest_ceiling
from smspec.service.job_costs import hosts_text
from smspec.service.request import Request
from smspec.source import Mapping, Path
from smspec.source.frozen import replace
from smspec.spec.keys import rows_below
from smspec.spec.layers.merging import ANY_OF

CEILING = "ceiling"
"""The brief word of the change of a cost ceiling."""

_SHARED_OUT = "ShardedByS3Key"
_ORDER = ("ShuffleConfig", "S3DataDistributionType")
_PIPE_SETTINGS: dict[str, str] = {
    "epochs": "passes over the data",
    "read": "how streams are read",
    "attributes": "attributes that records have",
    "prefetch": "bytes read ahead",
    "open_timeout": "seconds to wait for a stream",
}
HYPERPARAMETERS = of_names(
    "hyperparameters",
    noun="hyperparameter",
    summary="changes hyperparameters",
    meaning="added, removed, or changed hyperparameters, as the job receives them",
)
ENVIRONMENT = of_names(
    "environment",
    noun="variable",
    summary="changes environment variables",
    meaning="added, removed, or changed variables of `environment`; those of `image.env` change the image",
)
OUTPUT = of_members(
    "output",
    summary="changes the output",
    meaning="where the model, TensorBoard, debugger, and profiler data go, and how the model is compressed",
)
OTHER = of_members(
    "other",
    summary="changes other settings",
    meaning="tags, metrics, and members of the API of no other kind",
)


def _data_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield changes of channels, of how the pipe loop uses them, and of the share of each host."""
    for leaf in pair.leaves_of(DATA.name):
        channel = str(leaf.at[1]) if leaf.at[0] == "InputDataConfig" else ""
        what = pair.words(leaf)
        if len(leaf.at) == 2 and channel:
            what = "new channel" if leaf.old is None else "channel that is no longer there"
        ordered = f"order of {quoted(channel)}" if any(n in leaf.at for n in _ORDER) else channel and quoted(channel)
        yield pair.at_leaf(DATA.name, leaf, what, brief=ordered or "input mode")
    for name, old, new in pair.settings(*(n for n in _PIPE_SETTINGS if n != "attributes")):
        path: Path = ("entry_point", name)
        yield pair.change(DATA.name, path, _PIPE_SETTINGS[name], old=old, new=new, brief=name.replace("_", " "))
    yield from _epochs(pair)
    yield from _shares(pair)
    yield from _local_data(pair)


def _epochs(pair: Pair) -> Iterator[Change]:
    """Yield the change of a hyperparameter that sets how often a pipe loop reads its channels."""
    old, new = (version.hyperparameters.get("epochs") for version in (pair.old, pair.new))
    decides = pair.new.runs_pipe_loop and "epochs" not in pair.new.settings
    if old != new and decides:
        path: Path = ("hyperparameters", "epochs")
        yield pair.change(DATA.name, path, _PIPE_SETTINGS["epochs"], old=old, new=new, brief="epochs")


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
                DATA.name, path, what, old=f"1/{old}", new=f"1/{new}", brief=f"order of {quoted(channel.name)}"
            )


def _local_data(pair: Pair) -> Iterator[Change]:
    """Yield other local data of a channel: git may not have them, so a comparison cannot show what they are.

    What is outside of the repository is a change of access.
    """
    old, new = pair.old.writing, pair.new.writing
    if old is None or new is None:
        return
    channels = old.document.node(("channels",))
    for name in (key.text for key, _ in channels.entries) if isinstance(channels, Mapping) else ():
        path: Path = ("channels", name, "local")
        was, will = (side.document.string(path) for side in (old, new))
        places = pair.places(path)
        if places and (was == will or places[0] == places[1]):
            was, will = places  # the spec moved, or this is another spelling
        is_access = pair.new.outer_data.get(name) != pair.old.outer_data.get(name)
        if was != will and not is_access and new.document.node(path[:2]) is not None:
            what = "local data: `submit --upload-data` uploads them, `run` takes them"
            yield pair.change(DATA.name, path, what, old=was, new=will, brief=f"local data of {quoted(name)}")


def is_of_local_data(path: Path) -> bool:
    """Return whether a key names local data, which no job reads unless they are uploaded."""
    return path[:1] == ("channels",) and path[2:] == ("local",)


DATA = Kind(
    name="data",
    meaning="the data that the job reads, or their order: channels, prefixes, share of each host, seeds, input "
    "mode, compression, record wrapper, attributes, epochs, views, prefetch, local data",
    changes=_data_changes,
    verdict=listing("changes data"),
)


def _hosts_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    yield from by_member(pair, HOSTS.name)
    yield from _of_alternatives(pair, HOSTS.name)
    yield from _added_and_removed(pair, HOSTS.name)
    launchers = [(old, new) for item, old, new in pair.starts() if item.name == "launcher"]
    for old, new in (*launchers, *((old, new) for _, old, new in pair.settings("launcher"))):
        yield pair.change(
            HOSTS.name, ("distribution",), "how processes are started", old=old, new=new, brief="launcher"
        )
    old_region, new_region = pair.old.region, pair.new.region
    if old_region != new_region and _has_known_regions(pair):
        what = "region that the job runs in"
        yield pair.change(HOSTS.name, ("region",), what, old=old_region, new=new_region, brief="region")
    yield from _of_queue(pair, HOSTS.name)


def _of_queue(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield the changes of a kind in how the job waits in a queue of AWS Batch; a request says nothing about that."""
    old, new = pair.old.queue, pair.new.queue
    if old == new or pair.old.request is None or pair.new.request is None:
        return
    for row in rows_below("queue"):
        was, will = (row.written(getattr(queue, row.name, None)) for queue in (old, new))
        if row.kind == kind and was != will:
            yield pair.change(kind, ("queue", row.name), row.called, old=was, new=will, brief="queue")


def _has_known_regions(pair: Pair) -> bool:
    """Return whether both regions are known; a spec without one leaves it to the submission."""
    are_specs = pair.old.request is not None and pair.new.request is not None
    return are_specs or (pair.old.region is not None and pair.new.region is not None)


HOSTS = Kind(
    name="hosts",
    meaning="instance type, count, groups, volume, keep-alive, region, queue, maximum wait for instances, and how "
    "processes start",
    changes=_hosts_changes,
    verdict=listing("changes hosts"),
)


def _of_alternatives(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield the changes of a kind in alternatives that both states have, without those of the first."""
    for index, (old, new) in enumerate(zip(pair.old.others, pair.new.others, strict=False), 1):
        both = paired(_alone(pair.old, old), _alone(pair.new, new), pair.prices)
        own = replace(both, leaves=tuple(leaf for leaf in both.leaves if leaf not in pair.leaves))
        for change in by_member(own, kind):
            yield replace(change, what=f"{change.what} of alternative {index + 1}")


def _added_and_removed(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield the alternatives that one of two specs lacks."""
    if pair.old.request is None or pair.new.request is None:
        return  # a request says nothing about alternatives
    old, new = pair.old.others, pair.new.others
    for index in range(min(len(old), len(new)), max(len(old), len(new))):
        here: Path = (*ANY_OF, index + 1)
        was, will = (hosts_text(side[index].payload) if index < len(side) else None for side in (old, new))
        is_new = was is None
        what = f"alternative {index + 2} is {'new' if is_new else 'gone'}"
        yield pair.change(kind, here, what, old=was, new=will, brief="alternatives")


def _alone(version: JobVersion, request: RequestPlan) -> JobVersion:
    return replace(version, payload=request.payload, request=request, others=())


def _cost_changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes of limits, then of the resulting cost ceiling."""
    yield from by_member(pair, COST.name)
    yield from _of_queue(pair, COST.name)
    yield from _of_alternatives(pair, COST.name)
    old, new = (
        highest_ceiling(version.payloads, pair.prices, version.region, version.attempts)
        for version in (pair.old, pair.new)
    )
    if old is None if new is None else old is not None and (old.hours, old.usd) == (new.hours, new.usd):
        return
    yield ceiling_change(pair, old, new)


def ceiling_change(pair: Pair, old: Ceiling | None, new: Ceiling | None) -> Change:
    """Return the change from one ceiling to the next; from none for a new job. None: it is unknown."""
    if new is None:
        was = "" if old is None else f" (it was {_hours(old)} instance hours{_money(None, old)})"
        what = f"the cost ceiling is unknown, since the instances are{was}"
        return pair.change(COST.name, ("hosts",), what, brief=CEILING)
    rise = _risen(old, new)
    before = "" if old is None else f"{_hours(old)} → "
    types = "" if old is None or set(old.hours) == set(new.hours) else ", on other instance types"
    counted = f"; {', '.join(new.counted)}" if new.counted else ""
    return pair.change(
        COST.name,
        ("hosts",) if pair.new.request is not None else ("ResourceConfig",),
        f"{percent(rise)}cost ceiling ({before}{_hours(new)} instance hours{_money(old, new)}{types}){counted}",
        old=None if old is None else old.record,
        new=new.record,
        brief=CEILING,
        rise=rise,
    )


def _risen(old: Ceiling | None, new: Ceiling) -> Rise:
    """Return the rise in percent: of the price, else of hours on the same types; None if neither can be compared."""
    if old is None:
        return None
    if old.usd and new.usd is not None:
        return (new.usd - old.usd) / old.usd * 100
    if set(old.hours) != set(new.hours) or not old.total or (len(old.hours) > 1 and not _in_proportion(old, new)):
        return None
    return (new.total - old.total) / old.total * 100


def _in_proportion(old: Ceiling, new: Ceiling) -> bool:
    """Return whether the hours of all types grew by the same factor, so that prices do not matter."""
    return len({new.hours[kind] / hours for kind, hours in old.hours.items() if hours}) == 1


def percent(rise: Rise) -> str:
    """Return a rise in the form for a message."""
    if rise is None:
        return ""
    sign = "−" if rise < 0 else "+"
    return f"{sign}{amount(abs(Fraction(round(rise * 10), 10)))} % "


def _hours(ceiling: Ceiling) -> str:
    return amount(ceiling.total)


def _money(old: Ceiling | None, new: Ceiling) -> str:
    parts = ["no price" if c.usd is None else f"${float(c.usd):,.2f}" for c in (old, new) if c is not None]
    return f", {' → '.join(parts)}" if set(parts) != {"no price"} else ""


def _cost_verdict(changes: Sequence[Change]) -> str:
    for change in changes:
        if change.brief == CEILING:
            return change.what.partition(";")[0]
    return f"changes limits{subjects(changes)}"


COST = Kind(
    name="cost",
    meaning="the cost ceiling in instance hours (instances × maximum runtime, with spot maximum wait time, keep-"
    "alive included), and in dollars where prices are known; limits, spot, and retries",
    changes=_cost_changes,
    verdict=_cost_verdict,
)
