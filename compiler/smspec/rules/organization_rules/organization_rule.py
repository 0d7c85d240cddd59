"""A rule that an organization wrote in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Severity
from smspec.diagnostics.quoting import path_name
from smspec.rules.organization_rules.condition import Condition
from smspec.source import Node
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationRule:
    """If all conditions of ``when`` hold for a merged spec, all of ``require`` must. ``file``: where it is written."""

    code: str
    title: str
    why: str
    help: str
    severity: Severity
    is_ignorable: bool
    when: tuple[Condition, ...]
    require: tuple[Condition, ...]
    file: str

    def check(self, root: Node) -> Iterator[Finding]:
        """Yield a finding for each value that violates the rule, at the value, or where it is missing."""
        if not all(any(one.may_hold(value) for _, value in one.values(root)) for one in self.when):
            return
        for condition in self.require:
            for path, value in condition.values(root):
                objection = condition.objection(value)
                if objection:
                    yield Finding(
                        code=self.code,
                        severity=self.severity,
                        path=path,
                        message=f"{path_name(path)} {objection}: {self.title}",
                        help=self.help,
                        page=self.page,
                        is_ignorable=self.is_ignorable,
                    )

    @property
    def page(self) -> str:
        """The explanation of the rule, as Markdown."""
        ignore = (
            f"Add `{self.code}` to `checks.ignore` with the reason." if self.is_ignorable else "It cannot be ignored."
        )
        remedy = f"## Use instead\n\n{self.help}\n\n" if self.help else ""
        return (
            f"# {self.code}: {self.title}\n\n{self.why}\n\n{remedy}"
            f"## Ignore this rule\n\n{ignore}\n\n## References\n\n{self.file}\n"
        )
