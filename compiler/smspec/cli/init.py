"""``smspec init``: create a working example job."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console
from smspec.cli.parser import add_quiet_argument
from smspec.cli.schema import job_schema
from smspec.diagnostics.quoting import visible
from smspec.scaffold import SOURCE
from smspec.source.frozen import dataclass
from smspec.spec.yaml.events import meaning
from smspec.workspace.deferred_signals import signals_deferred, signals_interrupt
from smspec.workspace.path_targets import repository_top, upwards

if TYPE_CHECKING:
    from smspec.scaffold.found_source import ReadSource

HELP = """\
Create a working example job with comments: a spec, a training script, and some data. With --from, or next to an
existing src/, create the spec of the script that is there: its arguments become hyperparameters, its data
channels, and its imports packages, with the versions installed here or, with uv, the newest. Never overwrites a file.

Also writes .gitignore, or adds lines to it, and .smspec.schema.json for editor completion, unless the repository
has one.

templates:
  script    a training script on one host
  pipe      data streamed in Pipe mode, one call per epoch
  torchrun  PyTorch on two hosts; `smspec run` needs PyTorch
  mpi       MPI on two hosts; `smspec run` needs Open MPI and its headers"""

TEMPLATES: dict[str, str] = {
    "script": "smspec run",
    "pipe": "smspec run",
    "torchrun": "smspec run --python python3        # one that has PyTorch",
    "mpi": "smspec run        # needs Open MPI and its headers, such as libopenmpi-dev",
}
"""Each template with the command that runs it on this machine."""

SCHEMA = ".smspec.schema.json"
"""The schema in the first line of every template's spec, for editors."""

_TEMPLATE_NAME = "name: example "
_LONGEST_NAME = 48

