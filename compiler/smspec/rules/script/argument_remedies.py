"""What the author can do about an argument that a script rejects: a similar name or choice, its fix, and the help."""

from __future__ import annotations

import json

from smspec.diagnostics.suggestions import Fix, nearest, spelling_fix
from smspec.rules.script.starts import ScriptAndJob, option_word
from smspec.script.grammars import accepts
from smspec.script.program import CommandLine
from smspec.script.script_environment import Argument, ArgumentFault, argument_words, in_flags


def near_name(fault: ArgumentFault) -> str:
    """Return the label that suggests a similar name, in the form in which the author writes it."""
    if fault.near is None:
        return ""
    is_hyperparameter = fault.argument is not None and fault.argument.hyperparameter is not None
    return f"did you mean `{fault.near.lstrip('-') if is_hyperparameter else fault.near}`?"


def near_choice(fault: ArgumentFault) -> str:
    """Return the label that suggests a choice similar to the one wrong value."""
    words = fault.argument.words if fault.argument is not None else ()
    words = words if fault.option is not None and not fault.option.names else words[1:]
    choices = fault.option.choices if fault.option is not None else None
    near = nearest(words[0], map(str, choices)) if choices and len(words) == 1 else None
    return f"did you mean `{near}`?" if near is not None else ""


def name_fix(fault: ArgumentFault, both: ScriptAndJob) -> Fix | None:
    """Return the fix of a misspelled hyperparameter, among the options that the job does not set."""
    if fault.argument is None or fault.argument.hyperparameter is None:
        return None
    passed = {word.partition("=")[0] for word in both.environment.words}
    free = [option for option in fault.command_line.options if not passed & set(option.names)]
    names = (name[2:] for option in free for name in option.names if name.startswith("--"))
    return spelling_fix(fault.argument.hyperparameter, names)


def choice_fix(fault: ArgumentFault) -> Fix | None:
    """Return the fix of a misspelled choice; a hyperparameter whose value is a text is written as its word."""
    value = fault.argument.value if fault.argument is not None and fault.argument.hyperparameter is not None else None
    choices = fault.option.choices if fault.option is not None else None
    return spelling_fix(value, map(str, choices)) if choices and isinstance(value, str) else None


def help_for_one_item(fault: ArgumentFault) -> str:
    """Return the remedy for an item of `entry_point.args` that has the value of a known option, too."""
    word = "" if fault.argument is None or fault.argument.hyperparameter else option_word(fault.argument)
    first, *others = word.split(None, 1) or [""]
    names = {name for option in fault.command_line.options for name in option.names}
    if not others or first.partition("=")[0] not in names:
        return ""
    items = ", ".join(f'"{part}"' for part in word.split())
    return f"write one word per item: `{items}`" if len(items) <= 60 else "write the option and its value as two items"


def help_for_value(argument: Argument, fault: ArgumentFault) -> str:
    """Return the remedy: a structure that the script parses needs the style that preserves it."""
    line, option = fault.command_line, fault.option
    is_list = isinstance(argument.value, list) and option is not None and option.takes_several
    if is_list and option is not None and (option.collects or argument.words != in_flags(argument)):
        return help_for_items(argument, line)
    if len(argument.words) == 2 and argument.words[1].startswith("-") and line.library == "argparse":
        joined = json.dumps("=".join(argument.words), ensure_ascii=False)
        return (
            f"remove the hyperparameter, and set `args: [{joined}]` in `entry_point`: argparse sees an option otherwise"
        )
    is_structure = argument.hyperparameter is not None and not isinstance(argument.value, str)
    if option is not None and option.kind == "json" and is_structure:
        written = json.dumps(argument.value, ensure_ascii=False)
        words = argument_words("json", argument.hyperparameter or "", argument.value, written)
        if argument.words != words and accepts(line, words):
            return f"set `args_style: json` in `entry_point`: the script gets `{' '.join(words)}`"
    if not argument.words[1:] and argument.value == []:
        return f"remove the hyperparameter, or declare `{argument.words[0]}` with `nargs='*'`: its list is empty"
    return f"change the value, or the type in the script, which gets `{' '.join(argument.words)}`"


def help_for_items(argument: Argument, line: CommandLine) -> str:
    """Return the remedy for a list that arrives as one text: the style that passes its items, if they are accepted."""
    words = in_flags(argument)
    if accepts(line, words):
        return f"set `args_style: flags` in `entry_point`: the script gets `{' '.join(words)}`"
    if not argument.value:
        return f"remove the hyperparameter: `{words[0]}` needs at least one value, and the list is empty"
    each = [word for item in words[1:] for word in (words[0], item)]
    if accepts(line, tuple(each)):
        return f"remove the hyperparameter, and set `args: {json.dumps(each, ensure_ascii=False)}` in `entry_point`"
    passed = " ".join(words)
    return f"change the list, or the declaration in the script, which rejects `{passed}`, as `args_style: flags` has it"
