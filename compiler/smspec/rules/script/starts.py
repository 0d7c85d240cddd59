"""Rules about how a script starts: its handler, its process group, and the network that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob
from smspec.script.program import UnreadScript

UNREAD_SCRIPT = Rule("SM512", "unread script", "note")

_EFFECT = Note("smspec did not check its arguments, channels, and hyperparameters")


def finding_for(unread: UnreadScript) -> Finding:
    """Report that the script of a job was not read, and why: a job without problems must not have the same result."""
    message = f"smspec did not read {quoted(unread.name)}: {unread.reason}"
    return UNREAD_SCRIPT.at(unread.path, message, help=unread.help, notes=(_EFFECT,))


HANDLER_MISSING_FROM_ITS_MODULE = Rule("SM511", "handler missing from its module")

MOST_NAMED = 3


def handler_missing_from_its_module(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a function or class whose name does not occur in its module.

    The runtime imports the module of a handler and looks up the name in it.
    """
    program = both.program
    if program.missing_handler is None:
        return
    few = program.definitions[:MOST_NAMED]
    has = f", such as {one_of(few)}" if few else ": it defines none"
    near = nearest(program.missing_handler, program.definitions)
    yield HANDLER_MISSING_FROM_ITS_MODULE.at(
        both.environment.program_path,
        f"`{both.name}` has no function or class `{program.missing_handler}`",
        label=f"did you mean `{near}`?" if near else "",
        help=f"use a function or class of the module{has}",
    )


PROCESS_GROUP_WITHOUT_A_LAUNCHER = Rule("SM530", "process group without a launcher", "warning")


def process_group_without_a_launcher(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a script that forms a process group in a job that sets no variables for it.

    PyTorch reads RANK and WORLD_SIZE from the environment, and only launchers set them.
    """
    for group in both.program.process_groups[:1]:
        missing = [name for name in group.variables if name not in both.environment.variables]
        if both.environment.forms_groups or not missing:
            continue
        yield PROCESS_GROUP_WITHOUT_A_LAUNCHER.at(
            both.environment.program_path,
            f"`{both.name}` calls `init_process_group`, but the job sets no {one_of(missing)}",
            help="set `distribution: torchrun`, or set the variables in the script",
            notes=(Note("the script forms the group here", group.place),),
        )


AWS_CALL_IN_ISOLATION = Rule("SM539", "AWS call in an isolated job")

_ENDPOINTS = ("AWS_ENDPOINT_URL", "FSSPEC_S3")
"""A variable that begins with one of these sends calls to another address, such as a server in the container."""


def aws_call_in_isolation(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject network isolation where every run of the script calls AWS.

    An isolated container has neither a network nor credentials, so every call of AWS fails.
    """
    path = both.environment.isolation_path
    if path is None or any(name.startswith(_ENDPOINTS) for name in both.environment.variables):
        return
    for use in both.program.aws_uses[:1]:
        yield AWS_CALL_IN_ISOLATION.at(
            path,
            f"`{both.name}` calls `{use.written}`, but `network.isolation` is true",
            help="pass the data as a channel, or remove `network.isolation`",
            notes=(Note("the script calls AWS here", use.place),),
        )


INSTALLATION_WITHOUT_A_NETWORK = Rule("SM557", "installation without a network", "warning")

_SETS_AN_INDEX = (
    r"(?i)codeartifact|index[-_]url|pip[/.](?:conf|ini)\b|\bpip\W+config\b|https?_proxy|PIP_CONFIG_FILE|\.sh\b"
)
"""What a source contains that may give pip an index; a shell script may, too."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"


def installation_without_a_network(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about network isolation, or a VPC without an index of its own, where every run of the script runs pip.

    pip looks on PyPI for packages that the image lacks, which an isolated container, and many a VPC, cannot reach.
    """
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
        yield INSTALLATION_WITHOUT_A_NETWORK.at(
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


RULES = (
    handler_missing_from_its_module,
    process_group_without_a_launcher,
    aws_call_in_isolation,
    installation_without_a_network,
)