GITIGNORE = ".gitignore"
_WRITTEN = ("build/", "run/")
"""What `smspec build` and `smspec run` write."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", default=".", help="directory to create the job in (default: .)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--template", choices=tuple(TEMPLATES), help="example to create (default: script)")
    what.add_argument(
        "--from", dest="script", metavar="FILE", help="create the spec of this Python script, which is only read"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    directory: str = args.directory
    with signals_interrupt():
        made = _made(args, directory, console)
    taken = [path for path in made.files if os.path.lexists(os.path.join(directory, path))]
    if taken:
        named = ", ".join(f"`{os.path.join(directory, path)}`" for path in taken[:3])
        raise CommandRefused(f"{named} already {'exists' if len(taken) == 1 else 'exist'}; no files written")
    ignored = missing_ignores(directory)
    with signals_interrupt():
        _write(directory, made.files)
        if ignored:
            add_ignores(directory, ignored)

    written = [*made.files, *([GITIGNORE] if ignored else [])]
    console.result("".join(f"{os.path.join(directory, path)}\n" for path in written))
    for remark in made.remarks:
        console.say(visible(remark))
    console.remark("", "next:")
    if directory != ".":
        console.remark(f"  cd {shlex.quote(directory)}")
    for step in (*made.first, "smspec validate", made.run, "smspec build"):
        console.remark(f"  {step}")
    console.remark("replace the example role, region, and S3 URIs in job.yaml, then run the job in SageMaker:")
    console.remark("  smspec submit --upload-data")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """``files`` by their paths. ``run``: the command that runs the job on this machine. ``first``: steps before all."""

    files: dict[str, bytes]
    run: str
    first: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def _made(args: argparse.Namespace, directory: str, console: Console) -> _Made:
    name, schema = job_name(directory), shared_schema(directory)
    if args.script is None and (args.template or not os.path.isdir(os.path.join(directory, SOURCE))):
        template = args.template or "script"
        return _Made(files=dict(_files(template, name, schema)), run=TEMPLATES[template])
    # Imported late: a template needs no script.
    from smspec.scaffold.found_source import NoScript, existing_script, read_source
    from smspec.scaffold.spec_of_script import spec_of_script

    try:
        read = read_source(directory, args.script or existing_script(directory))
    except NoScript as missing:
        raise CommandRefused(str(missing)) from None
    newest = _newest_versions(read, directory, console)
    spec = spec_of_script(read, _as_text(name), directory, schema or SCHEMA, newest)
    files = {"job.yaml": spec.text.encode()}
    if schema is None:
        files[SCHEMA] = job_schema().encode()
    values = f"set the values of {', '.join(spec.unset)} in `vars` of job.yaml, each as `default: VALUE`"
    run = " ".join(["smspec run", *(f"--data {name}=PATH" for name in spec.without_data)])
    return _Made(files=files, run=run, first=(values,) if spec.unset else (), remarks=spec.remarks)


def _newest_versions(read: ReadSource, directory: str, console: Console) -> dict[str, str]:
    """Return the versions of the imported packages that are not installed here, if uv and an index know them."""
    # Imported late, as above; and few scripts import what is not installed.
    from smspec.scaffold.spec_of_script import imported_packages, python_of_image

    unknown = [each.package for each in imported_packages(read) if each.version is None]
    if not unknown or read.has_requirements:
        return {}
    from smspec.lock.environment_locking import newest_versions
    from smspec.lock.resolution import installed_uv
    from smspec.lock.resolver_process import ResolverFailed
    from smspec.service.requirement_lines import normalized

    here = os.path.realpath(directory)
    try:
        uv = installed_uv(repository_top(here) or here)
    except ResolverFailed:
        return {}  # the spec lists them without a version, and says so
    try:
        console.remark(f"asking the package index for the versions of {', '.join(unknown)}")
        found = newest_versions(unknown, python_of_image(), uv)
        return {name: version for name in unknown if (version := found.get(normalized(name)))}
    except ResolverFailed as failed:
        console.say(f"versions not looked up: {failed}")
        return {}


def _as_text(name: str) -> str:
    """Return a name as YAML: a directory may be called `2026` or `null`, which is not a string there."""
    return name if isinstance(meaning(name), str) else f'"{name}"'


def job_name(directory: str) -> str:
    """Return the name of the directory as a valid job name, or ``example``."""
    name = re.sub("[^a-z0-9]+", "-", os.path.basename(os.path.abspath(directory)).lower())
    return name[:_LONGEST_NAME].strip("-") or "example"


def shared_schema(directory: str) -> str | None:
    """Return the relative path of a schema above a directory, in the same repository, which all jobs can share."""
    here = os.path.realpath(directory)
    top = repository_top(here)
    if top is None:
        return None  # without a repository, the parent directories may belong to other projects
    for steps, above in enumerate(upwards(here)):
        if steps and len(above) >= len(top) and os.path.isfile(os.path.join(above, SCHEMA)):
            return f"{'../' * steps}{SCHEMA}"
    return None


def _files(template: str, name: str, schema: str | None) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a template by their paths, the spec first; with a separate schema if there is none yet."""
    root = os.path.join(os.path.dirname(__file__), "templates", template)
    with open(os.path.join(root, "job.yaml"), encoding="utf-8") as file:
        spec = file.read()
    written = _as_text(name)
    # Keep the comment after the name in its column if possible.
    column = spec.index("#", spec.index(_TEMPLATE_NAME)) - spec.index(_TEMPLATE_NAME)
    padding = max(1, column - len(f"name: {written}"))
    head, _, tail = spec.partition(_TEMPLATE_NAME)
    head = head.replace(f"$schema={SCHEMA}", f"$schema={schema or SCHEMA}", 1)
    yield "job.yaml", f"{head}name: {written}{' ' * padding}{tail.lstrip(' ')}".encode()
    if schema is None:
        yield SCHEMA, job_schema().encode()
    for parent, directories, files in os.walk(root):
        directories[:] = sorted(directory for directory in directories if directory != "__pycache__")
        for file_name in sorted(files):
            path = os.path.join(parent, file_name)
            relative = os.path.relpath(path, root)
            if relative != "job.yaml":
                with open(path, "rb") as content:
                    yield relative, content.read()


def _write(directory: str, files: dict[str, bytes]) -> None:
    """Write all files or none."""
    made: list[str] = []
    is_complete = False
    try:
        for path, content in files.items():
            target = os.path.join(directory, path)
            _make_directories(os.path.dirname(target), made)
            # "x": never overwrite a file that was created since the check.
            with open(target, "xb") as file:
                made.append(target)
                file.write(content)
        is_complete = True
    finally:
        with signals_deferred():
            for target in () if is_complete else reversed(made):
                os.rmdir(target) if os.path.isdir(target) else os.unlink(target)


def _make_directories(directory: str, made: list[str]) -> None:
    """Create a directory and its parents; record those that did not exist."""
    if directory and not os.path.isdir(directory):
        _make_directories(os.path.dirname(directory), made)
        os.makedirs(directory)
        made.append(directory)


def missing_ignores(directory: str) -> list[str]:
    """Return the lines that the .gitignore of a directory lacks."""
    try:
        with open(os.path.join(directory, GITIGNORE), encoding="utf-8", errors="replace") as file:
            there = {line.strip().strip("/") for line in file}
    except FileNotFoundError:
        there = set()
    return [line for line in _WRITTEN if line.strip("/") not in there]


def add_ignores(directory: str, lines: list[str]) -> None:
    """Add lines to the .gitignore of a directory."""
    path = os.path.join(directory, GITIGNORE)
    is_cut = False
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
        is_cut = bool(content) and not content.endswith(b"\n")
    with open(path, "a", encoding="utf-8", newline="\n") as file:
        file.write("\n" * is_cut + "".join(f"{line}\n" for line in lines))
