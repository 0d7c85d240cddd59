"""In Pipe mode SageMaker creates FIFOs, `NAME_0` and so on, but neither a directory `NAME` nor files in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, passes
from smspec.script.program import FileUse
from smspec.script.readers.environment import DATA
from smspec.source import Span

RULE = Rule("SM534", "Pipe channel used as a directory")

_FAILING = frozenset(
    {
        "open",
        "io.open",
        "gzip.open",
        "os.open",
        "os.listdir",
        "os.scandir",
        "os.chdir",
        "tarfile.open",
        "shutil.copytree",
    }
    | {"torchvision.datasets.ImageFolder", "datasets.load_from_disk", "torch.load", "joblib.load", "PIL.Image.open"}
    | {f"pandas.read_{kind}" for kind in ("csv", "parquet", "json", "table", "excel", "pickle", "feather")}
    | {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
    | {"Path.iterdir", "Path.open", "Path.read_text", "Path.read_bytes", "polars.read_csv", "polars.read_parquet"}
)
"""Operations that fail without the file or directory."""


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a Pipe channel that the script certainly opens as a directory, or as a file in it."""
    seen: set[str] = set()
    for channel, operation, place in uses_of_piped(both, both.program.file_uses):
        if channel in seen or operation not in _FAILING:
            continue
        seen.add(channel)
        yield RULE.at(
            ("channels", channel, "input_mode"),
            f"`{both.name}` opens the directory of channel `{channel}`, but `input_mode` is `Pipe`",
            help=f"set `input_mode: FastFile`, or read the FIFO `{DATA}{channel}_0` in the script",
            notes=(Note("the script uses it here", place),),
        )


def uses_of_piped(both: ScriptAndJob, files: Iterable[FileUse]) -> Iterator[tuple[str, str, Span]]:
    """Yield uses of the directory of a Pipe channel: by its variable, then by its path."""
    by_variable = {channel.upper(): channel for channel in both.environment.piped}
    for use in both.program.channel_uses:
        is_inside = use.rest is not None and (not use.rest or use.rest.startswith("/"))
        is_set = use.written in both.environment.variables or passes(both, use.options)
        if use.name in by_variable and is_inside and not is_set:
            yield by_variable[use.name], use.operation, use.place
    for file in files:
        name = file.path.removeprefix(DATA).partition("/")[0]
        if file.path.startswith(DATA) and name in both.environment.piped:
            yield name, file.operation, file.place
