"""Rules about launchers, in built images and in those with the toolkit."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import (
    BuiltImage,
    CommandEntry,
    ExistingImage,
    JobSpec,
    Mpi,
    ScriptEntry,
    SmDataParallel,
    Torchrun,
)

TORCHRUN_WITH_A_SHELL_SCRIPT = Rule("SM313", "torchrun with a shell script")


def torchrun_with_a_shell_script(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject torchrun with anything except a Python script.

    torchrun starts only Python programs.
    """
    entry = job.entry_point
    if isinstance(job.distribution, Torchrun) and isinstance(entry, ScriptEntry) and not entry.script.endswith(".py"):
        yield TORCHRUN_WITH_A_SHELL_SCRIPT.at(
            ("entry_point", "script"),
            f"`distribution` is `torchrun`, but `{entry.script}` is not a Python script",
            help="use a `.py` file, or remove `distribution` and call torchrun in the script",
        )


UNUSED_DISTRIBUTION = Rule("SM314", "unused distribution")


def unused_distribution(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `distribution` in an existing image that starts itself.

    Whatever starts the script also starts its launcher.
    """
    if not isinstance(job.image, ExistingImage) or job.source is not None or job.distribution is None:
        return
    if job.entry_point is None or isinstance(job.entry_point, CommandEntry):
        yield UNUSED_DISTRIBUTION.at(
            ("distribution",),
            "`distribution` needs `source` when `image` names an existing image",
            help="set `source` and `entry_point`, or start the processes in `entry_point.command`",
            on="key",
        )


SMDATAPARALLEL_ON_A_NEWER_BASE = Rule("SM418", "smdataparallel on a newer base", "warning", evidence="devguide")


def smdataparallel_on_a_newer_base(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a base image of AWS with a version of PyTorch that the library does not support.

    SageMaker's data parallelism library is documented up to one version of PyTorch, in a base image too.
    """
    if not isinstance(job.image, BuiltImage) or not isinstance(job.distribution, SmDataParallel):
        return
    # Imported late: few jobs use this launcher.
    from smspec.service.image_reference import parsed_reference
    from smspec.service.runtime_settings import documented_launcher, pytorch_version

    version = pytorch_version(parsed_reference(job.image.base))
    documented = documented_launcher("smdataparallel")
    if version is not None and version > documented.last_version:
        last = ".".join(map(str, documented.last_version))
        yield SMDATAPARALLEL_ON_A_NEWER_BASE.at(
            ("image", "base"),
            f"{HERE}: the last PyTorch with `smdataparallel` is {last}, {documented.as_of}",
            help=f"use a different launcher, such as `torchrun`, or a base with PyTorch {last} or earlier",
        )


ENTRY_POINT_UNSUPPORTED_BY_THE_TOOLKIT = Rule("SM315", "entry point unsupported by the toolkit")

_HELP = "set `source.delivery: channel`"


def entry_point_unsupported_by_the_toolkit(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject what the toolkit of an existing image does not support: other entry points, arguments, or styles.

    The toolkit of an existing image starts a script with the hyperparameters as arguments, and supports nothing else.
    """
    entry = job.entry_point
    if not isinstance(job.image, ExistingImage) or job.delivery != "s3" or entry is None:
        return
    if not isinstance(entry, ScriptEntry):
        yield ENTRY_POINT_UNSUPPORTED_BY_THE_TOOLKIT.at(
            ("entry_point",), "`source.delivery: s3` requires `entry_point.script`", help=_HELP, on="key"
        )
        return
    if entry.args:
        yield ENTRY_POINT_UNSUPPORTED_BY_THE_TOOLKIT.at(
            ("entry_point", "args"),
            "`entry_point.args` is not supported with `source.delivery: s3`",
            help=_HELP,
            on="key",
        )
    if entry.args_style != "toolkit":
        yield ENTRY_POINT_UNSUPPORTED_BY_THE_TOOLKIT.at(
            ("entry_point", "args_style"),
            "`entry_point.args_style` is not supported with `source.delivery: s3`",
            help=_HELP,
        )


UNSUPPORTED_LAUNCHER_OPTION = Rule("SM316", "unsupported launcher option")

_FOR_A_LAUNCHER = "set `source.delivery: channel`, or remove the option"


def unsupported_launcher_option(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject options of a launcher that no hyperparameter sets.

    The toolkit of an existing image supports fewer launcher options than the smspec runtime.
    """
    if not isinstance(job.image, ExistingImage) or job.delivery != "s3":
        return
    launcher = job.distribution
    if isinstance(launcher, Torchrun):
        for key, written, default in (
            ("processes_per_host", launcher.processes_per_host, "auto"),
            ("port", launcher.port, Torchrun().port),
        ):
            if written != default:
                yield UNSUPPORTED_LAUNCHER_OPTION.at(
                    ("distribution", "torchrun", key),
                    f"`distribution.torchrun.{key}` is not supported with `source.delivery: s3`",
                    help=_FOR_A_LAUNCHER,
                    on="key",
                )
    if isinstance(launcher, Mpi):
        for index, option in enumerate(launcher.options):
            if not option or any(character.isspace() for character in option):
                yield UNSUPPORTED_LAUNCHER_OPTION.at(
                    ("distribution", "mpi", "options", index),
                    f"`distribution.mpi.options[{index}]` contains a space (`source.delivery: s3`)",
                    help=_FOR_A_LAUNCHER,
                )


RULES = (
    torchrun_with_a_shell_script,
    unused_distribution,
    smdataparallel_on_a_newer_base,
    entry_point_unsupported_by_the_toolkit,
    unsupported_launcher_option,
)
