"""Each diagnostic points at the line that causes it: examples with one fault at a known position.

Places come from PyYAML's own marks, not from ours.
"""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from smspec.spec.schema import choices, key_path, spec_keys
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/job.yaml"))
FREE = ("hyperparameters", "api", "vars", "overlays", "checks", "environment", "tags")
"""Below these, keys are the author's own, or values are of any type."""
OF_VALUES = {"SM201", "SM203", "SM205", "SM206", "SM208", "SM211", "SM212", "SM213"}
REQUIRED = {"name", "role", "output"}
DURATION, SIZE = re.compile(r"[0-9]+[smhd]"), re.compile(r"[0-9]+[kMG]i?B")


def pairs(node, path=()):
    """Yield (path, key node, value node) for everything in a composed document."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key, value
            yield from pairs(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from pairs(item, (*path, index))


def place(mark):
    return mark.line + 1, mark.column + 1


def spliced(text, node, new):
    return text[: node.start_mark.index] + new + text[node.end_mark.index :]


def faults(text):
    """Yield (where, kind, text with one fault, codes that may be reported, (line, column) of the fault).

    ``where``: the key, and whether it begins its line and how its value is written: as the reader sees it.
    """
    for path, key, value in pairs(yaml.compose(text)):
        starts_line = not text[text.rfind("\n", 0, key.start_mark.index) + 1 : key.start_mark.index].strip()
        style = getattr(value, "style", None) or getattr(value, "flow_style", None)
        where = key_path(path) or path[:1], starts_line, type(value), style
        for fault in faults_of_a_pair(text, path, key, value, starts_line):
            yield where, *fault


def faults_of_a_pair(text, path, key, value, starts_line):
    known = key_path(path)
    is_free = path[0] in FREE and len(path) > 1
    if known and known[-1] != "*" and not is_free:
        yield "misspelled key", spliced(text, key, f"{key.value}q"), {"SM204"}, place(key.start_mark)
    if starts_line and not is_free and key_path((*path[:-1], "*")) is None:
        line = " " * key.start_mark.column + "surprise: 1\n"
        start = key.start_mark.index - key.start_mark.column
        yield "unknown key", text[:start] + line + text[start:], {"SM204"}, place(key.start_mark)
    if not isinstance(value, yaml.ScalarNode):
        return
    if starts_line and key.start_mark.line == value.end_mark.line:
        start = key.start_mark.index - key.start_mark.column
        end = text.index("\n", start) + 1
        twice = text[:end] + text[start:end] + text[end:]
        yield "key twice", twice, {"SM106"}, (key.start_mark.line + 2, key.start_mark.column + 1)
    here = place(value.start_mark)
    if '"' not in text[value.start_mark.index :]:  # else that one would close it
        yield "open quote", spliced(text, value, '"' + value.value), {"SM101"}, here
    yield "tag", spliced(text, value, "!Ref x"), {"SM107"}, here
    yield "unknown variable", spliced(text, value, '"${{ vars.gone }}"'), {"SM125"}, (here[0], here[1] + 1)
    if known and not is_free:
        if "args" not in path and "command" not in path:
            yield "other type", spliced(text, value, "[[1]]"), OF_VALUES, here
        if choices(spec_keys()[known]):
            yield "no choice", spliced(text, value, "none_of_them"), {"SM205"}, here
        if DURATION.fullmatch(value.value):
            yield "duration", spliced(text, value, "5 parsecs"), {"SM211", "SM212"}, here
        if SIZE.fullmatch(value.value):
            yield "size", spliced(text, value, "5 bags"), {"SM212", "SM213"}, here
        if value.value.startswith("s3://"):
            yield "address", spliced(text, value, "s4:/nowhere"), {"SM206"}, here
        if path[-1] == "count":
            yield "number", spliced(text, value, "-1"), {"SM207"}, here
    if len(path) == 1 and path[0] in REQUIRED:
        start = key.start_mark.index
        without = text[:start] + text[text.index("\n", start) + 1 :]
        yield "missing key", without, {"SM202"}, place(yaml.compose(without).start_mark)


def distinct_faults():
    """Return the faults of each spec without those that an earlier one has in the same place."""
    found, known = {}, set()
    for spec in SPECS:
        every = list(faults(spec.read_text(encoding="utf-8")))
        found[spec] = [fault for where, *fault in every if (where, fault[0]) not in known]
        known |= {(where, kind) for where, kind, *_ in every}
    return found


def test_reported_position_is_the_position_of_the_fault(tmp_path):
    tried, wrong = Counter(), []
    for spec, some in distinct_faults().items():
        shutil.rmtree(tmp_path / "src", ignore_errors=True)
        shutil.copytree(spec.parent / "src", tmp_path / "src")
        for kind, text, codes, (line, column) in some:
            (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
            done = smspec("validate", "--format", "json", cwd=tmp_path)
            told = [(record["code"], record["line"], record["column"]) for record in json.loads(done.out)]
            assert done.status == 1, (spec, kind, line)
            tried[kind] += 1
            if not any(code in codes and (at, along) == (line, column) for code, at, along in told):
                wrong.append((spec, kind, (line, column), told))
    assert tried.total() > 250
    assert len(tried) == 13
    assert wrong == []
