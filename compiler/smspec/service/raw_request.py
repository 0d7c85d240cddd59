"""A CreateTrainingJob request as a file, and what such files often contain instead."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request
from smspec.service.shapes import pinned_model
from smspec.source import Document, Mapping, Path, Sequence, to_data

NO_REQUEST = Rule("SM156", "JSON other than a request")

_IMPORT = "run `smspec import FILE` to convert it to a job spec"
_ANSWERED = ("TrainingJobArn", "TrainingJobStatus", "SecondaryStatus")
"""Members of DescribeTrainingJob that CreateTrainingJob does not have."""


def payload_of(document: Document) -> dict[str, object]:
    """Return a request as plain data; empty if the document is not an object."""
    data = to_data(document.root)
    return data if isinstance(data, dict) else {}


def not_a_request(document: Document) -> Finding | None:
    """Return what the document is instead of a request, or None when it may be one."""
    root = document.root
    if isinstance(root, Sequence):
        return NO_REQUEST.at((), "the file contains a list, not a request", help="move each request to its own file")
    if not isinstance(root, Mapping):
        return NO_REQUEST.at((), "the file contains a single value, not a request", help="use an object")
    names = [key.text for key, _ in root.entries]
    if "smspec" in names:
        return _other(
            "smspec",
            "`smspec` is set: this is a job spec, not a request",
            "run `smspec validate FILE`, without `--api-json`",
        )
    answered = next((name for name in _ANSWERED if name in names), None)
    if answered is not None:
        return _other(answered, f"`{answered}`: this is DescribeTrainingJob output, not a request", _IMPORT)
    if "apiVersion" in names and "kind" in names:
        return _other("kind", "`kind` is set: this is a Kubernetes object, not a request", _IMPORT)
    if not set(names) & pinned_model().root.members.keys():
        inside = next(_requests_inside(document), None)
        if inside is not None:
            message = f"the request is inside `{inside[-1]}`"
            return NO_REQUEST.at(inside, message, help=f"use only its value, or {_IMPORT}", on="key")
    return None


def _other(name: str, message: str, help: str) -> Finding:
    return NO_REQUEST.at((name,), message, help=help, on="key")


def _requests_inside(document: Document) -> Iterator[Path]:
    """Yield the paths, at most three deep, of objects that look like requests: wrappers, states, templates."""
    members = pinned_model().root.members.keys()
    ahead: list[Path] = [()]
    while ahead:
        path = ahead.pop(0)
        node = document.node(path)
        if isinstance(node, Mapping):
            for key, value in node.entries:
                here = (*path, key.text)
                if isinstance(value, Mapping):
                    if len(members & {name.text.removesuffix(".$") for name, _ in value.entries}) > 1:
                        yield here
                    elif len(here) < 3:
                        ahead.append(here)


def region_of(payload: dict[str, object]) -> str | None:
    """Return the region of a request, which is that of its image in ECR; None if there is none."""
    image = Request(payload=payload).image
    return image.region if image else None
