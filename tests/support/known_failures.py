"""The failures of tests/failures: what users reported, a small job that fails so, and what smspec answers.

A case is one mapping of a YAML file:

- ``reports``: each public report, `owner/repository#number`, with the failure in one line;
- ``files``: the job that fails. ``job.yaml`` has only the keys that matter; the others are those of `JOB`;
- ``# SM506`` at the end of a line of a file: what `smspec validate` reports there, and nowhere else;
- ``shows``: what other commands say or write, as `Answer` describes;
- ``account``: what AWS has and does, as `Account` describes, if the commands of ``shows`` call it;
- ``cured``: the files that differ in the repaired job, about which `validate` reports nothing, and its ``shows``;
- ``answer``: what the page for users says beyond the codes;
- ``not yet`` or ``not applicable``: why smspec does not prevent the failure. Such a case has no files.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from support.servers.package_index import wheel

DIRECTORY = Path(__file__).parents[1] / "failures"

JOB = {
    "smspec": "v1",
    "name": "small",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "image": '{base: "python:3.12-slim-bookworm"}',
    "source": "src/",
    "entry_point": "train.py",
    "hosts": "{instance_type: ml.m5.large, count: 1, volume: 10GB}",
    "output": "s3://models/small/",
}
"""The keys of a job without faults; a case replaces some."""

SCRIPT = 'print("trained")\n'

_MARK = re.compile(r"[ \t]*# (SM\d{3}(?:, SM\d{3})*)$")
_REPEATED = re.compile(r"<(\d+) × ([^>]+)>")
_NUMBERED = re.compile(r"<1…(\d+)>")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command does: its exit ``status``, what its output ``says`` and ``lacks``, and which files it leaves.

    ``writes`` has the files after the command, with a text that each contains; ``omits`` has those that are not there.
    ``creates`` counts the training jobs that exist after it. ``encrypts`` is the ID of the KMS key of what it uploads.
    """

    command: str
    status: int = 0
    says: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    writes: Mapping[str, str] = field(default_factory=dict)
    omits: tuple[str, ...] = ()
    creates: int = 0
    encrypts: str = ""

    @property
    def starts_processes(self) -> bool:
        """Whether the command runs the job."""
        return self.command.split()[0] in ("run", "check", "rehearse")


@dataclass(frozen=True, kw_only=True)
class Account:
    """An AWS account: ``objects`` in S3 as bucket/key, and what `JobServer` gets.

    ``looks`` are those of each job, ``outcomes`` replaces them for an instance type, ``log`` is that of the job
    `nightly` on each of its ``hosts``. ``jobs`` exist before the command. ``has_names``: the servers have the names of
    AWS, and the account is not that of the role. ``faults`` wait for the first calls, ``later`` for those after the
    third look at a job. ``pushed`` is the media type of each image that the registry gets.
    """

    objects: tuple[str, ...] = ()
    looks: tuple[dict[str, Any], ...] = ()
    outcomes: Mapping[str, str | list[dict[str, Any]]] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    hosts: int = 1
    jobs: tuple[str, ...] = ()
    has_names: bool = False
    faults: Mapping[str, list[list[Any]]] = field(default_factory=dict)
    later: Mapping[str, list[list[Any]]] = field(default_factory=dict)
    pushed: str = ""


