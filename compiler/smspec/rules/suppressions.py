"""Findings that the author expects, with the reason: `checks.ignore`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smspec.diagnostics import Finding, Rule
from smspec.service.policy import Policy
from smspec.service.shape_limits import MAY_BE_NEWER, SHAPE_RULES
from smspec.source import Path, dotted
from smspec.spec.model import IgnoredCheck

NOT_IGNORABLE = Rule("SM330", "ignore entry for a rule that cannot be ignored")
UNUSED = Rule("SM331", "unused ignore entry", "warning")
FORBIDDEN = Rule("SM746", "ignored rule that the policy protects")

# What makes a job or request invalid cannot be ignored; warnings among these can.
NEVER_IGNORED = ("SM1", "SM2", "SM731", *(rule.code for rule in SHAPE_RULES if rule not in MAY_BE_NEWER))

ALWAYS_ERRORS = (*NEVER_IGNORED, *(rule.code for rule in MAY_BE_NEWER))
"""Errors whose severity no policy lowers."""

_COMPARISONS = ("SM70", "SM71")

_OF_CHECK = tuple(f"SM{number}" for number in range(543, 553))
"""What `smspec check` finds: no other command can show that such an entry is unused."""

POLICY_RULES = ("SM74", "SM750", "SM751")
"""Rules that check what a policy requires. An entry for SM750 would hide that a cost was not checked."""


def not_ignored(
    findings: Iterable[Finding], ignored: Sequence[IgnoredCheck], policy: Policy | None = None
) -> list[Finding]:
    """Return the findings that are not ignored, and findings for entries that match nothing or are not allowed."""
    kept: list[Finding] = []
    used: set[int] = set()
    not_ignorable: set[int] = set()
    for finding in findings:
        hits = {index for index, check in enumerate(ignored) if covers(check.rule, check.at, finding)}
        if hits and policy is not None and not _may_ignore(finding.code, policy):
            hits = set()
        if not can_be_ignored(finding):
            not_ignorable |= hits
            kept.append(finding)
        elif hits:
            used |= hits
        else:
            kept.append(finding)
    for index, check in enumerate(ignored):
        path = ("checks", "ignore", index)
        if policy is not None and not _may_ignore(check.rule, policy):
            kept.append(
                FORBIDDEN.at(
                    (*path, "rule"),
                    f"`{policy.file_of('allow_ignores')}` does not allow ignoring `{check.rule}`",
                    help="fix the error, or ask the policy owner to add the code to `allow_ignores`",
                )
            )
        elif index in not_ignorable:
            kept.append(
                NOT_IGNORABLE.at(
                    (*path, "rule"),
                    f"`checks.ignore[{index}]`: `{check.rule}` cannot be ignored",
                    help="fix the error, and remove this entry",
                )
            )
        elif index not in used and not compares_specs(check.rule) and check.rule not in _OF_CHECK:
            kept.append(_unused_entry(check, path))
    return kept


def can_be_ignored(finding: Finding) -> bool:
    """Return whether `checks.ignore` can suppress a finding."""
    return finding.is_ignorable and (finding.severity != "error" or not finding.code.startswith(NEVER_IGNORED))


def _unused_entry(check: IgnoredCheck, path: Path) -> Finding:
    # Imported late: it lists the pages.
    from smspec.diagnostics.explanation import explained_codes

    if check.rule.startswith("SM") and check.rule not in explained_codes():
        help = "remove the entry, or use the code that the diagnostic shows"
        return UNUSED.at((*path, "rule"), f"`{dotted((*path, 'rule'))}`: unknown rule `{check.rule}`", help=help)
    where = f" at `{check.at}`" if check.at else ""
    return UNUSED.at(path, f"`{dotted(path)}` matches nothing: no {check.rule}{where}", help="remove the entry")


def _may_ignore(code: str, policy: Policy) -> bool:
    """Return whether a policy lets a spec ignore a check. The policy's own rules must be allowed by name."""
    if code.startswith(POLICY_RULES) and not isinstance(policy.may_ignore, tuple):
        return False
    return policy.lets_ignore(code)


def covers(rule: str, at: str, finding: Finding) -> bool:
    """Return whether an entry for ``rule`` at the path ``at`` (empty: anywhere) expects a finding."""
    if rule != finding.code:
        return False
    place = dotted(finding.path)
    return not at or place == at or place.startswith((f"{at}.", f"{at}["))


def compares_specs(rule: str) -> bool:
    """Return whether a rule compares specs: a check of one spec cannot show that its entry is unused."""
    return rule.startswith(_COMPARISONS)
