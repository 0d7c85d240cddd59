"""Convert a word of the command line as an option does."""

from __future__ import annotations

from smspec.script.program import Kind, Option

_TRUTHS = frozenset({"1", "0", "true", "false", "t", "f", "yes", "no", "y", "n", "on", "off"})
_NEITHER = "is neither true nor false"
_REASONS = {"int": "is not an integer", "float": "is not a number"}
_REASONS |= {"json": "is not JSON", "literal": "is not a literal of Python"}
_REASONS["pair"] = "is not an override `key=value`"
_SHOWN = 8


def converted(kind: Kind, word: str) -> object:
    """Return the converted word. Raise ValueError if it is rejected."""
    match kind:
        case "int":
            return int(word)
        case "int literal":
            return word if ":" in word else int(word, 10 if word.strip("-+0_").isdigit() else 0)
        case "float":
            return float(word)
        case "float literal":
            return word if word[:1] == "." or set(word) & set("xo:") else float(word)
        case "bool()":
            return bool(word)
        case "json":
            return _loaded(word)
        case "literal":
            return _literal(word)
        case "pair" if "=" not in word and not word.startswith("~"):
            raise ValueError(word)
        case "truth":
            if word.strip().lower() not in _TRUTHS:
                raise ValueError(word)
    return word


def _loaded(word: str) -> object:
    import json  # imported late, as below: few options have such a type

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


def refusal(option: Option, word: str) -> str | None:
    """Return why an option rejects a word, or None if it accepts it."""
    try:
        value = converted(option.kind, word)
    except (ValueError, OverflowError):
        return _REASONS.get(option.kind.partition(" ")[0], _NEITHER)
    if option.choices is not None:
        taken = {str(choice).lower() for choice in option.choices} if option.ignores_case else option.choices
        if (str(value).lower() if option.ignores_case else value) not in taken:
            return "is not one of " + listed(option.choices)
    if isinstance(value, int | float) and option.kind.startswith(("int", "float")):
        if option.lowest is not None and value < option.lowest:
            return f"is below {option.lowest:g}"
        if option.highest is not None and value > option.highest:
            return f"is above {option.highest:g}"
    return None


def listed(choices: tuple[object, ...]) -> str:
    """Return some choices for a message."""
    shown = [f"`{choice}`" for choice in choices[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else "")