class Program(bytes):
    """The content of a file that can be executed."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The files of a job, and what smspec answers: ``reported`` as (code, file, line), and other commands."""

    files: Mapping[str, bytes | Path | int]
    reported: frozenset[tuple[str, str, int]]
    shows: tuple[Answer, ...]

    def write(self, directory: Path) -> None:
        """Write the files; a number is the size of a file of zeros, a path the target of a link."""
        for name, content in self.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
                if isinstance(content, Program):
                    path.chmod(0o755)
            elif isinstance(content, int):
                with path.open("wb") as file:
                    file.truncate(content)
            else:
                path.symlink_to(content)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A case. ``reason`` says why smspec does not prevent it, and is empty for one that it prevents."""

    name: str
    topic: str
    reports: Mapping[str, str]
    job: Job | None
    cured: Job | None
    account: Account | None
    answer: str
    reason: str
    is_applicable: bool

    @property
    def codes(self) -> list[str]:
        """The codes that `smspec validate` reports."""
        return sorted({code for code, _, _ in self.job.reported}) if self.job else []

    @property
    def commands(self) -> list[str]:
        """The commands that answer, each once."""
        shown = [answer.command for job in (self.job, self.cured) if job for answer in job.shows]
        return list(dict.fromkeys([*(["validate"] if self.codes else []), *shown]))


def url(report: str) -> str:
    """Return the address of a report."""
    return f"https://github.com/{report.replace('#', '/issues/')}"


@functools.cache
def topics() -> tuple[tuple[str, str], ...]:
    """Return (file, title) of all topics, in the order of the page."""
    order = yaml.safe_load((DIRECTORY / "topics.yaml").read_text(encoding="utf-8"))
    return tuple(order.items())


@functools.cache
def failures() -> tuple[Failure, ...]:
    """Return all cases, in the order of the page."""
    return tuple(_failure(topic, name, case) for topic, _ in topics() for name, case in _cases(topic))


def _cases(topic: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from yaml.safe_load((DIRECTORY / f"{topic}.yaml").read_text(encoding="utf-8")).items()


def _failure(topic: str, name: str, case: dict[str, Any]) -> Failure:
    unknown = set(case) - {"reports", "files", "shows", "cured", "account", "answer", "not yet", "not applicable"}
    assert not unknown, f"{topic}.yaml: {name}: {unknown}"
    files, cured = case.get("files", {}), case.get("cured")
    reason = case.get("not yet", case.get("not applicable", ""))
    return Failure(
        name=name,
        topic=topic,
        reports=case["reports"],
        job=None if reason else _job(files, case.get("shows", ())),
        cured=_job(files | cured.get("files", {}), cured.get("shows", ()), is_cured=True) if cured else None,
        account=Account(**_frozen_values(case["account"])) if "account" in case else None,
        answer=case.get("answer", ""),
        reason=reason,
        is_applicable="not applicable" not in case,
    )


def _job(files: dict[str, Any], shows: list[dict[str, Any]], *, is_cured: bool = False) -> Job:
    written: dict[str, bytes | Path | int] = {}
    reported = set()
    for name, content in {"job.yaml": "", "src/train.py": SCRIPT, **files}.items():
        if isinstance(content, str):
            text = _expanded(_completed(content) if name == "job.yaml" else content)
            lines = text.split("\n")
            for number, line in enumerate(lines, 1):
                if mark := _MARK.search(line):
                    reported |= {(code, name, number) for code in mark[1].split(", ")}
            written[name] = "\n".join(_MARK.sub("", line) for line in lines).encode()
        elif "size" in content:
            written[name] = int(content["size"])
        elif "link" in content:
            written[name] = Path(content["link"])
        elif "program" in content:
            written[name] = Program(content["program"].encode())
        elif "gzip" in content:
            written[name] = gzip.compress(content["gzip"].encode(), mtime=0)
        else:
            written[name] = wheel(content["wheel"], content["version"], {f"{content['wheel']}.py": content["text"]})
    answers = [Answer(**_frozen_values(each)) for each in shows]
    return Job(files=written, reported=frozenset() if is_cured else frozenset(reported), shows=tuple(answers))


def _frozen_values(mapping: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in mapping.items()}


def _completed(text: str) -> str:
    """Return the spec of a case: the keys of `JOB` that it does not have, then its own.

    An existing image has no source, unless the case names one, and a serverless job has neither image nor hosts.
    """
    own = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    if "image" in own and not re.search(r"^image: *(\{|#|$)", text, re.MULTILINE) and "source" not in own:
        own |= {"source", "entry_point"}
    if "ServerlessJobConfig" in text:
        own |= {"image", "source", "entry_point", "hosts"}
    return "".join(f"{key}: {value}\n" for key, value in JOB.items() if key not in own) + text


def _expanded(text: str) -> str:
    """Replace `<600 × x>` by that many, and repeat a line with `<1…101>` for each number."""
    lines = []
    for line in text.split("\n"):
        counted = _NUMBERED.search(line)
        numbers = range(1, int(counted[1]) + 1) if counted else (0,)
        lines += [_NUMBERED.sub(str(number), line) for number in numbers]
    return _REPEATED.sub(lambda found: found[2] * int(found[1]), "\n".join(lines))
