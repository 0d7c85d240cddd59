"""Rules about what the texts of a source mention."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.hyperparameters import EMPTY_HYPERPARAMETER
from smspec.script.printed_lines import PrintedLine, printed_lines
from smspec.service.metric_pattern import letters, literal_before_value, most_steps
from smspec.source import SourceText, Span
from smspec.source.frozen import ByIdentity, dataclass
from smspec.spec.model import CommandEntry, JobSpec, ScriptEntry
from smspec.spec.startup import starter


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAndJob:
    """``texts``: all text files of the source; ``reached``: those that the program is known to consist of, if any."""

    job: JobSpec
    texts: tuple[SourceText, ...]
    reached: tuple[SourceText, ...] = ()

    @property
    def modules(self) -> tuple[SourceText, ...]:
        """The Python files."""
        return tuple(text for text in self.texts if text.name.endswith(".py"))


def file_name(name: str) -> str:
    """Return the name of a file in a message."""
    return name.replace("\\", "/").rpartition("/")[2]


def place_in(text: SourceText, start: int, end: int) -> Span:
    """Return the position of a part of one line of a text."""
    line = text.text.count("\n", 0, start) + 1
    column = start - (text.text.rfind("\n", 0, start) + 1) + 1
    return Span(text.name, line, column, line, column + end - start)


METRIC_THAT_NEARLY_MATCHES = Rule("SM524", "metric that nearly matches", "warning")

_FOUND: ByIdentity[tuple[str, PrintedLine, str] | None] = ByIdentity()  # many jobs can share a source
_SHORTEST, _LONGEST = 3, 500
_MOST_STEPS = 1e8
"""Of the search for one metric: half a second at worst."""
_ENDS = re.compile(r"[^\n\t,;|()\[\]{}<>]*\Z")
_PRINTING_LIBRARIES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:autogluon|catboost|deepspeed|detectron2|fairseq|fastai|gluonnlp|gluonts|keras"
    r"|lightgbm|lightning|mmcv|mmengine|mxnet|paddle|pytorch_lightning|ray|sentence_transformers|setfit|smart_sifting"
    r"|spacy|tensorflow|transformers|trl|ultralytics|xgboost)\b",
    re.MULTILINE,
)
"""They print metrics themselves, under names in lower case without spaces."""


def metric_that_nearly_matches(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about a metric whose text before the value the script prints in a different form.

    A regular expression that differs from the printed line in its case or its separators matches nothing.
    """
    for index, metric in enumerate(both.job.metrics):
        found = _found(metric.regex, both)
        if found is None:
            continue
        written, line, printed = found
        yield METRIC_THAT_NEARLY_MATCHES.at(
            ("metrics", index, "regex"),
            f"`metrics[{index}].regex` searches for {quoted(written)}, but `{file_name(line.place.file)}`"
            f" prints {quoted(printed)}",
            help=f"change the text before the group to {quoted(printed)}, or change the line in the script",
            notes=(Note("the script prints it here", line.place),),
        )


def _found(pattern: str, both: SourceAndJob) -> tuple[str, PrintedLine, str] | None:
    return _FOUND.of(pattern, both.texts, lambda: _near_miss(pattern, both.modules))


def _near_miss(pattern: str, modules: tuple[SourceText, ...]) -> tuple[str, PrintedLine, str] | None:
    literal = literal_before_value(pattern) if len(pattern) <= _LONGEST else None
    key = letters(literal or "")
    if literal is None or len(key) < _SHORTEST or not re.search("[a-z]", key):
        return None
    if not any(key in _letters(text.text) for text in modules):
        return None
    try:
        search = re.compile(pattern).search
    except (re.error, OverflowError, RecursionError):
        return None
    is_of_a_library = literal.strip().islower() and " " not in literal.strip()
    if is_of_a_library and any(_PRINTING_LIBRARIES.search(text.text) for text in modules):
        return None
    near: tuple[str, PrintedLine, str] | None = None
    steps = 0.0
    for text in modules:
        found = _lines(text)
        if found is None:
            return None  # it may print what the metric means
        lines, strings = found
        if any(literal.strip() and literal in string for string in strings):
            return None
        for line in lines:
            for rendered in line.renderings(re.sub(r"[\W_]+\Z", "", literal).strip()):
                steps += most_steps(pattern, len(rendered))
                if steps > _MOST_STEPS or search(rendered):
                    return None
            printed = next((tail for before in line.before_values() if (tail := _tail(before, key, literal))), None)
            if near is None and line.is_printed and printed:
                near = literal, line, printed
    return near


