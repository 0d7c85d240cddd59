"""No error is reported for arguments that the real parser accepts: random scripts, read and run."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec.script.grammars import faults_of
from support.examples import at_most
from support.script.read_programs import program, runs, script_environment

pytestmark = pytest.mark.slow

NAMES = ["lr", "lr_decay", "learning_rate", "learning-rate", "epochs", "e", "amp", "no_amp", "mode", "x", "layers"]
WARNINGS = {"truth", "unread"}

values = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-3, 300),
    st.sampled_from([0.1, 1e-05, -1e-05, -0.5, 1000.0]),
    st.sampled_from(["adam", "sgd", "", "--lr", "-x", "1", "1.5", "true", "a b", "-1", "x=1", "@file"]),
    st.lists(st.integers(0, 3), max_size=2),
)
hyperparameters = st.dictionaries(st.sampled_from([*NAMES, "lrr", "epoch", "learning"]), values, max_size=4)
styles = st.sampled_from(["toolkit", "json", "flags"])
written = st.lists(st.sampled_from(["--lr", "0.1", "data", "--epochs", "3", "-e", "--amp"]), max_size=3)


def agrees(script, given_hyperparameters, style, words):
    """Check that the real library rejects every fault; return whether it ran, and the faults."""
    entry = {"script": "train.py", "args_style": style, **({"args": words} if words else {})}
    given = script_environment(entry_point=entry, hyperparameters=given_hyperparameters)
    read = program(script)
    assert read is not None
    assert read.command_lines, script
    found = [fault for fault in faults_of(read, given) if fault.kind not in WARNINGS]
    said = runs(script, given.words)
    assert said is not None or not found, f"{script}\n{given.words}\n{found}"
    return said, found


@st.composite
def argparse_scripts(draw):
    lines = ["import argparse", f"p = argparse.ArgumentParser(allow_abbrev={draw(st.booleans())})"]
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5))
    if draw(st.booleans()):
        lines.append(f"g = p.add_mutually_exclusive_group(required={draw(st.booleans())})")
    groups = ["p", *(["g"] if lines[-1][0] == "g" else [])]
    for name in names:
        target = draw(st.sampled_from(groups))
        words = [repr(f"-{name}" if len(name) == 1 else f"--{name}")]
        kind = draw(
            st.sampled_from(["flag", "plain", "plain", "plain", "several", "choices", "boolean", "count", "bool"])
        )
        if kind == "flag":
            words.append("action='store_true'")
        elif kind == "boolean" and len(name) > 1:
            words.append("action=argparse.BooleanOptionalAction")
        elif kind == "count":
            words.append("action='count'")
        else:
            words.append(draw(st.sampled_from(["", "type=int", "type=float", "type=str", "type=lambda t: t"])))
            if kind == "several":
                words.append(f"nargs={draw(st.sampled_from(['?', '*', '+', 2, 1]))!r}")
            elif kind == "choices":
                words[-1] = draw(st.sampled_from(["choices=['adam', 'sgd']", "type=int, choices=[1, 2, 3]"]))
            elif kind == "bool":
                words[-1] = "type=bool"
        if target == "p" and draw(st.integers(0, 3)) == 0:
            words.append("required=True")
        lines.append(f"{target}.add_argument({', '.join(filter(None, words))})")
    if draw(st.integers(0, 4)) == 0:
        nargs = draw(st.sampled_from(["None", "'?'", "'*'"]))
        lines.append(f"p.add_argument('data', nargs={nargs})")
    lines.append(draw(st.sampled_from(["p.parse_args()", "p.parse_args()", "p.parse_known_args()"])))
    return "\n".join(lines)


@settings(max_examples=at_most(600), suppress_health_check=list(HealthCheck))
@given(argparse_scripts(), hyperparameters, styles, written)
def test_argparse_agrees(script, given_hyperparameters, style, words):
    said, found = agrees(script, given_hyperparameters, style, words)
    if said is not None and not words and said.startswith("usage"):
        assert found, f"{script}\n{said}"


@st.composite
def dataclass_scripts(draw):
    pytest.importorskip("transformers", reason="transformers is not installed")
    lines = ["import sys", "from dataclasses import dataclass, field", "from enum import Enum"]
    lines += ["from typing import List, Literal, Optional", "from transformers import HfArgumentParser"]
    lines += ["class Mode(Enum):", "    A = 'adam'", "    S = 'sgd'", "@dataclass", "class Arguments:"]
    kinds = {
        "int": ["3", "None"],
        "float": ["0.1", "field(default=0.5, metadata={'help': 'x'})"],
        "str": ["'adam'"],
        "bool": ["True", "False"],
        "Optional[int]": ["None"],
        "Optional[bool]": ["None"],
        "Literal['adam', 'sgd']": ["'sgd'"],
        "Mode": ["Mode.A"],
        "List[int]": ["field(default_factory=list)"],
    }
    fields = []
    for name in draw(st.lists(st.sampled_from([n for n in NAMES if "-" not in n and n != "no_amp"]), unique=True)):
        kind = draw(st.sampled_from([*kinds]))
        default = draw(st.sampled_from(["", *kinds[kind]]))
        fields.append((bool(default), f"    {name}: {kind}" + (f" = {default}" if default else "")))
    lines += [text for _, text in sorted(fields, key=lambda one: one[0])] or ["    pass"]
    lines += ["parser = HfArgumentParser((Arguments,))", "if len(sys.argv) == 2 and sys.argv[1].endswith('.json'):"]
    lines += ["    a, = parser.parse_json_file(sys.argv[1])", "else:", "    a, = parser.parse_args_into_dataclasses()"]
    return "\n".join(lines)


@settings(max_examples=at_most(200), suppress_health_check=list(HealthCheck))
@given(st.data(), hyperparameters, styles)
def test_hf_argument_parser_agrees(data, given_hyperparameters, style):
    agrees(data.draw(dataclass_scripts()), given_hyperparameters, style, [])


@st.composite
def click_scripts(draw):
    pytest.importorskip("click", reason="click is not installed")
    lines = ["import click", draw(st.sampled_from(["@click.command()", "@click.command"]))]
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5))
    for name in names:
        spelled = f"-{name}" if len(name) == 1 else f"--{name}"
        ways = [
            "type=int",
            "type=float",
            "default=3",
            "is_flag=True",
            "type=bool",
            "nargs=2",
            "multiple=True",
            "count=True",
        ]
        ways += ["type=click.Choice(['adam', 'sgd'])", "type=click.IntRange(1, 5)", "type=click.FloatRange(min=0)"]
        ways += [
            "type=str",
            "required=True",
            "type=click.Choice(['ADAM'], case_sensitive=False)",
            "default='a'",
            "type=click.Path()",
        ]
        lines.append(f"@click.option('{spelled}', {draw(st.sampled_from(ways))})")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"@click.argument('data', {draw(st.sampled_from(['required=False', 'nargs=-1', 'nargs=1']))})")
    return "\n".join([*lines, "def main(**values):", "    pass", "if __name__ == '__main__':", "    main()"])


@settings(max_examples=at_most(300), suppress_health_check=list(HealthCheck))
@given(st.data(), hyperparameters, styles, written)
def test_click_agrees(data, given_hyperparameters, style, words):
    agrees(data.draw(click_scripts()), given_hyperparameters, style, words)


@st.composite
def typer_scripts(draw):
    pytest.importorskip("typer", reason="typer is not installed")
    parameters = []
    for name in draw(st.lists(st.sampled_from([n for n in NAMES if "-" not in n]), unique=True, max_size=4)):
        ways = [
            "int = 3",
            "float = 0.1",
            "bool = False",
            "bool = True",
            "str = 'a'",
            "Optional[int] = None",
            "Mode = Mode.A",
        ]
        ways += ["List[int] = []", "int = typer.Option(3, min=1)", "str = typer.Option(...)", "str", "Optional[str]"]
        ways += [f"int = typer.Option(3, '--{name}')", f"Annotated[int, typer.Option('--{name}')] = 3"]
        ways += ["Annotated[int, typer.Argument()]", "Annotated[bool, typer.Option('--amp')] = False", "'int' = 3"]
        parameters.append(f"{name}: {draw(st.sampled_from(ways))}")
    parameters.sort(key=lambda one: "=" in one)
    head = ["import typer", "from enum import Enum", "from typing import Annotated, List, Optional"]
    head += ["class Mode(Enum):", "    A = 'adam'", "    S = 'sgd'"]
    body = [f"def main({', '.join(parameters)}):", "    pass"]
    if draw(st.booleans()):
        return "\n".join([*head, "app = typer.Typer()", "@app.command()", *body, "app()"])
    return "\n".join([*head, *body, "typer.run(main)"])


@settings(max_examples=at_most(300), suppress_health_check=list(HealthCheck))
@given(st.data(), hyperparameters, styles)
def test_typer_agrees(data, given_hyperparameters, style):
    agrees(data.draw(typer_scripts()), given_hyperparameters, style, [])


@st.composite
def absl_scripts(draw):
    pytest.importorskip("absl", reason="absl-py is not installed")
    # What is defined stays for the process, so each run begins with flags of its own.
    lines = ["from absl import app, flags"]
    names = draw(st.lists(st.sampled_from([n for n in NAMES if n != "no_amp"]), unique=True, max_size=5))
    for name in names:
        ways = [f"integer('{name}', 3, 'x')", f"integer('{name}', 3, 'x', lower_bound=1)", f"float('{name}', 0.1, 'x')"]
        ways += [f"string('{name}', None, 'x')", f"boolean('{name}', False, 'x')", f"bool('{name}', True, 'x')"]
        ways += [
            f"enum('{name}', 'adam', ['adam', 'sgd'], 'x')",
            f"list('{name}', [], 'x')",
            f"multi_integer('{name}', [], 'x')",
        ]
        ways += [f"string('{name}', None, 'x', required=True)"]
        lines.append(f"flags.DEFINE_{draw(st.sampled_from(ways))}")
    lines += ["def main(argv):", "    pass", "if __name__ == '__main__':", "    app.run(main)"]
    return "\n".join(lines)


@settings(max_examples=at_most(300), suppress_health_check=list(HealthCheck))
@given(st.data(), hyperparameters, styles)
def test_absl_agrees(data, given_hyperparameters, style):
    script = data.draw(absl_scripts())
    from absl import flags

    for name in [
        name for name in flags.FLAGS if flags.FLAGS.find_module_defining_flag(name) in ("__main__", "train.py")
    ]:
        delattr(flags.FLAGS, name)
    flags.FLAGS.unparse_flags()
    agrees(script, given_hyperparameters, style, [])


@st.composite
def jsonargparse_scripts(draw):
    pytest.importorskip("jsonargparse", reason="jsonargparse is not installed")
    parameters = []
    for name in draw(st.lists(st.sampled_from([n for n in NAMES if "-" not in n]), unique=True, max_size=4)):
        ways = ["int = 3", "float = 0.1", "bool = False", "str = 'a'", "Optional[int] = None", "int", "List[int] = []"]
        parameters.append(f"{name}: {draw(st.sampled_from([*ways, 'Model = Model()', 'str']))}")
    parameters.sort(key=lambda one: "=" in one)
    head = ["import jsonargparse", "from dataclasses import dataclass", "from typing import List, Optional"]
    head += ["@dataclass", "class Model:", "    hidden: int = 3"]
    call = draw(st.sampled_from(["CLI", "auto_cli"]))
    return "\n".join([*head, f"def main({', '.join(parameters)}):", "    pass", f"jsonargparse.{call}(main)"])


@settings(max_examples=at_most(200), suppress_health_check=list(HealthCheck))
@given(st.data(), hyperparameters, styles)
def test_jsonargparse_agrees(data, given_hyperparameters, style):
    agrees(data.draw(jsonargparse_scripts()), given_hyperparameters, style, [])


@pytest.fixture(scope="module")
def fire():
    pytest.importorskip("fire", reason="fire is not installed")


@given(st.data(), hyperparameters, styles)
@settings(max_examples=at_most(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fire_agrees(fire, data, given_hyperparameters, style):
    names = data.draw(st.lists(st.sampled_from(["lr", "learning_rate", "epochs", "amp", "mode"]), unique=True))
    required = data.draw(st.integers(0, len(names)))
    rest = data.draw(st.sampled_from(["", "**more"]))
    parameters = [*names[:required], *(f"{name}=1" for name in names[required:]), *filter(None, [rest])]
    body = data.draw(st.sampled_from(["pass", "return [1]"]))
    script = f"import fire\ndef main({', '.join(parameters)}):\n    {body}\nfire.Fire(main)\n"
    agrees(script, given_hyperparameters, style, ())


@given(st.data(), hyperparameters, styles)
@settings(max_examples=at_most(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fire_agrees_about_classes(fire, data, given_hyperparameters, style):
    names = ["lr", "learning_rate", "epochs", "amp", "mode"]
    start = data.draw(st.lists(st.sampled_from(names), unique=True))
    step = data.draw(st.lists(st.sampled_from(names), unique=True))
    required = data.draw(st.integers(0, len(start)))
    default = data.draw(st.sampled_from(["", "=1"]))
    lines = ["import fire", "class Trainer:"]
    lines += [
        f"    def __init__({', '.join(['self', *start[:required], *(f'{name}=1' for name in start[required:])])}):"
    ]
    lines += [
        "        pass",
        f"    def train({', '.join(['self', *(name + default for name in step)])}):",
        "        pass",
    ]
    given = f"Trainer({', '.join('1' for _ in start)})"
    lines.append(f"fire.Fire({data.draw(st.sampled_from(['Trainer', given]))})")
    agrees("\n".join(lines), given_hyperparameters, style, data.draw(st.sampled_from([[], ["train"], ["other"]])))


@pytest.fixture(scope="module")
def tyro():
    pytest.importorskip("tyro", reason="tyro is not installed")


@given(st.data(), hyperparameters, styles)
@settings(max_examples=at_most(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tyro_agrees(tyro, data, given_hyperparameters, style):
    names = data.draw(st.lists(st.sampled_from(["lr", "learning_rate", "epochs", "amp", "mode"]), unique=True))
    kinds = {"int": "1", "float": "0.5", "str": "'a'", "bool": "True", "Literal['adam', 'sgd']": "'sgd'"}
    kinds |= {"Optional[int]": "None", "List[int]": "()"}
    chosen = [(name, data.draw(st.sampled_from(sorted(kinds)))) for name in names]
    required = data.draw(st.integers(0, len(chosen)))
    if data.draw(st.booleans()):
        fields = [f"    {name}: {kind}\n" for name, kind in chosen[:required]]
        fields += [
            f"    {name}: {kind} = {kinds[kind]}\n" for name, kind in chosen[required:] if not kind.startswith("List")
        ]
        made = "@dataclass\nclass Config:\n" + ("".join(fields) or "    pass\n")
        end = "tyro.cli(Config)\n"
    else:
        parameters = [f"{name}: {kind}" for name, kind in chosen[:required]]
        parameters += [f"{name}: {kind} = {kinds[kind]}" for name, kind in chosen[required:]]
        made, end = f"def main({', '.join(parameters)}):\n    pass\n", "tyro.cli(main)\n"
    head = "import tyro\nfrom dataclasses import dataclass\nfrom typing import List, Literal, Optional\n"
    agrees(head + made + end, given_hyperparameters, style, ())


@given(st.data(), styles)
@settings(max_examples=at_most(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tyro_agrees_about_nested_fields(tyro, data, style):
    kinds = {"int": "1", "float": "0.5", "str": "'a'", "bool": "True"}
    inner = [(name, data.draw(st.sampled_from(sorted(kinds)))) for name in ("hidden_dim", "amp")]
    required = data.draw(st.integers(0, 2))
    fields = [f"    {name}: {kind}\n" for name, kind in inner[:required]]
    fields += [f"    {name}: {kind} = {kinds[kind]}\n" for name, kind in inner[required:]]
    default = data.draw(st.sampled_from(["", " = field(default_factory=lambda: Model(1, 1))"]))
    script = "import tyro\nfrom dataclasses import dataclass, field\n@dataclass\nclass Model:\n" + "".join(fields)
    script += f"@dataclass\nclass Config:\n    model: Model{default}\n    lr: float = 0.1\ntyro.cli(Config)\n"
    names = ["model.hidden_dim", "model.hidden-dim", "model.amp", "model.no-amp", "model.depth", "lr", "hidden_dim"]
    given_hyperparameters = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from([1, 0.5, "x", True])))
    agrees(script, given_hyperparameters, style, ())


@pytest.fixture(scope="module")
def hydra(tmp_path_factory):
    """Hydra writes the directory `outputs` below the current one."""
    pytest.importorskip("hydra", reason="hydra-core is not installed")
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("hydra"))
    yield
    os.chdir(before)


@given(
    hyperparameters, styles, st.lists(st.sampled_from(["+lr=0.1", "+x=1", "hydra.run.dir=other", "train"]), max_size=2)
)
@settings(max_examples=at_most(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hydra_agrees(hydra, given_hyperparameters, style, words):
    script = (
        "import hydra\n@hydra.main(version_base=None, config_path=None)\ndef main(config):\n    pass\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    said, found = agrees(script, given_hyperparameters, style, words)
    assert bool(found) or not any(len(name) > 2 for name in given_hyperparameters) or said is None or style != "toolkit"
