"""Some built-in algorithms read files only."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.request import Request

RULE = Rule("SM493", "unsupported input mode of a built-in algorithm", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject Pipe mode for an algorithm that the guide lists with File mode only."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or "Pipe" in algorithm.input_modes:
        return
    for path in dict.fromkeys(channel.mode_path for channel in request.channels if channel.mode == "Pipe"):
        yield RULE.at(
            path, f"{HERE} is `Pipe`, but `{algorithm.name}` supports only File mode", help="set it to `File`"
        )
