"""Rules about arguments: those of the job, and those that the script declares."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.suggestions import did_you_mean, nearest
from smspec.rules.script.starts import ScriptAndJob, notes, option_word, read_at
from smspec.script.program import CommandLine, DeclaredOption, bare
from smspec.script.script_environment import Argument, ArgumentFault, in_flags
from smspec.spec.shape import AMBIGUOUS_TEXT

UNDECLARED_ARGUMENT = Rule("SM501", "argument that the script does not declare")


def undeclared_argument(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject arguments, and hyperparameters that become arguments, that the script does not declare.

    A parser ends the script when it meets an undeclared argument.
    """
    for fault in both.of_kind("unknown"):
        # Imported late, as below: most jobs have no such fault.
        from smspec.rules.script.argument_remedies import help_for_one_item, name_fix, near_name

        assert fault.argument is not None
        why = f": it {fault.reason}" if fault.reason else ""
        if fault.near == f"--{fault.argument.hyperparameter}":
            label = f"becomes `{option_word(fault.argument)}`"
            help = f"declare `{option_word(fault.argument)}` in the script, or use a longer name"
        else:
            label = near_name(fault)
            what = "hyperparameter" if fault.argument.hyperparameter is not None else "argument"
            help = f"declare it in the script, or remove the {what}; {fault.command_line.library} exits with status 2"
            if fault.command_line.library == "Hydra":
                override = option_word(fault.argument).lstrip("-").partition("=")[0]
                help = f"write `{override}=…` in `entry_point.args` instead: Hydra reads overrides, not options"
        yield UNDECLARED_ARGUMENT.at(
            both.path_of(fault),
            f"`{both.name}` has no argument `{option_word(fault.argument)}`{why}",
            label=label,
            help=help_for_one_item(fault) or help,
            on="key" if fault.argument.hyperparameter is not None else "value",
            notes=notes(fault),
            fix=name_fix(fault, both),
        )


MISSING_ARGUMENT = Rule("SM502", "missing argument of the script")


