"""The values of variables: what the command line sets, else what the spec declares."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.diagnostics import InvalidInput
from smspec.diagnostics.suggestions import nearest
from smspec.source import Scalar, SourceText
from smspec.source.frozen import replace
from smspec.spec.layers.option_errors import OptionError
from smspec.spec.layers.variables import Variable, kind, same, shown
from smspec.spec.yaml.yaml_reader import read_scalar

_MOST_NAMED = 8


def valued(variables: Mapping[str, Variable], settings: Mapping[str, str]) -> dict[str, Scalar]:
    """Return the value of every variable that has one. ``settings`` are the NAME=VALUE of ``--set vars.NAME=VALUE``."""
    values = {name: variable.default for name, variable in variables.items() if variable.default is not None}
    for name, text in settings.items():
        variable = variables.get(name)
        if variable is None:
            raise OptionError(_undeclared(name, variables))
        values[name] = _value(variable, text)
    return values


def valued_as_far_as_possible(variables: Mapping[str, Variable], settings: Mapping[str, str]) -> dict[str, Scalar]:
    """Return the values as `valued` does, without invalid settings; for specs with other errors."""
    values = valued(variables, {})
    for name, text in settings.items():
        values.pop(name, None)
        try:
            values[name] = valued(variables, {name: text})[name]
        except OptionError:
            continue
    return values


def _undeclared(name: str, variables: Mapping[str, Variable]) -> str:
    message = f"--set vars.{name}: the spec declares no variable `{name}`"
    if not variables:
        return message
    near = nearest(name, variables)
    names = ", ".join(f"`{known}`" for known in list(variables)[:_MOST_NAMED])
    return f"{message}: " + (f"did you mean `{near}`?" if near else f"it has {names}")


def _value(variable: Variable, text: str) -> Scalar:
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
        raise OptionError(f"{given}: `{variable.name}` is {' or '.join(sorted(kinds))}, not {kind(value)}")
    if variable.choices and not any(same(value, choice) for choice in variable.choices):
        raise OptionError(f"{given}: `{variable.name}` is one of {shown(variable.choices)}")
    return value