@lru_cache(maxsize=1024)
def _letters(text: str) -> str:
    """Return the letters of a module; many jobs can share it."""
    return letters(text)


@lru_cache(maxsize=64)
def _lines(text: SourceText) -> tuple[list[PrintedLine], list[str]] | None:
    return printed_lines(text)


def _tail(before: str, key: str, literal: str) -> str:
    """Return the end of a printed text that has the letters of the literal, as a whole; empty if it has others."""
    last = _ENDS.search(before)
    piece = last[0].lstrip() if last is not None else ""
    if letters(piece) == key:
        return piece
    if len(re.findall(r"[^\W_]+", literal)) < 2 or not letters(before).endswith(key):
        return ""
    count = 0
    for start in range(len(before) - 1, -1, -1):
        count += before[start].isalnum()
        if count == len(key):
            return before[start:] if not before[start - 1 : start].isalnum() else ""
    return ""


UNUSED_CHECKPOINTS = Rule("SM528", "unused checkpoints", "warning")

CHECKPOINTS_IN_ANOTHER_DIRECTORY = Rule("SM529", "checkpoints in another directory", "warning")

DEFAULT = "/opt/ml/checkpoints"
_Mentioned = Literal["directory", "checkpoints", ""]
_OF_SOURCES: ByIdentity[set[_Mentioned]] = ByIdentity()  # many jobs can share a source
_WORDS = re.compile(r"check_?-?point|ckpt|resum|snapshot|restor", re.IGNORECASE)
_LITERAL = re.compile(r"/(?:opt/ml|tmp)/(?!model\b|output\b|input\b|code\b)[\w./-]*(?:checkpoint|ckpt)[\w./-]*")


