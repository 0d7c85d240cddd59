"""Registries are literal, complete, and without duplicates."""

import argparse
import ast
import importlib
import inspect
import keyword
import re
from pathlib import Path
from typing import get_args

import pytest

from smspec.cli import COMMANDS
from smspec.diagnostics import Rule
from smspec.diagnostics.formats import FORMATS
from smspec.importer.parts import PARTS
from smspec.importer.sources import SOURCES
from smspec.rehearsal.promises import PROMISES
from smspec.render import TARGETS
from smspec.render.dockerfile import _LAUNCHERS
from smspec.review.kinds import KINDS
from smspec.review.kinds.kind import Kind
from smspec.review.request_differences import MEMBERS
from smspec.script.readers import READERS
from smspec.service.policy_rules import RULES as POLICY_RULES
from smspec.service.request_rules import FAMILIES, OF_NO_MEMBER, rules_of
from smspec.service.shapes import pinned_model
from smspec.spec.keys import ROWS
from smspec.spec.model import DISTRIBUTIONS, Read
from smspec.spec.schema import author_schema
from smspec.workspace import source_listing
from smspec_runtime.launchers import LAUNCHERS, launcher
from smspec_runtime.pipe.views import VIEWS
from support.small_job import write_job
from support.smspec_command import smspec

ROOT = Path(__file__).parents[2]
CALLED_BY_NAME = {
    "missing_runtime_for_secrets",
    "packages_unpinned_at_startup",
}
"""They get what no other rule of their family gets."""


def defining(directory, *names):
    """Return the modules of a directory that define all of ``names`` at their top."""
    found = []
    for path in sorted((ROOT / directory).glob("*.py")):
        defined = set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Assign):
                defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if set(names) <= defined:
            found.append(path.stem)
    return found


def is_complete(registry, listed, files):
    """Compare a registry with the files that belong to it, and describe the difference."""
    forgotten, strange = sorted(set(files) - set(listed)), sorted(set(listed) - set(files))
    twice = sorted({name for name in listed if list(listed).count(name) > 1})
    assert not forgotten, f"a line is missing in {registry}: {', '.join(forgotten)}"
    assert not strange, f"a line too many in {registry}, which no file stands for: {', '.join(strange)}"
    assert not twice, f"a line twice in {registry}: {', '.join(twice)}"


def test_incomplete_registry_is_named():
    is_complete("RULES", ["a", "b"], ["b", "a"])
    for listed, files, words in (
        (["a"], ["a", "b"], "a line is missing in RULES: b"),
        (["a", "b"], ["a"], "a line too many in RULES, which no file stands for: b"),
        (["a", "a"], ["a"], "a line twice in RULES: a"),
    ):
        with pytest.raises(AssertionError, match=words):
            is_complete("RULES", listed, files)


def test_every_promise_is_registered():
    directory = ROOT / "compiler/smspec/rehearsal/promises"
    texts = [path.read_text(encoding="utf-8") for path in directory.glob("*.py") if path.name != "__init__.py"]
    defined = {name for text in texts for name in re.findall(r"^def (rehearse_\w+)", text, re.MULTILINE)}
    is_complete("PROMISES, rehearsal/promises/__init__.py", [each.rehearse.__name__ for each in PROMISES], defined)
    assert [f"rehearse_{each.name.replace('-', '_')}" for each in PROMISES] == [e.rehearse.__name__ for e in PROMISES]


def test_every_command_is_registered():
    # A module cannot be called `import`: a keyword gets an underscore behind it, as names in Python do.
    modules = [f"{name}_" if keyword.iskeyword(name) else name for name in COMMANDS]
    assert [module for module, _ in COMMANDS.values()] == [f"smspec.cli.{module}" for module in modules]
    is_complete("COMMANDS, cli/__init__.py", modules, defining("compiler/smspec/cli", "HELP", "add_arguments", "run"))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_summary_help_and_described_arguments(name):
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    assert COMMANDS[name][1]
    assert not COMMANDS[name][1].endswith(".")
    assert module.HELP.strip()
    assert [action.dest for action in parser._actions if not action.help] == []


REQUEST_RULES = "compiler/smspec/service/request_rules"


