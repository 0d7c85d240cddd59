"""Incremental training opens the earlier model as files."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM453", "model channel without File mode", evidence="api-doc")

_MODEL = "application/x-sagemaker-model"


def check(request: Request) -> Iterator[Finding]:
    """Reject the channel of an earlier model in a mode other than File."""
    for channel in request.channels:
        if channel.members.get("ContentType") == _MODEL and channel.mode in ("Pipe", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                channel.mode_path,
                f"{HERE} is {channel.mode}, but {channel.label} contains a model and requires File mode",
                help=f"set `{mode}: File` for the channel",
            )
