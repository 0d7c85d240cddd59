"""What a job passes to its script, and what the script would reject of it, as far as either is known.

The variables have SageMaker's names; a test compares them with those of the runtime.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from smspec.diagnostics.suggestions import nearest
from smspec.script.program import CommandLine, DeclaredOption, Kind
from smspec.source import Path
from smspec.source.frozen import dataclass

_PREFIX = "SM_"

SET = frozenset(
    {"SM_CHANNELS", "SM_CURRENT_HOST", "SM_CURRENT_INSTANCE_GROUP", "SM_CURRENT_INSTANCE_GROUP_HOSTS"}
    | {"SM_CURRENT_INSTANCE_TYPE", "SM_DISTRIBUTION_INSTANCE_GROUPS", "SM_FRAMEWORK_MODULE", "SM_FRAMEWORK_PARAMS"}
    | {"SM_HOSTS", "SM_HPS", "SM_INPUT_CONFIG_DIR", "SM_INPUT_DATA_CONFIG", "SM_INPUT_DIR", "SM_INSTANCE_GROUPS"}
    | {"SM_INSTANCE_GROUPS_DICT", "SM_IS_HETERO", "SM_LOG_LEVEL", "SM_MODEL_DIR", "SM_MODULE_DIR", "SM_MODULE_NAME"}
    | {"SM_NETWORK_INTERFACE_NAME", "SM_NUM_CPUS", "SM_NUM_GPUS", "SM_NUM_NEURONS", "SM_OUTPUT_DATA_DIR"}
    | {"SM_OUTPUT_DIR", "SM_OUTPUT_INTERMEDIATE_DIR", "SM_RESOURCE_CONFIG", "SM_TOPOLOGY", "SM_TRAINING_ENV"}
    | {"SM_USER_ARGS", "SM_USER_ENTRY_POINT"}
)

OF_IMAGES = frozenset(
    {"SM_CHECKPOINT_CONFIG_FILE", "SM_DLC_TORCH_VERSION", "SM_INPUT", "SM_INPUT_DATA_CONFIG_FILE"}
    | {"SM_INPUT_TRAINING_CONFIG_FILE", "SM_STUDIO_LOCAL_MODE"}
)
"""Some images of AWS set these."""

OF_OTHER_STARTERS = frozenset(
    {"SM_CURRENT_HOST_RANK", "SM_DISTRIBUTED_CONFIG", "SM_DISTRIBUTED_DRIVER_DIR", "SM_ENTRY_SCRIPT", "SM_HOST_COUNT"}
    | {"SM_INPUT_DATA_DIR", "SM_MASTER_ADDR", "SM_MASTER_PORT", "SM_NPROC_PER_NODE", "SM_SOURCE_DIR"}
)
"""Only jobs that the ModelTrainer of the SageMaker SDK starts have these."""


FaultKind = Literal["unknown", "missing", "refused", "alone", "truth", "clash"]
"""``alone``: a flag accepts no value. ``truth``: a string that becomes true."""

_TRUTHS = frozenset({"1", "0", "true", "false", "t", "f", "yes", "no", "y", "n", "on", "off"})
_NEITHER = "is neither true nor false"
_REASONS = {
    "int": "is not an integer",
    "float": "is not a number",
    "json": "is not JSON",
    "literal": "is not a literal of Python",
}
_SHOWN = 8
"""How many choices a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Words on the command line that belong together; ``path`` is where the spec sets them.

    ``hyperparameter``: its name; None for words that are written as arguments. ``value``: their meaning.
    """

    words: tuple[str, ...]
    path: Path
    hyperparameter: str | None = None
    value: object = None

    @property
    def label(self) -> str:
        """Its name in a message."""
        return self.hyperparameter if self.hyperparameter is not None else " ".join(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptEnvironment:
    """``arguments`` None: the command line is unknown. ``variables`` are set in addition to those of SageMaker.

    ``piped``: the channels in Pipe mode. ``is_bare``: only the spec adds variables to those of an official image of
    Python. ``has_only_source``: the image has no other files where the script starts.
    ``forms_groups``: a launcher, or an image that may have one, sets what PyTorch's process groups need.
    ``isolation_path``: the key that isolates the container, None without one. ``unrouted_path``: the key that puts it
    in a VPC without a package index. ``packages``: those that the spec adds to the image, None if they are unknown.
    ``hyperparameters_path`` and ``channels_path`` are where the spec has them, or could have; ``program_path`` is where
    it names the script. ``omitted``: false values that become no words.
    """

    arguments: tuple[Argument, ...] | None
    hyperparameters: tuple[str, ...]
    channels: tuple[str, ...]
    variables: frozenset[str]
    forms_groups: bool = True
    isolation_path: Path | None = None
    unrouted_path: Path | None = None
    packages: frozenset[str] | None = frozenset()
    piped: tuple[str, ...] = ()
    omitted: tuple[Argument, ...] = ()
    is_bare: bool = False
    has_only_source: bool = False
    hyperparameters_path: Path
    channels_path: Path
    program_path: Path

    @property
    def words(self) -> list[str]:
        """The command line after the script."""
        return [word for argument in self.arguments or () for word in argument.words]


def is_set(name: str) -> bool:
    """Return whether a job, or an image of AWS, sets a variable."""
    return name in SET or name in OF_IMAGES


@lru_cache(maxsize=256)
def near_variable(name: str) -> str | None:
    """Return the variable that a name probably means: a similar one, or a prefix of the name."""
    if name in OF_OTHER_STARTERS:
        return None
    if not name.startswith(_PREFIX):
        # A letter of the prefix is missing: any other name may be anything.
        damaged = (known for known in SET if name in (known[1:], known[0] + known[2:], known[:2] + known[3:]))
        return next(damaged, None)
    begun = [known for known in SET if name.startswith(known)]
    return nearest(name, sorted(SET)) or max(begun, key=len, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFault:
    """``argument`` None: it is missing. ``reason`` ends a sentence; ``near`` is a similar valid name or value."""

    kind: FaultKind
    command_line: CommandLine
    argument: Argument | None = None
    option: DeclaredOption | None = None
    reason: str = ""
    near: str | None = None


def argument_words(style: str, name: str, value: object, sent: str = "") -> tuple[str, ...]:
    """Return the words for a hyperparameter, as `smspec_runtime.arguments` makes them; a test compares both.

    ``style``: `args_style` of the spec. ``sent``: the value as it is written in the request, if it is no string.
    """
    match style:
        case "none":
            return ()
        case "toolkit":
            if isinstance(value, dict):
                value = ",".join(f"{key}={inner}" for key, inner in sorted(value.items()))
            dashes = "--" if len(name) > 1 else "-" if name else ""
            return dashes + name, "" if value is None else str(value)
        case "flags" if isinstance(value, bool):
            return (f"--{name}",) if value else ()
        case "flags" if isinstance(value, list):
            import json  # imported late, as below: few lists are passed so

            return (f"--{name}", *(item if isinstance(item, str) else json.dumps(item) for item in value))
    return f"--{name}", value if isinstance(value, str) else sent.strip()


def converted(kind: Kind, word: str) -> object:
    """Return the converted word. Raise ValueError if it is rejected."""
    match kind:
        case "int":
            return int(word)
        case "float":
            return float(word)
        case "bool()":
            return bool(word)
        case "json":
            return _loaded(word)
        case "literal":
            return _literal(word)
        case "truth":
            if word.strip().lower() not in _TRUTHS:
                raise ValueError(word)
    return word


def checked(option: DeclaredOption, word: str) -> object:
    """Return what the type of an option makes of a word. Raise ValueError if it rejects the word."""
    if option.function is not None and option.function.rejects(word):
        raise ValueError(word)
    return converted(option.kind, word)


def _loaded(word: str) -> object:
    import json  # imported late: few options have such a type

    try:
        return json.loads(word)
    except RecursionError:
        return word


def _literal(word: str) -> object:
    import ast

    try:
        return ast.literal_eval(word)
    except (RecursionError, MemoryError):
        return word
    except (SyntaxError, TypeError) as fault:
        raise ValueError(word) from fault


def refusal(option: DeclaredOption, word: str) -> str | None:
    """Return why an option rejects a word, or None if it accepts it."""
    try:
        value = checked(option, word)
    except (ValueError, OverflowError):
        if option.function is not None:
            return f"raises an exception in `{option.function.name}`"
        return _REASONS.get(option.kind, _NEITHER)
    if option.choices is not None and value not in option.choices:
        return "is not one of " + listed(option.choices)
    return None


def listed(choices: tuple[object, ...]) -> str:
    """Return some choices for a message."""
    shown = [f"`{choice}`" for choice in choices[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else "")


def in_flags(argument: Argument) -> tuple[str, ...]:
    """Return the words of a list as `args_style: flags` passes it."""
    return argument_words("flags", argument.hyperparameter or "", argument.value)
