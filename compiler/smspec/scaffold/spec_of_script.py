"""Write the spec of a script: its arguments, channels, packages, and what it leaves open, in comments."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from smspec.diagnostics.quoting import visible
from smspec.scaffold.found_source import ImportedPackage, ReadSource, requirements
from smspec.scaffold.script_settings import (
    ScriptArgument,
    is_model_directory,
    printed_metrics,
    script_arguments,
    script_channels,
)
from smspec.script.program import Program
from smspec.source.frozen import dataclass
from smspec.spec.yaml.events import flow_style

_CHECKPOINTS = "/opt/ml/checkpoints"
_LAUNCHER = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_WORLD_SIZE"})
_LARGE = frozenset({"torch", "tensorflow", "jax"})
_PYTHONS = range(9, 15)
_COMMENT = 45
"""The column of comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSpec:
    """``text`` is the spec. ``remarks`` are what the author has to know, each a sentence.

    ``unset``: variables without a value. ``without_data``: channels that `smspec run` has no data for.
    """

    text: str
    remarks: tuple[str, ...]
    unset: tuple[str, ...] = ()
    without_data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hyperparameter:
    key: str
    value: object
    comment: str = ""


class _Writer:
    def __init__(self, read: ReadSource, directory: str, newest: Mapping[str, str]) -> None:
        self._read = read
        self._place = os.path.realpath(directory)
        self._program = read.program
        self.remarks: list[str] = []
        self._variables: dict[str, str] = {}
        lines = self._program.command_lines
        self._line = lines[0] if len(lines) == 1 else None
        self._arguments = list(script_arguments(self._line)) if self._line else []
        self._channels, self._paths = script_channels(self._program, self._arguments, directory)
        self._packages = imported_packages(read)
        self._newest = newest
        self._hyperparameters = list(self._with_values())
        self._words = [str(self._required(each)) for each in self._arguments if _is_required_word(each)]
        self._add_remarks()

    def spec(self, name: str, schema: str) -> ScriptSpec:
        groups = (
            self._head(name, schema),
            self._image(),
            self._script(),
            self._channel_lines(),
            self._hosts(),
            self._hyperparameter_lines(),
            self._end(name),
            self._variable_lines(),
        )
        text = "\n".join("".join(f"{line}\n" for line in group) for lines in groups if (group := list(lines)))
        without_data = tuple(each.name for each in self._channels if not each.local)
        remarks, unset = tuple(self.remarks), tuple(self._variables)
        return ScriptSpec(text=text, remarks=remarks, unset=unset, without_data=without_data)

    def _head(self, name: str, schema: str) -> Iterator[str]:
        script = visible(self._read.script)
        yield f"# yaml-language-server: $schema={schema}"
        yield f"# From the text of {script}. Run `smspec explain KEY` for details on a key, `smspec validate` to check."
        yield "smspec: v1"
        yield _noted(f"name: {name}", "prefix of the training job name, and the image name")
        yield _noted("role: arn:aws:iam::111122223333:role/SageMakerTraining", "replace: the execution role")
        yield _noted("region: us-west-2", "replace: the image is pushed there")

    def _image(self) -> Iterator[str]:
        yield _noted("image:", "built by smspec; a string is an existing image")
        yield f"  base: python:{python_of_image()}-slim-bookworm"
        if self._read.needs_git:
            yield _noted("  system_packages: [git]", "pip clones what requirements.txt has as a git URL")
        if self._read.has_requirements:
            path = os.path.normpath(os.path.join(self._read.source, "requirements.txt"))
            yield f"  python_requirements: {flow_style(path)}"
        elif self._packages:
            yield _noted("  python_packages:", "imported by the script, with the versions installed here")
            for each in self._packages:
                newest = "" if each.version else self._newest.get(each.package, "")
                line = f"    - {flow_style(f'{each.package}=={newest}' if newest else each.line)}"
                if newest:
                    yield _noted(line, "the newest in the index, not installed here: check the name")
                elif each.version:
                    yield line
                else:
                    yield _noted(line, "not installed here: check the name, and pin the version")

    def _script(self) -> Iterator[str]:
        if self._read.elsewhere:
            yield "# imported, and in this repository, but not in `source`; copy them there:"
            yield from _folded(self._read.elsewhere, "")
        if self._read.source == os.curdir:
            own = {os.path.relpath(text.name, self._place).partition(os.sep)[0] for text in self._read.reach.texts}
            ignored = [f"/{name}/" for name in ("data", "build", "run") if name not in own]
            yield f"source: {{dir: ., ignore: [{', '.join(ignored)}]}}"
        else:
            yield _noted(f"source: {flow_style(self._read.source + '/')}", "copied into the image, to /opt/ml/code")
        entry: dict[str, object] = {"script": self._read.script}
        if self._words:
            entry["args"] = self._words
        if self._as_flags:
            entry["args_style"] = "flags"
        written = self._read.script if len(entry) == 1 else entry
        comment = "true is --key, false is omitted, a list is --key a b" if self._as_flags else ""
        yield _noted(f"entry_point: {flow_style(written)}", comment)

    @property
    def _as_flags(self) -> bool:
        return any(each.as_flags for each in self._arguments)

    def _channel_lines(self) -> Iterator[str]:
        if self._channels:
            yield "channels:"
        for each in self._channels:
            yield _noted(f"  {flow_style(each.name)}:", f"from {visible(each.origin)}")
            yield _noted(f"    s3: s3://example-data/{each.name}/", "replace")
            if each.local:
                yield _noted(f"    local: {flow_style(each.local)}", "used by `smspec run` instead")
            else:
                yield _noted(f"    # local: data/{each.name}/", "some data for `smspec run`")

    def _hosts(self) -> Iterator[str]:
        is_large = any(each.package.lower() in _LARGE for each in self._packages)
        size = "50GB" if is_large else "10GB"
        gpu = "one with a GPU: ml.g5.xlarge" if is_large else ""
        launched = bool(self._program.process_groups) or bool(self._launcher_variables())
        yield _noted(f"hosts: {{instance_type: ml.m5.large, count: 1, volume: {size}}}", gpu)
        if launched:
            yield _noted("distribution: torchrun", "the script forms a process group of PyTorch")

    def _launcher_variables(self) -> set[str]:
        return {each.written for each in self._program.other_variables} & _LAUNCHER

    def _with_values(self) -> Iterator[_Hyperparameter]:
        for each in self._arguments:
            if each.is_positional:
                continue
            choices = f"one of {', '.join(each.choices[:8])}" if each.choices else ""
            if each.key in self._paths:
                yield _Hyperparameter(key=each.key, value=self._paths[each.key])
            elif each.state == "required":
                yield _Hyperparameter(key=each.key, value=self._required(each), comment=choices)
            elif each.state == "set":
                yield _Hyperparameter(key=each.key, value=each.value, comment=choices)
        for read in self._program.hyperparameters:
            key = read.name.lower() if read.by == "variable" else read.name
            if all(key != each.key for each in self._arguments):
                yield _Hyperparameter(key=key, value=self._variable(key, f"the script reads {read.written}"))

    def _required(self, argument: ScriptArgument) -> object:
        """Return what a required argument gets: a path of the container, or a variable."""
        if argument.key in self._paths:
            return self._paths[argument.key]
        if is_model_directory(argument) and argument.option.kind == "text" and not argument.choices:
            return "/opt/ml/model"
        choices = f", one of {', '.join(argument.choices[:8])}" if argument.choices else ""
        return self._variable(argument.key, f"{self._read.script} requires it{choices}")

    def _variable(self, key: str, description: str) -> str:
        name = re.sub("[^A-Za-z0-9_]", "_", key)
        self._variables[name] = description
        return f"${{{{ vars.{name} }}}}"

    def _hyperparameter_lines(self) -> Iterator[str]:
        if self._hyperparameters:
            yield _noted("hyperparameters:", "with the defaults of the script")
        for each in self._hyperparameters:
            yield _noted(f"  {flow_style(each.key)}: {flow_style(each.value)}", each.comment)
        left = [each for each in self._arguments if each.state == "left" and each.key not in self._paths]
        if left:
            yield "# also accepted, and left to the script:"
            yield from _folded([each.key for each in left])

    def _end(self, name: str) -> Iterator[str]:
        yield "stopping: {max_runtime: 1d}"
        if _uses_checkpoints(self._program, self._arguments):
            yield _noted(f"checkpoints: s3://example-models/{name}/checkpoints/", "replace")
        yield _noted(f"output: s3://example-models/{name}/", "replace: model.tar.gz is written below this prefix")
        metrics = [{"name": key, "regex": regex} for key, regex in printed_metrics(self._read.reach.texts)]
        if metrics:
            yield "metrics:"
            yield from (f"  - {flow_style(metric)}" for metric in metrics)

    def _variable_lines(self) -> Iterator[str]:
        if self._variables:
            yield _noted("vars:", "values without a default: set them with --set vars.NAME=VALUE, or here")
        for name, description in self._variables.items():
            yield f"  {name}: {{description: {flow_style(description)}}}"

    def _add_remarks(self) -> None:
        if self._read.reason:
            self.remarks.append(f"`{self._read.script}` was not read: {self._read.reason}")
        elif self._program.stop is not None:
            self.remarks.append(f"some arguments are not known: {self._program.stop.reason}")
        elif len(self._program.command_lines) > 1:
            self.remarks.append("hyperparameters are not written: the script parses its command line more than once")
        unknown = [each.package for each in self._packages if not each.version and each.package not in self._newest]
        if self._read.elsewhere:
            named = ", ".join(f"`{name}`" for name in self._read.elsewhere)
            self.remarks.append(f"modules of this repository outside of `source`, to copy there: {named}")
        if unknown and not self._read.has_requirements:
            self.remarks.append(f"not installed here, and therefore not pinned: {', '.join(unknown)}")


