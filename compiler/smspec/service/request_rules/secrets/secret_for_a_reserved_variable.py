"""SageMaker and the smspec runtime set some variables themselves, and others decide how programs start."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.secret_settings import secret_path, secret_settings

RULE = Rule("SM612", "secret for a reserved variable")

_PREFIXES = ("SM_", "SMSPEC_", "SAGEMAKER_", "TRAINING_JOB_", "AWS_CONTAINER_")
_NAMES = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "CURRENT_HOST", "PYTHONPATH"})
# With any other value than a usual one, programs are not found, Python does not start, or the dynamic linker fails.
_READ_AT_START = frozenset(
    {
        *("PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONHOME", "PYTHONPLATLIBDIR"),
        *("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONMALLOC", "PYTHONUTF8", "PYTHONTRACEMALLOC"),
    }
)


def check(request: Request) -> Iterator[Finding]:
    """Reject a secret with the name of such a variable; credentials for a different account are allowed."""
    for name in secret_settings(request):
        if name in _READ_AT_START:
            problem = "is a variable that programs read when they start"
        elif name in _NAMES or name.startswith(_PREFIXES):
            problem = "is a variable that SageMaker or the smspec runtime sets"
        else:
            continue
        yield RULE.at(secret_path(name), f"`secrets.{shown(name)}` {problem}", help="rename the variable", on="key")
