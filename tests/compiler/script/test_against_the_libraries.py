"""No error is reported for arguments that the real parser accepts: random scripts, read and run."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec.script.grammars import faults_of
from support.examples import at_most
from support.script.read_programs import program, runs, script_environment

pytestmark = pytest.mark.slow

NAMES = ["lr", "lr_decay", "learning_rate", "learning-rate", "epochs", "e", "amp", "no_amp", "mode", "x", "layers"]
WARNINGS = {"truth"}

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
    elif draw(st.integers(0, 2)) == 0:
        lines.append(f"s = p.add_subparsers(dest='cmd', required={draw(st.booleans())})")
        lines.append(f"c = s.add_parser('data', aliases=['d'], add_help={draw(st.booleans())})")
        lines.append(f"c.add_argument('--lr', type=float, required={draw(st.booleans())})")
        lines += draw(st.sampled_from([[], ["c.add_argument('x')"], ["s.required = True"], ["s.add_parser('0.1')"]]))
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