def imported_packages(read: ReadSource) -> list[ImportedPackage]:
    """Return the packages that the script of a source imports."""
    return requirements(each.name for each in read.reach.foreign if each.top not in read.elsewhere)


def python_of_image() -> str:
    """Return the Python of the image that `init` writes, such as ``3.12``: that of this process, if it has one."""
    return f"3.{sys.version_info.minor if sys.version_info.minor in _PYTHONS else 12}"


def spec_of_script(read: ReadSource, name: str, directory: str, schema: str, newest: Mapping[str, str]) -> ScriptSpec:
    """Return the spec of a job that starts a script.

    ``directory`` is that of the spec. ``newest``: package → version, for those that are not installed here.
    """
    return _Writer(read, directory, newest).spec(name, schema)


def _is_required_word(argument: ScriptArgument) -> bool:
    return argument.is_positional and argument.state == "required"


def _uses_checkpoints(program: Program, arguments: Sequence[ScriptArgument]) -> bool:
    paths = [use.path for use in program.file_uses]
    paths += [each.option.default for each in arguments if isinstance(each.option.default, str)]
    return any(path == _CHECKPOINTS or path.startswith(f"{_CHECKPOINTS}/") for path in paths)


def _noted(line: str, comment: str) -> str:
    return f"{line.ljust(_COMMENT - 2)}  # {comment}" if comment else line


def _folded(names: Sequence[str], before: str = "--") -> Iterator[str]:
    line = "#  "
    for name in names:
        word = f" {before}{visible(name)}"
        if len(line) + len(word) > 110:
            yield line
            line = "#  "
        line += word
    yield line