def families():
    """Yield the modules of rules, and the rules of each by the names of their functions."""
    for path in sorted((ROOT / "compiler/smspec/rules").rglob("*.py")):
        module = importlib.import_module(".".join(path.with_suffix("").relative_to(ROOT / "compiler").parts))
        named = {name: value for name, value in vars(module).items() if isinstance(value, Rule)}
        rules = {name.lower(): value for name, value in named.items() if f"\ndef {name.lower()}(" in path.read_text()}
        if rules:
            yield pytest.param(module, rules, id=module.__name__.removeprefix("smspec.rules."))


@pytest.mark.parametrize(("module", "rules"), list(families()))
def test_every_rule_of_a_family_is_registered_once(module, rules):
    """What is allowed by ignoring a rule should be found by looking for it."""
    tuples = [value for value in vars(module).values() if isinstance(value, tuple) and all(map(callable, value))]
    listed = [check.__name__ for registry in tuples for check in registry if check.__module__ == module.__name__]
    called = {name for name in rules if listed.count(name) != 1}
    assert called <= CALLED_BY_NAME, f"in no tuple of {module.__name__}, or in several"
    for name, rule in rules.items():
        assert set(name.split("_")) & set(rule.name.lower().split()), f"`{rule.name}` is {name}"


RULES_ABOUT_REQUESTS = [
    *(f"smspec.service.request_rules.{family}" for family in FAMILIES),
    *(f"smspec.service.policy_rules.{name}" for name in defining("compiler/smspec/service/policy_rules", "RULES")),
]


def test_every_rule_of_a_policy_is_registered():
    modules = [importlib.import_module(name) for name in RULES_ABOUT_REQUESTS if "policy_rules." in name]
    assert set(POLICY_RULES) == {rule for module in modules for rule in module.RULES}


def test_every_module_of_rules_about_requests_is_registered():
    files = {path.stem for path in (ROOT / REQUEST_RULES).glob("*.py")} - {"__init__"}
    is_complete(f"FAMILIES, {REQUEST_RULES}/__init__.py", list(FAMILIES), files)


def is_rule(function):
    signature = inspect.signature(function)
    return next(iter(signature.parameters)) == "request" and signature.return_annotation == "Iterator[Finding]"


@pytest.mark.parametrize("name", RULES_ABOUT_REQUESTS)
def test_every_rule_about_requests_is_registered(name):
    """A public function that finds something in a request is a rule, and shares a word with the name of its `Rule`."""
    module = importlib.import_module(name)
    functions = [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and name[0] != "_" and is_rule(function)
    ]
    is_complete(f"RULES, {name}", [rule.__name__ for rule in module.RULES], functions)
    for name in functions:
        words = set(vars(module)[name.upper()].name.lower().split())
        assert words & set(name.split("_")), f"`{' '.join(words)}` in {name}"


@pytest.mark.parametrize("family", [family for family, triggers in FAMILIES.items() if triggers])
def test_member_that_triggers_a_rule_triggers_its_module(family):
    """Or the rule finds nothing in a request that has this member alone."""
    for rule, triggers in rules_of(family).items():
        for trigger in triggers:
            assert trigger.startswith(FAMILIES[family]), f"FAMILIES: `{family}` lacks {trigger} of {rule.__name__}"


TRIGGERS = {
    *(trigger for triggers in FAMILIES.values() for trigger in triggers),
    *(trigger for family in FAMILIES for triggers in rules_of(family).values() for trigger in triggers),
}


@pytest.mark.parametrize("trigger", sorted(TRIGGERS - OF_NO_MEMBER))
def test_rule_triggers_are_api_members(trigger):
    """A rule that nothing triggers finds nothing."""
    path, _, value = trigger.partition("=")
    members = {".".join(str(step) for step in found if step != 0): shape for found, shape in pinned_model().walk()}
    assert not value or value in members[path].enum
    assert path in members


def test_every_target_can_be_rendered(tmp_path):
    write_job(tmp_path)
    for name in TARGETS:
        done = smspec("render", f"--{name}", cwd=tmp_path)
        assert done.status == 0, done.err
        assert done.out.strip(), f"--{name} prints nothing"


def test_every_request_form_is_registered():
    directory = ROOT / "compiler/smspec/importer"
    texts = [
        path.read_text(encoding="utf-8")
        for name in ("sources", "definitions")
        for path in (directory / name).glob("*.py")
    ]
    defined = {name for text in texts for name in re.findall(r"^def (detect_\w+)", text, re.MULTILINE)}
    is_complete("SOURCES, importer/sources/__init__.py", [source.detect.__name__ for source in SOURCES], defined)


