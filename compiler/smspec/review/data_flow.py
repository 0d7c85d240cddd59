"""A diagram of the data that a job reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics.masking import hidden, without_tokens
from smspec.render.data_flow import mermaid_label
from smspec.review.version import Version
from smspec.service.members import member
from smspec.service.request import Request
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """Data at ``place`` that a job reads or writes, under a name; ``how`` describes in which way."""

    comes_in: bool
    place: str
    name: str
    how: str


DataFlow = tuple[Stream, ...]

_OUTPUTS = {
    "model": ("OutputDataConfig", "S3OutputPath"),
    "checkpoints": ("CheckpointConfig", "S3Uri"),
    "tensorboard": ("TensorBoardOutputConfig", "S3OutputPath"),
}


def data_flow(version: Version) -> DataFlow:
    """Return the streams of a job; its code is not one."""
    return tuple(_streams(version))


def _streams(version: Version) -> Iterator[Stream]:
    for channel in Request(payload=version.payload).channels:
        if channel.name not in ("code", "smspec"):
            place = channel.s3.get("S3Uri")
            if place is None:
                files = channel.file_system
                place = f"{files.get('FileSystemId', '?')}:{files.get('DirectoryPath', '')}" if files else "?"
            how = ", ".join(str(word) for word in (channel.mode, channel.s3.get("S3DataDistributionType")) if word)
            yield Stream(True, hidden(str(place)), channel.name, how)
    for name, path in _OUTPUTS.items():
        place = member(version.payload, *path)
        if isinstance(place, str):
            yield Stream(False, hidden(place), name, "")


def mermaid(name: str, old: DataFlow, new: DataFlow) -> str:
    """Return the flowchart of the new flow: new edges are thick, removed ones dotted."""
    lines = ["flowchart LR", f"  job[{_label(name)}]"]
    for number, stream in enumerate(dict.fromkeys([*new, *old])):
        arrow = "==>" if stream not in old else "-.->" if stream not in new else "-->"
        fate = "new: " if stream not in old else "gone: " if stream not in new else ""
        words = _label(fate + stream.name + (f" ({stream.how})" if stream.how else ""))
        lines.append(f"  place{number}[{_label(stream.place)}]")
        ends = (f"place{number}", "job") if stream.comes_in else ("job", f"place{number}")
        lines.append(f"  {ends[0]} {arrow}|{words}| {ends[1]}")
    return "".join(f"{line}\n" for line in lines)


def _label(text: str) -> str:
    text = without_tokens(text)  # before it is truncated: half a token may not be recognized
    return mermaid_label(text if len(text) <= 100 else f"{text[:60]}…{text[-39:]}")
