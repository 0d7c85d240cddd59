"""Rules about the entry point, the source that contains it, and the launcher that starts it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.suggestions import nearest, spelling_fix
from smspec.source import Listing
from smspec.spec.model import (
    BuiltImage,
    CommandEntry,
    ExistingImage,
    JobSpec,
    ModuleEntry,
    Mpi,
    PipeLoopEntry,
    ScriptEntry,
    SmDataParallel,
    Torchrun,
)

UNAVAILABLE_ENTRY_POINT = Rule("SM306", "entry point unavailable in an existing image")


def unavailable_entry_point(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject anything except a command in an existing image without source.

    Without source to deliver, the smspec runtime cannot be added to an existing image.
    """
    if not isinstance(job.image, ExistingImage) or job.source is not None:
        return
    if job.entry_point is None or isinstance(job.entry_point, CommandEntry):
        return
    yield UNAVAILABLE_ENTRY_POINT.at(
        ("entry_point",),
        "`entry_point` needs `source` when `image` names an existing image",
        help="set `source`, or use `entry_point: {command: […]}`",
        on="key",
    )


SCRIPT_WITHOUT_SOURCE = Rule("SM307", "script without a source", needs_every_layer=True)


def script_without_source(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script in a built image without source.

    A script is a file of the source directory.
    """
    if isinstance(job.image, BuiltImage) and isinstance(job.entry_point, ScriptEntry) and job.source is None:
        yield SCRIPT_WITHOUT_SOURCE.at(
            ("entry_point", "script"),
            f"`entry_point.script` is `{job.entry_point.script}`, but `source` is not set",
            help="set `source`, or start a program of the image with `entry_point: {command: […]}`",
        )


SOURCE_WITHOUT_AN_ENTRY_POINT = Rule("SM308", "source without an entry point", needs_every_layer=True)


def source_without_an_entry_point(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject an existing image that gets source but no entry point.

    Source without anything that starts it.
    """
    if isinstance(job.image, ExistingImage) and job.source is not None and job.entry_point is None:
        yield SOURCE_WITHOUT_AN_ENTRY_POINT.at(
            ("source",),
            "`source` is set, but `entry_point` is not",
            help="set `entry_point`, or remove `source`",
            on="key",
        )


SOURCE_WITHOUT_AN_IMAGE = Rule("SM309", "source without an image", needs_every_layer=True)


def source_without_an_image(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject code, and ways to start it, in a job without an image.

    An algorithm resource or a serverless job runs its own code.
    """
    if job.image is not None:
        return
    for key, value in (("source", job.source), ("entry_point", job.entry_point), ("distribution", job.distribution)):
        if value is not None:
            yield SOURCE_WITHOUT_AN_IMAGE.at(
                (key,),
                f"`{key}` is set, but `image` is not",
                help="set `image`, or remove the key",
                on="key",
            )


UNSAFE_SCRIPT_NAME = Rule("SM311", "unsafe script name")

_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._+-]*(/[A-Za-z0-9._+-]+)*")


def unsafe_script_name(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script whose name is not relative to the source or contains special characters.

    SageMaker's toolkit rejects names that are unsafe in a shell or an import; so does the runtime.
    """
    entry = job.entry_point
    if isinstance(entry, ScriptEntry) and not is_safe(entry.script):
        plain = entry.script.removeprefix("./")
        yield UNSAFE_SCRIPT_NAME.at(
            ("entry_point", "script"),
            f"`entry_point.script`: `{entry.script}` is not a valid script path",
            label=f"write `{plain}`" if plain != entry.script and is_safe(plain) else "",
            help="use a path inside the source, without `.` or `..` segments, of letters, digits, and `. _ + - /`",
        )


def is_safe(script: str) -> bool:
    """Return whether the runtime, and SageMaker's toolkit, accept a name."""
    return bool(_NAME.fullmatch(script)) and not {".", ".."} & set(script.split("/"))


MISSING_SCRIPT = Rule("SM310", "missing script")


def missing_script(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject a script that is missing from the source, or is ignored there.

    The script must be among the files that are sent to the container.
    """
    entry = job.entry_point
    if not isinstance(entry, ScriptEntry) or job.source is None or not is_safe(entry.script):
        return
    if source.has(entry.script):
        return
    near = _nearest_file(entry.script, source)
    yield MISSING_SCRIPT.at(
        ("entry_point", "script"),
        f"`entry_point.script`: `{entry.script}` not found in `{job.source.dir}`",
        label=f"did you mean `{near}`?" if near else "",
        fix=spelling_fix(entry.script, (file.path for file in source.files)),
        help="fix the name, or remove the pattern that excludes it from .gitignore, .dockerignore, or `source.ignore`",
    )


def _nearest_file(script: str, source: Listing) -> str | None:
    """Return a file of the same name in a different directory, else one with a similar path."""
    paths = [file.path for file in source.files]
    name = script.rpartition("/")[2]
    return next((path for path in paths if path.rpartition("/")[2] == name), None) or nearest(script, paths)


MISSING_HANDLER = Rule("SM312", "missing handler", "warning")

_PROJECTS = ("setup.py", "pyproject.toml")


def missing_handler(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about a module that is not in the source, unless the source is a project to install.

    A module that is not in the source may be installed in the image, but more often its name is misspelled.
    """
    entry = job.entry_point
    if job.source is None or not isinstance(entry, ModuleEntry | PipeLoopEntry):
        return
    key, function = ("module", entry.module) if isinstance(entry, ModuleEntry) else ("pipe_loop", entry.pipe_loop)
    module = function.partition(":")[0]
    modules = _modules(source)
    if module in modules or any(source.has(project) for project in _PROJECTS):
        return
    near = nearest(module, modules)
    yield MISSING_HANDLER.at(
        ("entry_point", key),
        f"`entry_point`: module `{module}` not found in `{job.source.dir}`",
        label=f"did you mean `{near}:{function.partition(':')[2]}`?" if near else "",
        help="fix the name; ignore SM312 if the image provides the module",
    )


def _modules(source: Listing) -> list[str]:
    """Return the names under which files of the source, and their packages, can be imported."""
    names: dict[str, None] = {}
    for file in source.files:
        if file.path.endswith(".py"):
            steps = file.path.removesuffix(".py").split("/")
            names[".".join(steps[:-1] if steps[-1] == "__init__" else steps)] = None
    return [name for name in names if name]


MODULE_THAT_HIDES_ONE_OF_PYTHON = Rule("SM570", "module that hides one of Python", "warning")

# What argparse, logging, json, subprocess, tempfile, pickle, multiprocessing, NumPy, or boto3 import.
_OF_PYTHON = (
    r"argparse|ast|base64|bisect|bz2|calendar|collections|concurrent|contextlib|contextvars|copy|copyreg|"
    r"csv|ctypes|dataclasses|datetime|decimal|dis|email|enum|fnmatch|functools|gettext|gzip|hashlib|heapq|"
    r"hmac|html|http|importlib|inspect|ipaddress|json|keyword|linecache|locale|logging|lzma|mimetypes|"
    r"multiprocessing|numbers|opcode|operator|pathlib|pickle|platform|queue|random|re|reprlib|secrets|"
    r"select|selectors|shlex|shutil|signal|socket|ssl|string|struct|subprocess|tempfile|textwrap|threading|"
    r"token|tokenize|traceback|types|typing|urllib|uuid|warnings|weakref|xml|zipfile"
)


def module_that_hides_one_of_python(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about a file next to the script that every import of a module of Python's library finds first.

    The directory of a script is the first place where Python looks, also for what packages import.
    """
    entry = job.entry_point
    if not isinstance(entry, ScriptEntry) or not entry.script.endswith(".py"):
        return
    directory = entry.script.rpartition("/")[0]
    prefix = f"{directory}/" if directory else ""
    for file in source.files:
        name, _, rest = file.path.removeprefix(prefix).partition("/")
        module = name.removesuffix(".py") if not rest else name if rest == "__init__.py" else ""
        if file.path.startswith(prefix) and re.fullmatch(_OF_PYTHON, module) and (rest or name.endswith(".py")):
            yield MODULE_THAT_HIDES_ONE_OF_PYTHON.at(
                ("entry_point", "script"),
                f"`{file.path}` in the source hides Python's own module `{module}`",
                help=f"rename the file: packages that import `{module}` get it",
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
    from smspec.service.runtime_settings import documented_data_parallel, pytorch_version

    version = pytorch_version(parsed_reference(job.image.base))
    documented = documented_data_parallel()
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


_VALUES_OF_MPIRUN = {
    **dict.fromkeys(("v", "verbose", "q", "allow-run-as-root", "oversubscribe", "tag-output", "report-bindings"), 0),
    **dict.fromkeys(("x", "n", "np", "N", "H", "host", "hostfile", "bind-to", "map-by", "rank-by", "NCCL_DEBUG"), 1),
    **dict.fromkeys(("mca", "gmca", "genv"), 2),
}
"""How many words follow an option of mpirun."""


def unsupported_launcher_option(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject options of a launcher that no hyperparameter sets, or that the launcher certainly rejects.

    The toolkit of an existing image supports fewer launcher options than the smspec runtime.
    """
    launcher = job.distribution
    if not isinstance(job.image, ExistingImage) or job.delivery != "s3":
        for index, problem, help in _faulty_words(launcher.options) if isinstance(launcher, Mpi) else ():
            path = ("distribution", "mpi", "options", index)
            yield UNSUPPORTED_LAUNCHER_OPTION.at(path, f"`distribution.mpi.options[{index}]` {problem}", help=help)
        return
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


def _faulty_words(options: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    """Yield (index, problem, help) of what mpirun, or the runtime before it, rejects."""
    for index, word in enumerate(options):
        after = options[index + 1] if index + 1 < len(options) else "--"
        if word == "--NCCL_DEBUG" and re.fullmatch(r"--?[A-Za-z]\S*|--", after):
            yield index, "is `--NCCL_DEBUG` without a value", "add a value, such as `INFO`, as the next item"
    at = 0
    while at < len(options) and (word := options[at]).startswith("-"):
        if re.match(r"-[^\s=]+\s", word):
            parts = ", ".join(f'"{part}"' for part in word.split())
            listed = "" if re.search(r"[\"'\\]", word) else f": `[{parts}]`"
            yield at, f"is one word for mpirun, {quoted(word)}", f"write each of its words as an item{listed}"
            at += 1
        elif (name := word.lstrip("-")) in _VALUES_OF_MPIRUN:
            at += 1 + _VALUES_OF_MPIRUN[name]
        else:
            return  # what follows may be its value


RULES = (
    unavailable_entry_point,
    script_without_source,
    source_without_an_entry_point,
    source_without_an_image,
    unsafe_script_name,
    missing_script,
    missing_handler,
    module_that_hides_one_of_python,
    torchrun_with_a_shell_script,
    unused_distribution,
    smdataparallel_on_a_newer_base,
    entry_point_unsupported_by_the_toolkit,
    unsupported_launcher_option,
)
