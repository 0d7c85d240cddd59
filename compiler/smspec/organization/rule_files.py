"""The files with the rules of an organization, named by `rule_files` of smspec.toml, whose cases run.

A case is a part of a spec that a rule accepts, or one that it reports. They run whenever the rules are read: a command
of their own can be forgotten, and a rule that reports nothing looks like a repository without violations.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache

from smspec.diagnostics import Diagnostic, InvalidInput, Note, ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.organization.organization_config import MALFORMED_POLICY, Fault, OrganizationConfig, rejected_values
from smspec.organization.rule_file import MALFORMED_RULE, read_rule
from smspec.rules.organization_rules.condition import OrganizationRule
from smspec.source import Document, Mapping, Path, Scalar, Sequence, SourceText, Span, dotted
from smspec.source.frozen import replace
from smspec.spec.layers import merged
from smspec.spec.shape import shape_findings
from smspec.spec.yaml import decode_bytes, read
from smspec.workspace.boundary import Boundary, FileNotRead

KEY = "rule_files"
DUPLICATE_CODE = Rule("SM756", "duplicate code of a rule")

_LARGEST = 64 << 10
_MOST_FILES = 200

FAILED_CASE = Rule("SM757", "failed case of a rule")

_JOB = """\
smspec: v1
role: arn:aws:iam::111122223333:role/Training
region: us-west-2
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/case:1
hosts: {instance_type: ml.m5.large, count: 1}
output: s3://case/output/
"""
"""The job that a case changes."""


def read_rules(files: Iterable[tuple[OrganizationConfig, Boundary]]) -> tuple[OrganizationRule, ...]:
    """Return the rules in the files that policies name, the outermost policy first, in the order of their paths.

    Their cases have run. Raise `InvalidInput` with the errors in all files.
    """
    rules: dict[str, tuple[OrganizationRule, Span]] = {}
    found: list[Diagnostic] = []
    texts: list[SourceText] = []
    paths = {path: boundary for file, boundary in files for path in rule_paths(file, boundary)}
    for path, boundary in paths.items():
        try:
            rule, document = _read(path, boundary)
            place = document.span_of_value(("code",))
            texts += document.texts
            if rule.code in rules:
                _reject_duplicate(rule, place, rules[rule.code][1], document)
            rules[rule.code] = rule, place
            check_cases(rule, document)
        except InvalidInput as rejected:
            found += rejected.diagnostics
            texts += rejected.texts
    if found:
        raise InvalidInput(tuple(found), tuple(dict.fromkeys(texts)))
    return tuple(rule for rule, _ in rules.values())


def _read(path: str, boundary: Boundary) -> tuple[OrganizationRule, Document]:
    try:
        content = boundary.read(path, _LARGEST)
    except FileNotRead as fault:
        raise _unread(path, f"`{path}`: this {fault.reason}", "replace it with a file of the repository") from None
    if len(content) > _LARGEST:
        raise _unread(path, f"`{path}` has more than {_LARGEST >> 10} KiB", "write one rule in each file")
    document = read(decode_bytes(path, content))
    return read_rule(document), document


def _unread(path: str, message: str, help: str) -> InvalidInput:
    errors = ParseErrors(SourceText(path, ""))
    errors.add(MALFORMED_RULE, errors.span(0, 0), message, help=help)
    return errors.rejected()


def _reject_duplicate(rule: OrganizationRule, place: Span, first: Span, document: Document) -> None:
    errors = ParseErrors(document.texts[0])
    notes = (Note("the first rule with this code", first),)
    message = f"`code`: {quoted(rule.code)} is the code of two rules"
    errors.add(DUPLICATE_CODE, place, message, path=("code",), help="change one of the codes", notes=notes)
    raise errors.rejected()


def rule_paths(file: OrganizationConfig, boundary: Boundary) -> tuple[str, ...]:
    """Return the paths of the files, sorted, without duplicates. Raise `InvalidInput` for a pattern without a file."""
    top = os.path.dirname(file.path)
    patterns = file.tables.get(KEY)
    faults: list[Fault] = []
    paths: set[str] = set()
    if not isinstance(patterns, list) or not all(isinstance(one, str) and one for one in patterns):
        faults.append(((KEY,), f"`{KEY}` must be a list of strings", f'write `{KEY} = ["rules/*.yaml"]`'))
        patterns = []
    for pattern in patterns:
        matched = [*_matched(pattern, top, boundary)]
        if not matched:
            help = "write the path of .yaml or .yml files in the repository, relative to this file"
            faults.append(((KEY,), f"`{KEY}`: {quoted(pattern)} matches no file", help))
        paths.update(matched)
    if len(paths) > _MOST_FILES:
        faults.append(((KEY,), f"`{KEY}` matches more than {_MOST_FILES} files", "name the files with rules only"))
    if faults:
        raise rejected_values(file, faults, MALFORMED_POLICY)
    return tuple(sorted(paths))


def rule_patterns(file: OrganizationConfig, boundary: Boundary) -> Iterator[str]:
    """Yield the patterns of a file below real directories: its own, and those that links on the way lead to."""
    top, patterns = os.path.dirname(file.path), file.tables.get(KEY)
    for pattern in patterns if isinstance(patterns, list) else ():
        if isinstance(pattern, str) and _is_valid(pattern):
            yield os.path.normpath(os.path.join(glob.escape(os.path.realpath(top)), pattern))
            *steps, name = pattern.split("/")
            yield from (os.path.join(glob.escape(one), name) for one in _directories(top, steps, boundary))


def _matched(pattern: str, top: str, boundary: Boundary) -> Iterator[str]:
    """Yield the files that match a pattern; a pattern does not go into directories that it does not name."""
    if not _is_valid(pattern):
        return
    *steps, last = pattern.split("/")
    for directory in _directories(top, steps, boundary).values():
        for name in glob.iglob(last, root_dir=directory or os.curdir):
            path = os.path.normpath(os.path.join(directory, name))
            # `smspec diff` extracts the YAML files of a revision, and no others.
            if path.endswith((".yaml", ".yml")) and (boundary.is_file(path) or os.path.islink(path)):
                yield path


def _is_valid(pattern: str) -> bool:
    return not ("\0" in pattern or "**" in pattern or os.path.isabs(pattern))


def _directories(top: str, steps: Iterable[str], boundary: Boundary) -> dict[str, str]:
    """Return the directories for the steps of a pattern, each once: links may lead to one in countless ways."""
    found = {os.path.realpath(top): top}
    for step in filter(None, steps):
        above, found = found, {}
        for directory in above.values():
            for name in sorted(glob.iglob(step, root_dir=directory or os.curdir)):
                path = os.path.join(directory, name)
                if boundary.is_directory(path):
                    found.setdefault(os.path.realpath(path), path)
    return found


def check_cases(rule: OrganizationRule, document: Document) -> None:
    """Raise `InvalidInput` for cases that are not parts of specs, and for those with an unexpected result."""
    errors = ParseErrors(document.texts[0])
    for kind in ("right", "wrong"):
        listed = document.node(("cases", kind))
        for index, case in enumerate(listed.items if isinstance(listed, Sequence) else ()):
            at: Path = ("cases", kind, index)
            assert isinstance(case, Mapping)
            job = _job_of(case, at, document, errors)
            if job is None:
                continue
            found = [*rule.check(job.root)]
            if kind == "right" and found:
                message = f"`{dotted(at)}` is a right case, but {rule.code} reports `{dotted(found[0].path)}`"
                help = "fix `when` and `require`, or move the case to `wrong`"
                errors.add(FAILED_CASE, case.span, message, path=at, help=help)
            if kind == "wrong" and not found:
                message = f"`{dotted(at)}` is a wrong case, but {rule.code} reports nothing"
                help = "fix `when` and `require`, or move the case to `right`"
                errors.add(FAILED_CASE, case.span, message, path=at, help=help)
    if errors:
        raise errors.rejected()


def _job_of(case: Mapping, at: Path, document: Document, errors: ParseErrors) -> Document | None:
    """Return the job with a case; None, and an error, if that is not the shape of a job."""
    name = document.texts[0].name
    help = "write keys and values as in a spec; null removes a key"
    try:
        job = merged([_plain_job(), _as_spec(case, document)])
    except InvalidInput as rejected:
        fault = rejected.diagnostics[0]
        span = fault.span if fault.span.file == name else case.span
        errors.add(MALFORMED_RULE, span, f"`{dotted(at)}` is not part of a spec: {fault.message}", path=at, help=help)
        return None
    findings = shape_findings(job)
    for finding in findings:
        span = job.span_of_key(finding.path) if finding.on == "key" else job.span_of_value(finding.path)
        span = span if span.file == name else case.span
        message = f"`{dotted(at)}` is not part of a spec: {finding.message}"
        errors.add(MALFORMED_RULE, span, message, path=at, help=finding.label or finding.help or help)
    return None if findings else job


def _as_spec(case: Mapping, document: Document) -> Document:
    """Return a case with what a spec has and no base spec."""
    own = (
        (Scalar(key, key, True, case.span), Scalar(value, value, True, case.span))
        for key, value in (("smspec", "v1"), ("name", "case"))
        if case.get(key) is None
    )
    return Document(replace(case, entries=(*own, *case.entries)), document.texts)


@lru_cache(maxsize=1)
def _plain_job() -> Document:
    return read(SourceText("case", _JOB))
