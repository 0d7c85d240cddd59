"""The kind of change and the name for each member of a request."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.user_text import quoted
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_by_member
from smspec.spec.keys.row import NamedForm, ValueForm

_S3 = ("InputDataConfig", "*", "DataSource", "S3DataSource")


@dataclass(frozen=True, slots=True)
class Meaning:
    """``kinds``: the kinds of a change of the member; ``words``: its name in messages."""

    kinds: tuple[str, ...]
    words: str


def _of_keys() -> Iterator[tuple[Path, Meaning]]:
    """Yield the meanings in the table of keys; entries whose name a user chooses have the meaning of their key."""
    for path, rows in rows_by_member().items():
        row = rows[0]
        has_names = isinstance(row.form, NamedForm) or (isinstance(row.form, ValueForm) and row.form.shape == "map")
        if row.called:
            yield (*path, "*") if has_names else path, Meaning((row.kind,), row.called)


MEMBERS: dict[Path, Meaning] = {
    **dict(_of_keys()),
    ("HyperParameters", "sagemaker_program"): Meaning(("code",), "program"),
    ("HyperParameters", "sagemaker_submit_directory"): Meaning(("code",), "archive of the code"),
    ("AlgorithmSpecification", "AlgorithmName"): Meaning(("image",), "algorithm"),
    ("AlgorithmSpecification", "ContainerArguments"): Meaning(("security",), "container arguments"),
    ("AlgorithmSpecification", "TrainingImageConfig"): Meaning(("security",), "access to the image's registry"),
    ("InputDataConfig", "code"): Meaning(("code",), "channel of the code"),
    ("InputDataConfig", "smspec"): Meaning(("code",), "channel of the runtime and its entry point"),
    (*_S3, "HubAccessConfig"): Meaning(("security", "data"), "access to a hub"),
    (*_S3, "ModelAccessConfig"): Meaning(("security", "data"), "license of a model"),
    ("DebugHookConfig", "S3OutputPath"): Meaning(("output",), "where debugger data go"),
    ("ProfilerConfig", "S3OutputPath"): Meaning(("output",), "where profiler data go"),
    ("InfraCheckConfig",): Meaning(("hosts",), "check of the hosts"),
    ("RemoteDebugConfig",): Meaning(("security",), "remote debugging"),
    ("SessionChainingConfig",): Meaning(("security",), "session tags"),
}
"""Place in the request, ``*`` standing for a name → what it means; the longest match counts.

Members that a key makes have theirs in its row, `spec/keys/`; here are those that only `api`, or smspec itself, sends.
"""

_LAUNCHER = Meaning(("hosts",), "launcher")
_UNKNOWN = Meaning(("other",), "")


def meaning(at: Path) -> Meaning:
    """Return the meaning of a member: with its own name rather than ``*``, or of its nearest known parent."""
    if at[0] == "HyperParameters" and str(at[-1]).startswith("sagemaker_") and at not in MEMBERS:
        return _LAUNCHER
    if at[:2] in MEMBERS and at[0] == "InputDataConfig":
        return MEMBERS[at[:2]]
    for length in range(len(at), 0, -1):
        known = MEMBERS.get(at[:length]) or MEMBERS.get((at[0], "*", *at[2:length]) if length > 1 else at[:length])
        if known is not None:
            return known
    return _UNKNOWN


def words(at: Path) -> str:
    """Return the name of a member in messages; its API name if it has no other."""
    return meaning(at).words or quoted(str(at[-1]))