def test_every_part_of_an_import_is_registered():
    text = (ROOT / "compiler/smspec/importer/parts.py").read_text(encoding="utf-8")
    defined = set(re.findall(r"^def (\w+_keys)", text, re.MULTILINE))
    is_complete("PARTS, importer/parts.py", [keys.__name__ for keys in PARTS.values()], defined)


def test_every_kind_of_change_is_registered():
    directory = "compiler/smspec/review/kinds"
    defined = {
        name: value
        for path in (ROOT / directory).glob("*.py")
        for name, value in vars(importlib.import_module(f"smspec.review.kinds.{path.stem}")).items()
        if isinstance(value, Kind)
    }
    assert {name: kind.name.upper() for name, kind in defined.items()} == {name: name for name in defined}
    is_complete(f"KINDS, {directory}/__init__.py", list(KINDS), [kind.name for kind in defined.values()])
    assert all(KINDS[kind.name] is kind for kind in defined.values())
    assert {name for meaning in MEMBERS.values() for name in meaning.kinds} <= set(KINDS)


def test_every_kind_of_change_is_documented():
    page = (ROOT / "docs/diff.md").read_text(encoding="utf-8")
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.meaning} |" in page, name


def test_every_view_is_registered_and_can_be_written():
    files = {path.stem for path in (ROOT / "runtime/smspec_runtime/pipe/views").glob("*.py")} - {"__init__"}
    is_complete("VIEWS, pipe/views/__init__.py", list(VIEWS), files)
    is_complete("Read, spec/model.py", get_args(Read), files)


def test_every_launcher_is_registered_under_its_name():
    for name in LAUNCHERS:
        function = launcher(name)
        assert (function.__module__, function.__name__) == (f"smspec_runtime.launchers.{name}", name)
    files = {path.stem for path in (ROOT / "runtime/smspec_runtime/launchers").glob("*.py")}
    helpers = {"__init__", "launch", "efa_instances", "mpirun"}
    is_complete("LAUNCHERS, launchers/__init__.py", list(LAUNCHERS), files - helpers)


def test_every_launcher_can_be_set_in_a_spec():
    with_hyperparameters = {"multi_worker_mirrored"}  # only the SageMaker SDK asks for it
    is_complete("_LAUNCHERS, workspace/source_listing.py", list(source_listing._LAUNCHERS), set(DISTRIBUTIONS))
    is_complete("DISTRIBUTIONS, spec/model.py", list(DISTRIBUTIONS), set(LAUNCHERS) - with_hyperparameters)
    is_complete("_LAUNCHERS, render/dockerfile.py", [name for name in _LAUNCHERS if name], set(DISTRIBUTIONS))
    merged = author_schema()["definitions"]["complete"]["properties"]["distribution"]["oneOf"]
    listed = [name for form in merged for name in form.get("required", ())]
    is_complete("definitions.complete.properties.distribution.oneOf, job.v1.schema.json", listed, set(DISTRIBUTIONS))


def test_every_kind_of_change_can_occur():
    computed = {"cosmetic", "job", "other", "resume"}
    of_keys = {row.kind for row in ROWS} | {name for meaning in MEMBERS.values() for name in meaning.kinds}
    never = sorted(set(KINDS) - of_keys - computed)
    assert not never, f"no row of spec/keys and no line of MEMBERS is of this kind: {never}"


def test_every_format_is_documented():
    page = (ROOT / "docs/diagnostics.md").read_text(encoding="utf-8")
    missing = [name for name in FORMATS if f"| `{name}` |" not in page]
    assert not missing, f"add a row to the table of formats in docs/diagnostics.py: {missing}"


def test_every_script_reader_is_registered():
    directory = ROOT / "compiler/smspec/script/readers"
    readers = {path.stem for path in directory.glob("*.py") if "\nHANDLERS" in path.read_text(encoding="utf-8")}
    is_complete("READERS, script/readers/__init__.py", {*READERS.values(), "environment"}, readers)
    for reader in READERS.values():
        names = importlib.import_module(f"smspec.script.readers.{reader}").HANDLERS
        assert {name.partition(".")[0] for name in names} == {p for p, its in READERS.items() if its == reader}