def missing_argument(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job that omits an argument that its script requires.

    A parser ends the script when a required argument is missing.
    """
    misspelled = {fault.near for fault in both.of_kind("unknown")}
    for fault in both.of_kind("missing"):
        if fault.option is not None and misspelled & set(fault.option.names):
            continue  # it is passed under a wrong name, which is reported
        if fault.option is None:
            message = f"`{both.name}` requires one of {fault.reason}, but the job sets none"
        else:
            message = f"`{both.name}` requires `{fault.option.called}`, but the job does not set it"
        is_positional = fault.option is not None and not fault.option.names
        yield MISSING_ARGUMENT.at(
            both.environment.hyperparameters_path,
            message,
            help="add it to `entry_point.args`, or make it an option in the script"
            if is_positional
            else "add it to `hyperparameters`, or add a default in the script",
            on="key",
            notes=notes(fault),
        )


REJECTED_VALUE = Rule("SM503", "value that the script rejects")


def rejected_value(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject values of a different type, and those that are not among the choices.

    A parser ends the script when a value does not have its type or is not one of its choices.
    """
    for fault in both.of_kind("refused"):
        from smspec.rules.script.argument_remedies import choice_fix, help_for_value, near_choice

        assert fault.argument is not None
        words = " ".join(fault.argument.words[1:])
        yield REJECTED_VALUE.at(
            both.path_of(fault),
            f"`{both.name}` rejects `{option_word(fault.argument)}`"
            + (f": {fault.reason}" if fault.reason else f" with the value `{words}`" if words else " without a value"),
            label=near_choice(fault),
            help=help_for_value(fault.argument, fault),
            notes=notes(fault),
            fix=choice_fix(fault),
        )


VALUE_FOR_A_FLAG = Rule("SM504", "value for a flag of the script")


def value_for_a_flag(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a value for what the script declares as a flag, such as `store_true`.

    A flag has no value; a value after it is one argument too many.
    """
    for fault in both.of_kind("alone"):
        assert fault.argument is not None
        yield VALUE_FOR_A_FLAG.at(
            both.path_of(fault),
            f"`{option_word(fault.argument)}` of `{both.name}` is a flag without a value, but the job passes"
            f" `{' '.join(fault.argument.words[1:])}`",
            help="set `args_style: flags`, which passes true as the flag and omits false"
            if isinstance(fault.argument.value, bool)
            else "remove the hyperparameter, or declare an option with a value in the script",
            notes=notes(fault),
        )


TYPE_BOOL_ARGUMENT = Rule("SM505", "type=bool argument", "warning")


def type_bool_argument(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a false value that the script reads as true.

    ``type=bool`` calls ``bool`` with a string, and every string except the empty one is true.
    """
    for fault in both.of_kind("truth"):
        assert fault.argument is not None
        yield TYPE_BOOL_ARGUMENT.at(
            both.path_of(fault),
            f"`{option_word(fault.argument)} {fault.argument.words[1]}` becomes true: "
            f"`{both.name}` declares it with `type=bool`",
            help="use `argparse.BooleanOptionalAction` in the script with `args_style: flags`, or compare the string",
            notes=notes(fault),
        )


MUTUALLY_EXCLUSIVE_ARGUMENTS = Rule("SM509", "mutually exclusive arguments")


def mutually_exclusive_arguments(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject two arguments of which the script accepts one.

    Only one argument of a mutually exclusive group can be passed.
    """
    for fault in both.of_kind("clash"):
        yield MUTUALLY_EXCLUSIVE_ARGUMENTS.at(
            both.path_of(fault),
            f"`{both.name}` accepts only one of {fault.reason}, but the job sets both",
            help="remove one of them",
            on="key",
            notes=notes(fault),
        )


NESTED_MAPPING_AS_TEXT = Rule("SM533", "nested mapping or list as text", "warning")


def nested_mapping_as_text(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a nested mapping, or a list, whose structure the argument of the script does not preserve.

    `args_style: toolkit` joins a mapping as `key=value` pairs, and a mapping or a list in it becomes Python's text. A
    list becomes Python's text, one item of an option with `nargs` or `action="append"`.
    """
    at_fault = [fault.argument for fault in both.faults]
    for argument in both.environment.arguments or ():
        found = _option(both.program.command_lines, option_word(argument))
        if found is None or argument in at_fault or not _loses_structure(argument, found[1]):
            continue
        line, option = found
        if isinstance(argument.value, list):
            what = f"gets `{option_word(argument)}` as one item, `{argument.words[-1]}`: it is a list"
            from smspec.rules.script.argument_remedies import help_for_items

            help = help_for_items(argument, line)
        else:
            what = f"gets `{option_word(argument)}` as text that is not JSON: it is a nested mapping"
            help = "set `args_style: json` in `entry_point`, and parse the argument with `json.loads` in the script"
        yield NESTED_MAPPING_AS_TEXT.at(
            argument.path, f"`{both.name}` {what}", help=help, on="key", notes=read_at(option.place)
        )


def _option(lines: Iterable[CommandLine], name: str) -> tuple[CommandLine, DeclaredOption] | None:
    """Return the option of the script that gets a string, and its parser."""
    options = ((line, option) for line in lines for option in line.options)
    return next((one for one in options if name in one[1].names and one[1].kind == "text"), None)


def _loses_structure(argument: Argument, option: DeclaredOption) -> bool:
    if argument.hyperparameter is None or not isinstance(argument.value, dict | list):
        return False
    if isinstance(argument.value, list):
        return option.takes_several and argument.words != in_flags(argument)
    if not any(isinstance(inner, dict | list) for inner in argument.value.values()):
        return False
    try:
        json.loads(argument.words[-1])
    except ValueError:
        return True
    return False


UNCHECKED_ARGUMENTS = Rule("SM513", "unchecked arguments", "note")


def unchecked_arguments(both: ScriptAndJob) -> Iterator[Finding]:
    """Report where smspec could not follow what the script accepts, for a job that passes arguments to it.

    A script whose parser could not be followed has the same result as one that accepts everything, so it is noted.
    """
    stop = both.program.stop
    if stop is None or not both.environment.arguments:
        return
    words = "some arguments" if both.program.command_lines and "some" in stop.reason else "arguments"
    yield UNCHECKED_ARGUMENTS.at(
        both.environment.program_path,
        f"smspec did not check {words} of `{both.name}`: {stop.reason}",
        notes=() if stop.place is None else (Note("the script reads its arguments here", stop.place),),
    )


MISSING_HYPERPARAMETER = Rule("SM508", "missing hyperparameter of the script", "warning")


def missing_hyperparameter(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a hyperparameter that the script reads without checking that it is set.

    ``job.hyperparameters`` and the variables SM_HP_… contain the keys of the spec; any other key is a KeyError.
    """
    known = both.environment.hyperparameters
    capitals = {name.upper() for name in known}
    for read in both.program.hyperparameters:
        is_variable = read.by == "variable"
        if read.name in (capitals if is_variable else known) or read.written in both.environment.variables:
            continue
        yield MISSING_HYPERPARAMETER.at(
            both.environment.hyperparameters_path,
            f"`{both.name}` reads `{read.written}`, but the job has no hyperparameter `{read.name.lower()}`"
            if is_variable
            else f"`{both.name}` reads the hyperparameter `{read.name}`, but the job does not set it",
            label=did_you_mean(read.name, known),
            help="add it to `hyperparameters`, or read it with `.get`",
            on="key",
            notes=read_at(read.place),
        )


_NO_VALUE = frozenset({"none", "null", "nil", "nan"})


def text_that_means_no_file(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about `none` and the like for an option that names a file, unless the script may compare it with that text.

    Its name or its use shows that. Any other may have such a value. `None` of a hyperparameter is reported elsewhere.
    """
    for argument in both.environment.arguments or ():
        word = argument.words[-1]
        if len(argument.words) != 2 or word.lower() not in _NO_VALUE or (argument.hyperparameter and word == "None"):
            continue
        found = _option(both.program.command_lines, argument.words[0])
        if found is None or found[1].default not in (None, "") or found[1].is_required or found[1].choices:
            continue
        read = re.compile(rf"(?<!efault: )(?<!efaults to )\b{word.lower()}\b|(?i:['\"]{word}['\"])")
        if found[1].function is not None or any(read.search(text.text) for text in both.program.texts):
            continue
        from smspec.script.option_values import meant_as  # imported late: few jobs have such a word

        if meant := meant_as(found[1], argument.words[0], both.program.texts):
            yield AMBIGUOUS_TEXT.at(
                argument.path,
                f"`{option_word(argument)}` of `{both.name}` is the string `{word}`, which is true in Python",
                help="remove it for the default of the script" + ", or write `./…` for a file" * (meant == "file"),
                notes=read_at(found[1].place),
            )


IGNORED_ARGUMENT = Rule("SM516", "ignored argument", "warning")

_READ_BY_OTHERS = ("model_dir", "mp_parameters")
"""The SageMaker SDK adds the first to every TensorFlow job; SageMaker's model parallel library reads the second."""


def ignored_argument(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a hyperparameter that becomes an argument which the script neither declares nor reads.

    `parse_known_args` accepts undeclared arguments, and most scripts ignore the remaining ones.
    """
    lines = both.program.command_lines
    if not lines or not all(line.drops for line in lines):
        return
    names = [name for line in lines for option in line.options for name in option.names]
    for argument in both.environment.arguments or ():
        if argument.hyperparameter in (None, *_READ_BY_OTHERS) or _may_be_used(argument, both):
            continue
        fault = ArgumentFault(
            kind="unknown", command_line=lines[0], argument=argument, near=nearest(option_word(argument), names)
        )
        yield IGNORED_ARGUMENT.at(
            argument.path,
            f"`{both.name}` ignores `{option_word(argument)}`: "
            "`parse_known_args` accepts it, the script never reads it",
            label=f"did you mean `{fault.near.lstrip('-')}`?" if fault.near else "",
            help="rename the hyperparameter, declare the argument in the script, or remove the hyperparameter",
            on="key",
            notes=notes(fault),
        )


def _may_be_used(argument: Argument, both: ScriptAndJob) -> bool:
    word = option_word(argument)
    named = {name: line for line in both.program.command_lines for option in line.options for name in option.names}
    if not word.startswith("-"):
        return True
    # That an option is declared in a similar spelling is no use of this one: the script compares whole names.
    if bare(word) in both.program.mentioned and bare(word) not in map(bare, named):
        return True
    begun = [name for name, line in named.items() if line.abbreviates and name.startswith(word)]
    return bool(begun) or word in named or (len(word) == 2 and any(name[:2] == word for name in named))


OPTION_DECLARED_TWICE = Rule("SM555", "option declared twice")


def option_declared_twice(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a script whose parser declares an option twice, itself or through its parents.

    argparse raises ArgumentError at the second declaration, whatever the arguments are.
    """
    for repeated in both.program.repeated_options:
        first, second = repeated.places
        yield OPTION_DECLARED_TWICE.at(
            both.environment.program_path,
            f"`{both.name}` declares `{repeated.name}` twice in one parser",
            help='remove one declaration, or set `conflict_handler="resolve"`: argparse raises ArgumentError',
            notes=(Note("it is declared here", first), Note("argparse rejects it here", second)),
        )


RULES = (
    undeclared_argument,
    missing_argument,
    rejected_value,
    value_for_a_flag,
    type_bool_argument,
    mutually_exclusive_arguments,
    nested_mapping_as_text,
    unchecked_arguments,
    missing_hyperparameter,
    text_that_means_no_file,
    ignored_argument,
    option_declared_twice,
)
