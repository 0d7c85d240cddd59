"""pip looks on PyPI for packages that the image lacks, which an isolated container, and many a VPC, cannot reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM557", "installation without a network", "warning")

_SETS_AN_INDEX = (
    r"(?i)codeartifact|index[-_]url|pip[/.](?:conf|ini)\b|\bpip\W+config\b|https?_proxy|PIP_CONFIG_FILE|\.sh\b"
)
"""What a source contains that may give pip an index; a shell script may, too."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about network isolation, or a VPC without an index of its own, where every run of the script runs pip."""
    environment = both.environment
    path = environment.isolation_path or environment.unrouted_path
    if path is None or environment.packages is None:
        return
    for installation in both.program.installations:
        missing = [name for name in installation.packages if _normalized(name) not in environment.packages]
        if not missing:
            continue
        is_isolated = environment.isolation_path is not None
        if not is_isolated and any(re.search(_SETS_AN_INDEX, text.text) for text in both.program.texts):
            return
        key = "`network.isolation` is true" if is_isolated else "`network.subnets` might not reach PyPI"
        index = "" if is_isolated else ", or set `PIP_INDEX_URL` in `environment` to an index in the VPC"
        yield RULE.at(
            path,
            f"`{both.name}` runs {quoted(f'pip install {missing[0]}')}, but {key}",
            help=f"install the package in the image{index}",
            notes=(
                Note("the script runs pip here", installation.place),
                Note("pip needs an index for packages that the image lacks"),
            ),
        )
        return


def _normalized(requirement: str) -> str:
    name = re.match(_NAME, requirement)
    return re.sub(r"[-_.]+", "-", name[0]).lower() if name else requirement
