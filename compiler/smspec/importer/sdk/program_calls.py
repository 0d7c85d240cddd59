"""What a program that starts jobs calls: functions, classes, and methods of Python, of the SDK, and of boto3."""

from __future__ import annotations

import ast

from smspec.importer.sdk.arguments import (
    keep_copies,
    keeps_hyperparameters,
    own_hyperparameters,
)
from smspec.importer.sdk.call_requests import (
    CALL,
    UNPACKED,
    in_a_file,
    is_request,
    name_of,
    region_of,
    requested_by,
    result_of_method,
)
from smspec.importer.sdk.callables import (
    NEW,
    START,
    Partial,
    SdkClass,
    SdkSuper,
    SubclassInstance,
    bound_to,
    decorators_of,
    handed_over,
    is_callable,
    is_decorated,
    may_start,
    runs_other_code,
    starts_jobs,
)
from smspec.importer.sdk.choices import chosen, item_of_one, kept, taken_out
from smspec.importer.sdk.conversions import converted, copied, read_from, shallow
from smspec.importer.sdk.found_jobs import FoundJobs
from smspec.importer.sdk.images import is_image_call
from smspec.importer.sdk.notebook import RUN_ELSEWHERE, code_of_magic
from smspec.importer.sdk.program_classes import fill_fields, of_data_class
from smspec.importer.sdk.replacements import (
    AttributesOf,
    objects_in,
    replaced_attribute,
    replaced_by,
    set_by_name,
    set_in_another_way,
)
from smspec.importer.sdk.sdk_domain import NamesOfProgram, SdkDomain, doubt_names
from smspec.importer.sdk.sdk_facts import (
    PARAMETERS,
    REMOTE,
    Surroundings,
    attribute_of,
    is_job_class,
    is_of_the_sdk,
    item_of,
    leaves_arguments,
    result_of,
)
from smspec.importer.sdk.values import (
    Entries,
    SdkInstance,
    SdkPlace,
    SdkUnknown,
    Value,
    applied,
    forget,
    lifted,
    lowered,
)
from smspec.script.follow import values as followed
from smspec.script.follow.frames import Call, Frame, Function
from smspec.script.follow.interpreter import ProgramInterpreter, Recorder
from smspec.script.follow.values import UNKNOWN, Bound, Known, Named
from smspec.script.script_files import tree_or_error
from smspec.source import SourceText, Span

MOST_STEPS = 300_000
"""Expressions and statements: a long notebook has some thousands."""

_OF_AN_ESTIMATOR = frozenset(("role", "role_arn", "image_uri", "entry_point"))
"""Arguments of which an estimator has one besides its instance type."""