def unused_checkpoints(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about checkpoints that nothing in the source or the job mentions, or that go to another directory.

    SageMaker restores and uploads the checkpoint directory; writing and reading checkpoints is up to the script.
    """
    checkpoints = both.job.checkpoints
    if checkpoints is None or "CheckpointConfig" in both.job.api:
        return
    local = (checkpoints.local or DEFAULT).rstrip("/")
    of_source = _OF_SOURCES.of(local, both.texts, lambda: {_mentioned(text.text, local) for text in both.texts})
    if "directory" in of_source:
        return
    words = _words_of(both.job)
    if not (any(of_source) or _WORDS.search(words) or _mentions(words, local)):
        yield UNUSED_CHECKPOINTS.at(
            ("checkpoints",),
            f"`checkpoints` has no effect: neither the source nor the job mentions `{local}`",
            help=f"save to and resume from `{local}` in the script, or remove `checkpoints`",
            notes=(Note("a restarted job begins at the first step: the script writes no checkpoints there"),),
        )
    elif not _mentions(words, local):
        yield from _elsewhere(both, local)


def _elsewhere(both: SourceAndJob, local: str) -> Iterator[Finding]:
    """Yield the first directory of checkpoints that the script names instead."""
    for text in both.modules:
        for literal in _LITERAL.finditer(text.text):
            path = literal[0].rstrip("/.")
            if path == local or path.startswith(f"{local}/") or not _is_string(text, path):
                continue
            yield CHECKPOINTS_IN_ANOTHER_DIRECTORY.at(
                ("checkpoints",),
                f"`{file_name(text.name)}` uses {quoted(path)}, but the job saves `{local}`",
                help=f"use `{local}` in the script, or set `checkpoints.local` to the directory of the script",
                notes=(Note("the script names it here", place_in(text, literal.start(), literal.start() + len(path))),),
            )
            return


def _is_string(text: SourceText, path: str, *, at_end: bool = False) -> bool:
    """Return whether a path begins or ends a string that the script uses: it is not in a comment or a docstring."""
    from smspec.script.script_files import nodes_of, parsed  # imported late: few jobs write checkpoints elsewhere

    tree = parsed(text)
    if tree is None:
        return False
    idle = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in nodes_of(tree) if isinstance(node, ast.Constant) and id(node) not in idle)
    texts = (node.value.rstrip("/.") for node in strings if isinstance(node.value, str))
    return any(one.endswith(path) if at_end else one.startswith(path) for one in texts)


def _mentioned(text: str, local: str) -> _Mentioned:
    """Return what a text of a source mentions."""
    if _mentions(text, local):
        return "directory"
    return "checkpoints" if _WORDS.search(text) else ""


def _mentions(text: str, local: str) -> bool:
    """Return whether a text names the directory, or one of its parent directories as a string of its own."""
    if local in text:
        return True
    parent = local
    while (parent := parent.rpartition("/")[0]) and parent:
        if re.search(rf"{re.escape(parent)}/?(?=[\"'\s,]|\Z)", text):
            return True
    return False


def _words_of(job: JobSpec) -> str:
    """Return all texts of a job that its script can get."""
    entry = job.entry_point
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command if isinstance(entry, CommandEntry) else ()
    hyperparameters = {one.name: one.value for one in job.hyperparameters}
    variables = {name: value for name, value in job.environment.items() if not name.startswith("SAGEMAKER_")}
    image = getattr(job.image, "env", {}), getattr(job.image, "run", ())
    return json.dumps([*words, hyperparameters, variables, *image], default=str)


HYPERPARAMETERS_WITHOUT_A_READER = Rule("SM532", "hyperparameters without a reader", "warning")

_READS = re.compile(
    r"SM_HPS|SM_HP_|SM_USER_ARGS|SM_TRAINING_ENV|hyper_?param|smspec_runtime|sagemaker_training|sagemaker_containers"
    r"|/opt/ml/input\b|input/config|INPUT_CONFIG|\bbin/train\b",
    re.IGNORECASE,
)


def hyperparameters_without_a_reader(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about the hyperparameters of a command that gets no arguments and reads none in another way.

    A command gets no arguments by default, so a script that is started by one does not get hyperparameters either.
    """
    job, entry = both.job, both.job.entry_point
    if not isinstance(entry, CommandEntry) or entry.args_style != "none" or starter(job) != "runtime":
        return
    names = [one.name for one in job.hyperparameters if not one.name.startswith(("sagemaker_", "_"))]
    if not names or not _starts_own_file(both, entry.command):
        return
    if any(_READS.search(text) for text in (*(text.text for text in both.texts), *entry.command)):
        return
    yield HYPERPARAMETERS_WITHOUT_A_READER.at(
        ("hyperparameters",),
        "`hyperparameters` has no effect: the command gets no arguments, and the source reads none",
        help="set `args_style: toolkit` in `entry_point`, or write the values in `command`",
        on="key",
        notes=(Note("`args_style` is `none`, the default of a command"),),
    )


def _starts_own_file(both: SourceAndJob, command: tuple[str, ...]) -> bool:
    """Return whether the command names a file of the source, so that what it starts is known."""
    names = {text.name.replace("\\", "/") for text in both.texts}
    words = {word.removeprefix("./") for part in command for word in part.split()}
    return any(name == word or name.endswith(f"/{word}") for word in words for name in names)


_FILE = re.compile(r"(?<![\w.-])hyperparameters\.json")
_DIRECTORY = re.compile(r"input/config|INPUT_CONFIG|opt/ml/input|[\"']config/?[\"']")
_DECODES = re.compile(
    r"\bloads\((?![^\n]*(?:\bread|\benviron|\bgetenv))|literal_eval|\beval\(|safe_load|smspec_runtime"
    r"|sagemaker_(?:training|containers)|(?:strip|replace)\(\s*(?:'\"|r?\"\\\"|\"')|'\"\"'|\"\\\"\\\"\"|\bfromjson\b"
    r"|\btr -d|\bsed\b|\bawk\b|\beval "
)
"""Ways to read a value of the file as JSON, or to remove its quotes."""


def undecoded_empty_string(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about an empty string for a program that reads hyperparameters.json and decodes no value of it.

    It is sent in the quotes of JSON, because SageMaker drops an empty one. Only arguments and variables are decoded.
    """
    job = both.job
    if job.entry_point is None or job.hyperparameter_encoding == "raw":
        return
    texts = both.reached or both.texts
    place = next((found for text in texts if (found := _reads_file(text))), None)
    if place is None or any(_DECODES.search(text.text) for text in texts):
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.value == "":
            yield EMPTY_HYPERPARAMETER.at(
                ("hyperparameters", hyperparameter.name),
                f'`hyperparameters.{hyperparameter.name}` is empty: hyperparameters.json has it in quotes, as `""`',
                help="remove it, read it as an argument or a variable, or decode it with `json.loads`",
                notes=(Note("this file is read here, where nothing decodes the value", place),),
            )


def _reads_file(text: SourceText) -> Span | None:
    """Return where code names the file that SageMaker writes; one of that name may also be an output."""
    is_module = text.name.endswith(".py")
    if not is_module and not text.name.endswith(".sh") and not text.text.startswith("#!"):
        return None
    for match in _FILE.finditer(text.text) if _DIRECTORY.search(text.text) else ():
        line = text.text[text.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "#" not in line and (not is_module or _is_string(text, match[0], at_end=True)):
            return place_in(text, match.start(), match.end())
    return None


UNREAD_PIPE_CHANNEL = Rule("SM536", "Pipe channel that the script never reads", "warning")

_READS_ANY = re.compile(
    r"SM_CHANNELS?\b|SM_CHANNEL_[\"'{%]|SM_CHANNEL_\$|SM_TRAINING_ENV|SM_INPUT_DATA_CONFIG|SM_INPUT_DIR"
    r"|inputdataconfig|input_data_config|channel_input_dirs|smspec_runtime|sagemaker_|PipeModeDataset|mlio|ml_io"
    r"|/opt/ml/input/data[/\"'\s]*[\"'\s{%+$]|/opt/ml/input[\"'/\s]*[\"'{%+$]|/opt/ml[\"'/\s]*[\"'{%+$]|_[01]\b"
)
"""Ways to read a channel without writing its name."""


def unread_pipe_channel(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about a Pipe channel of a script whose source does not contain the name of the channel.

    SageMaker starts a Pipe channel when its FIFO is opened; one that is never opened can stop the job from ending.
    """
    job, entry = both.job, both.job.entry_point
    if not isinstance(entry, ScriptEntry | CommandEntry) or starter(job) == "image":
        return
    piped = [channel for channel in job.channels if job.mode_of(channel) == "Pipe"]
    if not piped:
        return
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command
    values = [str(one.value) for one in job.hyperparameters] + [one.name for one in job.hyperparameters]
    written = [*(text.text for text in both.texts), *words, *values, *job.environment.values()]
    if any(_READS_ANY.search(text) for text in written):
        return
    for channel in piped:
        if _is_mentioned(channel.name, both, written):
            continue
        yield UNREAD_PIPE_CHANNEL.at(
            ("channels", channel.name),
            f"`channels.{channel.name}` is a Pipe channel, but the source never mentions `{channel.name}`",
            help="read its FIFO in the script, set `input_mode: File`, or remove the channel",
            on="key",
        )


def _is_mentioned(name: str, both: SourceAndJob, written: list[str]) -> bool:
    """Return whether a text names the channel: a script in a string or as a part of a path, other files anywhere."""
    word = re.escape(name)
    in_code = re.compile(rf"[\"'/-]{word}(?:[\"'/]|_?[\d{{%*\"'])|SM_CHANNEL_{re.escape(name.upper())}\b")
    anywhere = re.compile(rf"(?<![A-Za-z0-9]){word}(?![A-Za-z0-9])", re.IGNORECASE)
    modules = {text.text for text in both.modules}
    return any((in_code if text in modules else anywhere).search(text) for text in written)


RULES: tuple[Callable[[SourceAndJob], Iterator[Finding]], ...] = (
    metric_that_nearly_matches,
    unused_checkpoints,
    hyperparameters_without_a_reader,
    undecoded_empty_string,
    unread_pipe_channel,
)


def source_text_findings(
    job: JobSpec, texts: tuple[SourceText, ...], reached: tuple[SourceText, ...] = ()
) -> list[Finding]:
    """Return where a job does not match the texts of its source."""
    both = SourceAndJob(job=job, texts=texts, reached=reached)
    return [finding for rule in RULES for finding in rule(both)]
