"""Registries are literal: no file that belongs into one was forgotten, and none is in it twice."""

import argparse
import ast
import importlib
import json
import keyword
from pathlib import Path
from typing import get_args

import pytest

from small_job import write_job
from smspec.adoption.parts import GROUPS, PARTS
from smspec.adoption.sources import SOURCES
from smspec.cli import COMMANDS
from smspec.render import TARGETS
from smspec.review.kinds import KINDS
from smspec.review.members import MEMBERS
from smspec.rules import RULES
from smspec.rules.repository import REPOSITORY_RULES
from smspec.script.readers import READERS
from smspec.service.request_rules import RULES as WAKES
from smspec.service.shapes import pinned_model
from smspec.spec.model import Read
from smspec_command import smspec
from smspec_runtime.launchers import LAUNCHERS
from smspec_runtime.pipe.views import VIEWS

ROOT = Path(__file__).parents[2]


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


def test_every_command_is_registered():
    # A module cannot be called `import`: a keyword gets an underscore behind it, as names in Python do.
    modules = [f"{name}_" if keyword.iskeyword(name) else name for name in COMMANDS]
    assert [module for module, _ in COMMANDS.values()] == [f"smspec.cli.{module}" for module in modules]
    assert sorted(modules) == defining("compiler/smspec/cli", "HELP", "add_arguments", "run")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_summary_a_help_and_a_meaning_for_every_argument(name):
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    assert COMMANDS[name][1]
    assert not COMMANDS[name][1].endswith(".")
    assert module.HELP.strip()
    assert [action.dest for action in parser._actions if not action.help] == []


REQUEST_RULES = "compiler/smspec/service/request_rules"


@pytest.mark.parametrize(
    ("directory", "registry"),
    [("compiler/smspec/rules", RULES), ("compiler/smspec/rules/repository", REPOSITORY_RULES)],
    ids=["RULES", "REPOSITORY_RULES"],
)
def test_every_rule_is_registered_once(directory, registry):
    assert sorted(check.__module__.rpartition(".")[2] for check in registry) == defining(directory, "check")
    assert {check.__name__ for check in registry} <= {"check"}


def test_every_rule_about_requests_is_registered():
    areas = [path.parent.name for path in (ROOT / REQUEST_RULES).glob("*/__init__.py")]
    files = {f"{area}.{name}" for area in areas for name in defining(f"{REQUEST_RULES}/{area}", "check")}
    assert set(WAKES) == files


@pytest.mark.parametrize("wake", sorted({wake for wakes in WAKES.values() for wake in wakes}))
def test_what_wakes_a_rule_is_a_member_of_the_api(wake):
    """A rule that nothing wakes finds nothing."""
    path, _, value = wake.partition("=")
    members = {".".join(str(step) for step in found if step != 0): shape for found, shape in pinned_model().walk()}
    assert not value or value in members[path].enum
    assert path in members


@pytest.mark.parametrize("path", sorted((ROOT / "compiler/smspec/rules").rglob("*.py")), ids=lambda path: path.stem)
def test_a_file_of_a_rule_is_named_like_the_rule(path):
    """What is allowed by ignoring it should be found by looking for it."""
    if "check" not in {n.name for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)}:
        return
    module = importlib.import_module(".".join(path.with_suffix("").relative_to(ROOT / "compiler").parts))
    words = set(path.stem.split("_"))
    assert words & set(module.RULE.name.lower().split()), f"`{module.RULE.name}` in {path.name}"


def test_every_target_can_be_rendered(tmp_path):
    write_job(tmp_path)
    for name in TARGETS:
        done = smspec("render", f"--{name}", cwd=tmp_path)
        assert (done.status, bool(done.out)) == (0, True), name


def test_every_form_of_a_request_is_registered_under_its_name():
    assert [source.detect.__module__.rpartition(".")[2] for source in SOURCES] == [source.name for source in SOURCES]
    assert sorted(source.name for source in SOURCES) == defining(
        "compiler/smspec/adoption/sources", "detect", "to_request"
    )


def test_every_part_of_an_imported_spec_is_registered():
    assert sorted(keys.__module__.rpartition(".")[2] for keys in PARTS) == defining(
        "compiler/smspec/adoption/parts", "keys"
    )


def test_an_imported_spec_has_a_place_for_every_key_that_a_request_can_say():
    """The other keys say how an image is built and started, or are for the author alone."""
    ours = {"description", "account", "source", "distribution", "extends", "overlays", "checks"}
    schema = json.loads((ROOT / "schemas/smspec_schemas/job.v1.schema.json").read_text(encoding="utf-8"))
    placed = [key for group in GROUPS for key in group]
    assert sorted(placed) == sorted(set(schema["properties"]) - ours)


def test_every_kind_of_change_is_registered_under_its_name():
    for name, kind in KINDS.items():
        assert kind.changes.__module__ == kind.verdict.__module__ == f"smspec.review.kinds.{name}"
    assert set(KINDS) == set(defining("compiler/smspec/review/kinds", "changes", "verdict"))
    assert {name for meaning in MEMBERS.values() for name in meaning.kinds} <= set(KINDS)


def test_every_kind_of_change_is_documented():
    page = (ROOT / "docs/diff.md").read_text(encoding="utf-8")
    for name, kind in KINDS.items():
        assert f"| `{name}` | {kind.meaning} |" in page, name


def test_every_view_is_registered_and_can_be_written():
    files = {path.stem for path in (ROOT / "runtime/smspec_runtime/pipe/views").glob("*.py")} - {"__init__"}
    assert set(VIEWS) == files == set(get_args(Read))


def test_every_launcher_is_registered_under_its_name():
    for name, launcher in LAUNCHERS.items():
        assert (launcher.__module__, launcher.__name__) == (f"smspec_runtime.launchers.{name}", name)
    files = {path.stem for path in (ROOT / "runtime/smspec_runtime/launchers").glob("*.py")}
    assert set(LAUNCHERS) == files - {"__init__", "launch", "fabric", "mpirun"}


def test_every_reader_of_programs_is_registered():
    directory = ROOT / "compiler/smspec/script/readers"
    readers = {path.stem for path in directory.glob("*.py") if "\nHANDLERS" in path.read_text(encoding="utf-8")}
    assert readers == {*READERS.values(), "environment"}
    for package, reader in READERS.items():
        names = importlib.import_module(f"smspec.script.readers.{reader}").HANDLERS
        assert {name.partition(".")[0] for name in names} == {package}