class ProgramCalls(Recorder):
    """What the calls of a program do while it is followed, and the jobs that they start."""

    def __init__(self) -> None:
        self.surroundings = Surroundings()
        self.found = FoundJobs()
        self._inside: list[tuple[SubclassInstance, SdkClass]] = []
        self._constructed_classes: set[str] = set()
        self._defined: list[tuple[int, Function]] = []
        self._handed: list[tuple[int, Function]] = []
        self._entered_nodes: set[ast.AST] = set()
        self._cell = 0
        self._methods: dict[str, dict[str, Function]] = {}
        domain = SdkDomain(self._step)
        self._stored = domain.stored
        self._run = ProgramInterpreter(self, lambda _, __: None, domain, most_steps=MOST_STEPS)
        self._frame = Frame(SourceText("program", ""))

    def _step(self, count: int) -> None:
        self._run.step(count)

    def _bare(self, *, is_whole: bool) -> Call:
        """Return a call that the program does not write, without arguments."""
        bare = ast.Call(func=ast.Constant(value=None), args=[], keywords=[], lineno=1, col_offset=0)
        return Call(self._run, bare, (), {}, is_whole)

    def _enter(self, function: Function, *first: followed.Value) -> None:
        """Follow a function that the program does not call, with unknown arguments."""
        self._entered_nodes.add(function.node)
        names = dict(self._frame.names)
        self._run.entered(function, self._bare(is_whole=False), first, is_taken=True)
        self._frame.names = names

    def attribute(self, owner: followed.Value, name: str) -> followed.Value | None:
        function = self._methods.get(owner.kind, {}).get(name) if isinstance(owner, SdkInstance) else None
        if function is not None and is_decorated(function, "property"):
            return self._run.entered(function, self._bare(is_whole=True), (owner,))
        if name == "__dict__" and isinstance(owner, SdkInstance):
            return AttributesOf(owner)
        if name == "_hyperparameters" and isinstance(owner, SdkInstance) and keeps_hyperparameters(owner):
            return own_hyperparameters(owner)
        if isinstance(owner, SubclassInstance):
            found = None if name in owner.own else owner.made_by.found(name)
            if found is not None and not {"property", "cached_property"}.isdisjoint(decorators_of(found[1])):
                return kept(self._entered(owner, *found, self._bare(is_whole=True)), name, found[1], owner)
            if not owner.kind:
                return None
        known = attribute_of(owner, name, self.surroundings)
        return None if known is None else lifted(known)

    def attribute_set(self, owner: followed.Value, name: str, value: followed.Value, node: ast.expr) -> None:
        self._replaced(replaced_attribute(owner, name, value), node, owner)

    def context_entered(self, manager: followed.Value) -> followed.Value | None:
        found = manager.made_by.found("__enter__") if isinstance(manager, SubclassInstance) else None
        if found is None or not isinstance(manager, SubclassInstance):
            return None
        return self._entered(manager, *found, self._bare(is_whole=True))

    def context_left(self, manager: followed.Value) -> None:
        found = manager.made_by.found("__exit__") if isinstance(manager, SubclassInstance) else None
        if found is not None and isinstance(manager, SubclassInstance):
            self._entered(manager, *found, self._bare(is_whole=False))

    def defined(self, function: Function) -> None:
        self._defined.append((self._cell, function))

    def _replaced(self, what: str, node: ast.expr | ast.stmt, owner: followed.Value | None) -> None:
        """Record that the program replaces something of the SDK: of all its jobs, or of one object."""
        if not what:
            return
        place = SdkPlace(self._cell, node.lineno)
        if isinstance(owner, SdkInstance) and is_job_class(owner.kind):
            owner.replaced = owner.replaced or f"{place}: the program replaces `{what}`"
        else:
            self.found.replaced.setdefault(place, what)

    def item(self, owner: followed.Value, key: followed.Value) -> followed.Value | None:
        return item_of_one(owner, key) or item_of(owner, key, self.surroundings)

    def looked_up(self, run: ProgramInterpreter, name: str, key: followed.Value, _place: Span) -> followed.Value | None:
        return item_of(Named(name, run), key, self.surroundings)

    def called(self, name: str, call: Call) -> followed.Value:
        if name.endswith(f".{CALL}") and self._requested(call, None):
            return UNKNOWN
        special = self._special(name, call)
        if special is None and not (leaves_arguments(name) or is_of_the_sdk(name)):
            self.not_followed(call)
        return lifted(self._called(self._made(name, call))) if special is None else special

    def _special(self, name: str, call: Call) -> followed.Value | None:
        """Return the result of a function that has to do with names, methods, or functions of the program."""
        first = call.arguments[0] if call.arguments else None
        kind, _, method = name.rpartition(".")
        self._replaced(replaced_by(name, call), call.node, first)
        if name == "exec" and (len(call.node.args) < 2 or isinstance(call.node.args[1], ast.Call)):
            doubt_names(self._frame)
        elif name == RUN_ELSEWHERE:
            self._run_elsewhere(call.node, str(first.constant()) if first is not None else "")
        elif name in ("globals", "locals") and not call.arguments:
            text = ast.unparse(call.node)
            return NamesOfProgram(self._frame, lambda: self._run_elsewhere(call.node, text))
        elif name == "getattr" and len(call.arguments) == 2 and first is not None:
            word = call.arguments[1].constant()
            return self._run.attribute_of(first, word) if isinstance(word, str) else None
        elif name == "functools.partial" and first is not None and (is_callable(first) or isinstance(first, Named)):
            return Partial(first, call)
        elif name == "type" and isinstance(first, SubclassInstance):
            return first.made_by
        elif name == "super" and self._inside:
            instance, kind_of = self._inside[-1]
            return SdkSuper(instance, kind_of.above)
        elif method == START and isinstance(first, SubclassInstance) and is_job_class(kind):
            made = self._made(kind, call)
            made.positional = made.positional[1:]
            first.built(made)
            return Known(None)
        elif (found := set_in_another_way(name, call) or of_data_class(name, call)) is not None:
            return found
        else:
            return handed_over(name, call, self._run) or chosen(name, call)
        return None

    def _run_elsewhere(self, node: ast.Call, text: str) -> None:
        """Treat names as perhaps set by code that is not in the program."""
        doubt_names(self._frame)
        self.found.elsewhere.setdefault(SdkPlace(self._cell, node.lineno), text)

    def not_followed(self, call: Call) -> None:
        """See a call of code that is not in the program, with what it is given."""
        place = SdkPlace(self._cell, call.node.lineno)
        for value in (*call.arguments, *call.keywords.values()):
            function = value.function if isinstance(value, SdkUnknown) else value
            if starts_jobs(value, frozenset((CALL,))):
                self.found.unknown_calls.setdefault(place, "")
            elif isinstance(function, Function) and not function.was_called:
                self._handed.append((self._cell, function))
                self._enter(function)
        for made in objects_in((*call.arguments, *call.keywords.values())):
            made.doubt = made.doubt or f"{place}: `{ast.unparse(call.node)[:60]}` may change them"
        if "instance_type" in call.keywords and _OF_AN_ESTIMATOR & call.keywords.keys():
            self.found.makers.setdefault(place, ast.unparse(call.node.func)[:60])

    def method_called(self, owner: followed.Value, name: str, call: Call) -> followed.Value | None:
        own = self._methods.get(owner.kind, {}) if isinstance(owner, SdkInstance) else {}
        if name == CALL and name not in own and self._requested(call, owner):
            return UNKNOWN
        if call.arguments:
            self._replaced(replaced_by(name, call), call.node, call.arguments[0])
        if set_by_name(name, owner, call.arguments, call):
            return Known(None)
        if (chosen_one := taken_out(owner, name, call)) is not None:
            return chosen_one
        if isinstance(owner, SdkClass):
            return self._constructed(owner, call) if name == NEW else self._of_class(owner, name, call)
        if isinstance(owner, SdkSuper):
            return self._above(owner, name, call)
        is_set = isinstance(owner, SubclassInstance) and not owner.kind and name in owner.own
        if isinstance(owner, SubclassInstance) and not is_set and (found := owner.made_by.found(name)):
            return self._entered(owner, *found, call)
        if isinstance(owner, SubclassInstance) and not owner.kind:
            value = owner.attribute(name)
            return call.unknown_result() if isinstance(value, Bound) else applied(value, call)
        if (read := read_from(owner, name)) is not None:
            return lifted(read)
        if not isinstance(owner, SdkInstance):
            if (handed := handed_over(f".{name}", call, self._run)) is not None:
                return handed
            code = code_of_magic(name, [each.constant() for each in call.arguments])
            tree = None if code is None else tree_or_error(SourceText("cell", code))
            if isinstance(tree, ast.Module):
                self._run.module(tree, self._frame)
                return UNKNOWN
            if runs_other_code(name, call):
                self._run_elsewhere(call.node, ast.unparse(call.node)[:60])
            if name in ("fit", "train") and (isinstance(owner, SdkUnknown) or owner is UNKNOWN) and may_start(call):
                self.found.starts.setdefault(SdkPlace(self._cell, call.node.lineno), ast.unparse(call.node.func)[:60])
            if name in ("submit", "map") and isinstance(call.keywords.get("training_job"), SdkInstance):
                self.found.queued(self._run, None, self._made(name, call), is_list=name == "map")
            return call.unknown_result() if isinstance(owner, Bound) else None
        function = own.get(name)
        if function is not None:
            return self._run.entered(function, call, () if is_decorated(function, "staticmethod") else (owner,))
        return lifted(self._method_called(owner, self._made(name, call)))

    def _constructed(self, kind: SdkClass, call: Call) -> followed.Value:
        """Return an object of a class of the program that starts jobs."""
        made = SubclassInstance(kind, SdkPlace(self._cell, call.node.lineno))
        start = kind.found(START)
        self._constructed_classes.add(kind.name)
        if not kind.kind:
            if start is not None:
                self._entered(made, *start, call)
            elif kind.is_data:
                fill_fields(made, call)
                if (later := kind.found("__post_init__")) is not None:
                    self._entered(made, *later, self._bare(is_whole=True))
            return made
        if start is None:
            made.built(self._made(kind.kind, call))
        else:
            made.is_known = False  # unless it calls that of the SDK
            self._entered(made, *start, call)
        self.found.made(self._run, made)
        return made

    def _of_class(self, kind: SdkClass, name: str, call: Call) -> followed.Value | None:
        """Return the result of a method that is called by its class: ``Base.__init__(self)``, or a class method."""
        found = kind.found(name)
        first = call.arguments[0] if call.arguments else None
        instance = first if isinstance(first, SubclassInstance) else SubclassInstance(kind, SdkPlace())
        if found is not None:
            is_of_class = "classmethod" in decorators_of(found[1])
            self._inside.append((instance, found[0]))
            result = self._run.entered(found[1], call, (kind,) if is_of_class else ())
            self._inside.pop()
            return result
        if name == START and kind.kind and instance is first:
            made = self._made(kind.kind, call)
            made.positional = made.positional[1:]
            instance.built(made)
            return Known(None)
        value = kind.of_body(name)
        return None if value is None else applied(value, call)

    def _entered(self, owner: SubclassInstance, kind: SdkClass, function: Function, call: Call) -> followed.Value:
        self._inside.append((owner, kind))
        found = self._run.entered(function, call, bound_to(owner, kind, function))
        self._inside.pop()
        return found

    def _above(self, owner: SdkSuper, name: str, call: Call) -> followed.Value:
        """Return the result of a method of a base."""
        found = owner.above.found(name) if owner.above is not None else None
        if found is not None:
            return self._entered(owner.instance, *found, call)
        if not owner.instance.kind:
            return Known(None) if name == START else call.unknown_result()
        if name == START:
            owner.instance.built(self._made(owner.instance.kind, call))
            return Known(None)
        return lifted(self._method_called(owner.instance, self._made(name, call)))

    def _made(self, name: str, call: Call) -> SdkInstance:
        """Return a call as what it would make."""
        named = {word: lowered(value, word) for word, value in call.keywords.items() if word != "**"}
        made = SdkInstance(name, list(map(lowered, call.arguments)), named, SdkPlace(self._cell, call.node.lineno))
        made.is_known = call.is_whole
        if not call.is_whole:
            made.doubt = "some are passed with `*` or `**`, and not known"
        return made

    def _called(self, call: SdkInstance) -> Value:
        """Return the result of something of a module."""
        name, positional, named = call.kind, call.positional, call.arguments
        made = converted(name, positional, named) if call.is_known else None
        if made is not None:
            return made
        if name in ("copy.copy", "copy.deepcopy") and call.is_known and len(positional) == 1 and not named:
            return copied(positional[0], {}) if name == "copy.deepcopy" else shallow(positional[0])
        known = result_of(name, positional, named, self.surroundings) if call.is_known else None
        if known is not None:
            return known
        if is_of_the_sdk(name):
            if name.endswith(".ModelTrainer.from_recipe"):
                call.kind, call.arguments = name.removesuffix(".from_recipe"), {"training_recipe": True, **named}
            if name.endswith(PARAMETERS):
                given = named.get("name", positional[0] if positional else None)
                return SdkUnknown(given if isinstance(given, str) else "", is_text=name.endswith("String"))
            if is_image_call(call) and (not call.is_known or "model_id" in named):
                return SdkUnknown("training_image", is_text=True)
            if is_job_class(call.kind):
                keep_copies(call)
                self.found.made(self._run, call)
            if name.endswith(REMOTE) and ".remote_function" in name:
                self.found.others[call.place] = name
            self.found.passed_estimator(self._run, call)
            return call
        if not leaves_arguments(name):
            for value in call.members().values():
                forget(value)
        return UNKNOWN

    def _method_called(self, owner: SdkInstance, call: SdkInstance) -> Value:
        """Return the result of a method of an object of the SDK, and record the jobs that it starts."""
        if call.kind in ("fit", "train"):
            self.found.started(self._run, owner, call)
        elif call.kind in ("submit", "map"):
            self.found.queued(self._run, owner, call, is_list=call.kind == "map")
        return result_of_method(owner, call, self.surroundings)

    def _requested(self, call: Call, client: followed.Value | None) -> bool:
        """Record the job that a call of boto3 starts; return whether it is one."""
        made = self._made(f"boto3.{CALL}", call)
        if UNPACKED in call.keywords:
            made.arguments[UNPACKED] = lowered(call.keywords[UNPACKED])
        if len(made.positional) == 1 and not made.arguments:
            made.arguments = requested_by(made.positional.pop())
        if not is_request(made):
            return False
        if made.arguments.keys() == {UNPACKED} and not isinstance(made.arguments[UNPACKED], Entries):
            rest = made.arguments[UNPACKED]
            file = rest.file if isinstance(rest, SdkUnknown) else ""
            self.found.unknown_calls.setdefault(made.place, in_a_file(file) if file else "")
            return True
        made.name = name_of(made.arguments.get("TrainingJobName"))
        region = region_of(client) if isinstance(client, SdkInstance) else None
        if region is not None:
            made.arguments["region"] = region
        self.found.record(self._run, made, made, "")
        return True
