"""Run the cases of an organization's rule: parts of specs that it accepts, and parts that it reports.

They run whenever the rules are read: a command of their own can be forgotten, and a rule that reports nothing looks
like a repository without violations.
"""

from __future__ import annotations

from functools import lru_cache

from smspec.diagnostics import InvalidInput, Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.organization.rule_file import MALFORMED_RULE
from smspec.rules.organization_rules.organization_rule import OrganizationRule
from smspec.source import Document, Mapping, Path, Scalar, Sequence, SourceText, dotted
from smspec.source.frozen import replace
from smspec.spec.layers.assembly import merged
from smspec.spec.shape.shape_check import shape_findings
from smspec.spec.yaml.yaml_reader import read

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
