"""The API model does not require that DataSource has exactly one member."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, member
from smspec.service.request import Request

RULE = Rule("SM430", "channel without exactly one data source", evidence="inferred")
SOURCES = frozenset({"S3DataSource", "FileSystemDataSource", "DatasetSource"})


def check(request: Request) -> Iterator[Finding]:
    """Reject a channel with no data source, or with two."""
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = member(channel, "DataSource")
        if not isinstance(source, dict):
            continue
        count = len(SOURCES & source.keys())
        if count == 1:
            continue
        name = member(channel, "ChannelName")
        label = f"channel `{shown(name)}`" if isinstance(name, str) else "the channel"
        yield RULE.at(
            ("InputDataConfig", index, "DataSource"),
            f"{label} has {count} data sources; expected one" if count else f"{label} has no data source",
            help="set either an S3 URI or a file system",
        )
