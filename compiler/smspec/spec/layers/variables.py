"""The variables of a spec, as ``vars`` declares them, and their values: of the command line, else the defaults."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Settings

from smspec.diagnostics import Finding, InvalidInput, Rule
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.suggestions import did_you_mean
from smspec.source import Mapping, Node, Path, Scalar, Sequence, SourceText, dotted
from smspec.source.frozen import dataclass, replace
from smspec.spec.yaml import read_scalar

MALFORMED_VARIABLE = Rule("SM123", "malformed variable")

_KEYS = ("default", "enum", "description")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_MOST_SHOWN = 8
_MADE_OF_OTHERS = "a variable cannot refer to other variables"

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class SpecVariable:
    """One entry of ``vars``. Without ``choices``, any value is valid."""

    name: str
    default: Scalar | None
    choices: tuple[Scalar, ...]

    def kinds(self) -> set[str]:
        """Return the kinds of its declared values: see `kind`."""
        return {kind(value) for value in (*self.choices, *((self.default,) if self.default else ()))}


def is_name(text: str) -> bool:
    """Return whether a string can be the name of a variable."""
    return bool(text) and _NAME.issuperset(text)


def declared(node: Node | None) -> tuple[dict[str, SpecVariable], list[Finding]]:
    """Return the variables that ``vars`` declares, and the errors in the declarations."""
    if node is None:
        return {}, []
    if not isinstance(node, Mapping):
        help = "use a mapping, such as `vars: {size: {default: 7b}}`"
        return {}, [MALFORMED_VARIABLE.at(("vars",), "`vars` is not a mapping", help=help)]
    variables: dict[str, SpecVariable] = {}
    findings: list[Finding] = []
    for key, value in node.entries:
        path: Path = ("vars", key.text)
        faults = list(_faults(key.text, value, path))
        findings += faults
        if not faults and isinstance(value, Mapping):
            default, enum = value.get("default"), value.get("enum")
            choices = (
                tuple(item for item in enum.items if isinstance(item, Scalar)) if isinstance(enum, Sequence) else ()
            )
            variables[key.text] = SpecVariable(key.text, default if isinstance(default, Scalar) else None, choices)
    return variables, findings


def _faults(name: str, value: Node, path: Path) -> list[Finding]:
    at = MALFORMED_VARIABLE.at
    if not is_name(name):
        help = "use letters, digits, `_`, and `-`"
        return [at(path, f"{quoted(name)} is not a valid variable name", help=help, on="key")]
    if not isinstance(value, Mapping):
        help = f"use `{name}: {{default: …}}`; add `enum` to limit the values"
        return [at(path, f"`vars.{name}` is not a mapping", help=help)]
    return [*_key_faults(name, value, path), *_default_faults(value, path), *_enum_faults(value, path)]


def _key_faults(name: str, value: Mapping, path: Path) -> Iterator[Finding]:
    at = MALFORMED_VARIABLE.at
    for key, _ in value.entries:
        if key.text not in _KEYS:
            label = did_you_mean(key.text, _KEYS) or "use `default`, `enum`, or `description`"
            message = f"unknown key {quoted(key.text)} in variable {quoted(name)}"
            yield at((*path, key.text), message, label=label, on="key")
    description = value.get("description")
    if description is not None and not (isinstance(description, Scalar) and isinstance(description.value, str)):
        yield at((*path, "description"), f"`{dotted((*path, 'description'))}` is not a string")


def _default_faults(value: Mapping, path: Path) -> Iterator[Finding]:
    default = value.get("default")
    if default is None:
        return
    here = (*path, "default")
    if not isinstance(default, Scalar):
        yield MALFORMED_VARIABLE.at(here, f"`{dotted(here)}` is a list or a mapping; a variable has one value")
        return
    if "${{" in default.text:
        yield MALFORMED_VARIABLE.at(here, _MADE_OF_OTHERS)
    choices = [item for item in _items(value) if isinstance(item, Scalar) and item.value is not None]
    if choices and not any(same(default, choice) for choice in choices):
        message = f"default {quoted(default.text)} is not in `enum`"
        yield MALFORMED_VARIABLE.at(here, message, help=f"add it to `enum`, or use {shown(choices)}")


def _enum_faults(value: Mapping, path: Path) -> Iterator[Finding]:
    if value.get("enum") is not None and not _items(value):
        yield MALFORMED_VARIABLE.at((*path, "enum"), f"`{dotted((*path, 'enum'))}` is not a list of values")
    for index, item in enumerate(_items(value)):
        if not isinstance(item, Scalar) or item.value is None:
            yield MALFORMED_VARIABLE.at(
                (*path, "enum", index), f"`{dotted((*path, 'enum', index))}` is not a scalar value"
            )
        elif "${{" in item.text:
            yield MALFORMED_VARIABLE.at((*path, "enum", index), _MADE_OF_OTHERS)


def _items(value: Mapping) -> tuple[Node, ...]:
    enum = value.get("enum")
    return tuple(enum.items) if isinstance(enum, Sequence) else ()


def shown(choices: tuple[Scalar, ...] | list[Scalar]) -> str:
    """Return values as a message lists them, at most a few."""
    first = ", ".join(quoted(choice.text) for choice in choices[:_MOST_SHOWN])
    return first + (f" and {len(choices) - _MOST_SHOWN} more" if len(choices) > _MOST_SHOWN else "")


def same(one: Scalar, other: Scalar) -> bool:
    """Return whether two values are equal; ``7`` and ``"7"`` are not."""
    return kind(one) == kind(other) and one.value == other.value


def kind(scalar: Scalar) -> str:
    """Return the kind of a value, in words."""
    if isinstance(scalar.value, str):
        return "text"
    if scalar.value is None:
        return "null"
    return "true or false" if isinstance(scalar.value, bool) else "a number"


class OptionError(Exception):
    """The error is in the command, not in the spec: an unknown overlay, variable, or value."""


class UnfitSetting(OptionError):
    """The variable ``name`` does not take the value of `--set`, for a ``reason``."""

    def __init__(self, name: str, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.name, self.option, self.reason = name, option, reason


def valued(variables: Settings[str, SpecVariable], settings: Settings[str, str]) -> dict[str, Scalar]:
    """Return the value of every variable that has one. ``settings`` are the NAME=VALUE of ``--set vars.NAME=VALUE``."""
    values = {name: variable.default for name, variable in variables.items() if variable.default is not None}
    for name, text in settings.items():
        variable = variables.get(name)
        if variable is None:
            raise OptionError(_undeclared(name, variables))
        values[name] = _value(variable, text)
    return values


def valued_as_far_as_possible(
    variables: Settings[str, SpecVariable], settings: Settings[str, str]
) -> dict[str, Scalar]:
    """Return the values as `valued` does, without invalid settings; for specs with other errors."""
    values = valued(variables, {})
    for name, text in settings.items():
        values.pop(name, None)
        try:
            values[name] = valued(variables, {name: text})[name]
        except OptionError:
            continue
    return values


def _undeclared(name: str, variables: Settings[str, SpecVariable]) -> str:
    message = f"--set vars.{name}: the spec declares no variable `{name}`"
    if not variables:
        return message
    names = ", ".join(f"`{known}`" for known in list(variables)[:_MOST_NAMED])
    return f"{message}: " + (did_you_mean(name, variables) or f"it has {names}")


def _value(variable: SpecVariable, text: str) -> Scalar:
    given = f"--set vars.{variable.name}={text}"
    try:
        value = read_scalar(SourceText("--set", text))
    except InvalidInput as rejected:
        raise OptionError(f"{given}: {rejected.diagnostics[0].message}; VALUE is one YAML scalar") from None
    if "${{" in value.text:
        raise OptionError(f"{given}: a variable cannot be made of other variables")
    kinds = variable.kinds()
    if kinds == {"text"} and value.plain:
        # A variable that is a string stays one: `--set vars.account=012345678901` needs no quotes.
        value = replace(value, value=value.text, plain=isinstance(value.value, str))
    if kinds and kind(value) not in kinds:
        raise UnfitSetting(
            variable.name, given, f"`{variable.name}` is {' or '.join(sorted(kinds))}, not {kind(value)}"
        )
    if variable.choices and not any(same(value, choice) for choice in variable.choices):
        raise UnfitSetting(variable.name, given, f"`{variable.name}` is one of {shown(variable.choices)}")
    return value
