"""Definitions and programs with values of unexpected shapes are imported or rejected, never with an internal error."""

from __future__ import annotations

import ast
import copy
import json
import random
from pathlib import Path

import pytest

from smspec.importer.definitions.loose_reading import read_yaml_loosely
from support.examples import at_most
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parents[2] / "imported"
EACH = at_most(400)
"""Changed forms of each source."""

VALUES: list[object] = [
    *(None, True, 0, -1, 1.5, 10**30, "", " ", "x", "a\nb", "${{ a }}", "$.x", "$$.Execution.Name", "{{x}}"),
    *([], {}, [{}], [[]], {"": ""}, {"a": {}}, ["a", {"b": [1]}], {"Name": "a"}, {"$ref": 1}, {"minValue": [{}]}),
    *({"Ref": "X"}, {"Ref": {}}, {"Fn::Sub": []}, {"Fn::Sub": ["${a}", 3]}, {"Fn::GetAtt": "a"}, {"Fn::If": [1]}),
    *({"Get": "Parameters.x"}, {"Get": []}, {"Std:Join": {"On": "", "Values": 3}}, "States.Format('{}', $.a)"),
    *("\ud800", "\u202e", "arn:aws:iam::1:role/x", ["s3://b/x"]),
]
EXPRESSIONS = [
    *("None", "True", "-1", "''", "[]", "{}", "[{}]", "f()", "f().x", "g['a']", "lambda: 1", "[i for i in f()]"),
    *("{**a}", "[*f()]", "'%s' % f()", "f'{f()}/{x}'", "a if f() else {'b': 1}", "{1: 2}", "('a', 'b')", "b'x'", "..."),
    *("'s3://b/' + f()", "[{'Key': 'a', 'Value': f()}]", "{f(): 1}", "dict(a=f())", "a[1:2]", "1/0", "float('nan')"),
]
STATEMENTS = [
    *(
        "X[f()] = 1",
        "X['Owner'] = 'ml'",
        "X.a = 1",
        "X.update(f())",
        "X += [1]",
        "del X['a']",
        "X.append({})",
        "X = f()",
    ),
    *("X |= {'a': 1}", "X.pop('a')", "X[0]['a'] = 2", "X.setdefault('a', [])['b'] = 1", "for X in f(): pass"),
    *(
        "with f() as X: pass",
        "X, Y = f()",
        "X: dict = {}",
        "X = {**X, 'a': 1}",
        "X = X.format(a=1)",
        "X = X % 3",
        "X = X[0]",
    ),
]
PROGRAM = """
from sagemaker.pytorch import PyTorch
from sagemaker.inputs import TrainingInput
tags = [{"Key": "a", "Value": "b"}]
hyper = {"epochs": 3, "lr": 0.1}
env = {"A": "b"}
metrics = [{"Name": "loss", "Regex": "loss=(.*)"}]
dist = {"torch_distributed": {"enabled": True}}
inputs = {"train": TrainingInput("s3://bucket/x", content_type="text/csv"), "val": "s3://bucket/y"}
est = PyTorch(entry_point="train.py", role="arn:aws:iam::111122223333:role/r", instance_type="ml.m5.large",
    instance_count=1, framework_version="2.1", py_version="py310", tags=tags, hyperparameters=hyper, environment=env,
    metric_definitions=metrics, distribution=dist, subnets=["subnet-1"], security_group_ids=["sg-1"],
    use_spot_instances=True, max_wait=7200, max_run=3600, checkpoint_s3_uri="s3://bucket/c")
est.fit(inputs, wait=False)
"""


def places(value, path=()):
    """Yield the path of every part of a definition but the whole."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from places(inner, (*path, name))


def changed(value, chosen):
    """Return a definition with one or a few parts replaced, wrapped, or removed."""
    value = copy.deepcopy(value)
    for _ in range(chosen.choice((1, 1, 2, 3))):
        *path, last = chosen.choice([*places(value)] or [("",)])
        holder = value
        for step in path:
            holder = holder[step]
        if not isinstance(holder, (dict, list)) or last == "":
            return value
        kind = chosen.randrange(7)
        if kind < 4:
            holder[last] = copy.deepcopy(chosen.choice(VALUES))
        elif kind == 4:
            holder[last] = [holder[last]]
        elif kind == 5:
            holder[last] = {chosen.choice(("a", "Ref", "Get", "Fn::Sub", "Fn::Join", "Std:Join", "Type")): holder[last]}
        else:
            del holder[last]
    return value


class Replacing(ast.NodeTransformer):
    """Replaces the expression with a number."""

    def __init__(self, number, expression):
        self.left = number
        self.expression = expression

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            self.left -= 1
            if self.left == -1:
                return ast.parse(self.expression, mode="eval").body
        return node


def changed_program(text, chosen):
    """Return a program with an expression replaced or a statement added."""
    tree = ast.parse(text)
    if chosen.random() < 0.5:
        tree = Replacing(
            chosen.randrange(sum(isinstance(n, ast.expr) for n in ast.walk(tree))), chosen.choice(EXPRESSIONS)
        ).visit(tree)
    else:
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        place = chosen.randrange(len(tree.body) + 1)
        tree.body[place:place] = ast.parse(chosen.choice(STATEMENTS).replace("X", chosen.choice(names))).body
    return ast.unparse(ast.fix_missing_locations(tree))


def import_all(directory, name, texts):
    for text in texts:
        (directory / name).write_text(text, encoding="utf-8")
        done = smspec("import", name, *(("--job", "1") if name.endswith(".py") else ()), cwd=directory)
        assert done.status in (0, 1, 2), f"{done.err}\n{text}"


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*/source.*")), ids=lambda path: path.parent.name)
def test_changed_definition_is_imported_or_rejected(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    documents = [json.loads(text)] if path.suffix == ".json" else read_yaml_loosely(text)
    chosen = random.Random(path.parent.name)
    texts = ("---\n".join(f"{json.dumps(changed(one, chosen))}\n" for one in documents) for _ in range(EACH))
    import_all(tmp_path, "./source", texts)


PROGRAMS = {path.parent.name: path for path in sorted(SOURCES.glob("sdk/*/source.py"))}


@pytest.mark.parametrize("name", [*PROGRAMS, "an estimator"])
def test_changed_program_is_imported_or_rejected(name, tmp_path):
    text = PROGRAMS[name].read_text(encoding="utf-8") if name in PROGRAMS else PROGRAM
    chosen = random.Random(name)
    import_all(tmp_path, "source.py", (changed_program(text, chosen) for _ in range(EACH)))


@pytest.mark.parametrize("path", ["print", "[*f()]", "{**f()}"])
def test_dependency_without_a_text_is_reported(path, tmp_path):
    text = PROGRAM.replace("PyTorch(", f"PyTorch(source_dir='src', dependencies=[{path}, 'lib'], ", 1)
    (tmp_path / "source.py").write_text(text)
    done = smspec("import", "source.py", cwd=tmp_path)
    assert done.status in (0, 1) and "epochs: 3" in done.out, done.err
    assert "not imported: dependencies: copy these files" in done.err


def test_unknown_tags_are_reported(tmp_path):
    """What the program adds to an unknown value is unknown too."""
    text = PROGRAM.replace('tags = [{"Key": "a", "Value": "b"}]', 'tags = f()\ntags["Owner"] = "ml"')
    (tmp_path / "source.py").write_text(text)
    done = smspec("import", "source.py", cwd=tmp_path)
    assert "not imported: tags: its value is known only when the program runs" in done.err and "epochs: 3" in done.out
