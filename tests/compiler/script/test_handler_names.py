"""A handler is reported as missing only if its module certainly lacks the name."""

import pytest

from support.script.read_programs import codes, findings

MODULE = """
from library import loop as outer

class Trainer:
    pass

def epoch(job, epoch, streams):
    pass
"""


@pytest.mark.parametrize("key", ["module", "pipe_loop"])
def test_unknown_name_is_missing(key):
    (finding,) = findings(MODULE, entry_point={key: "train:Trianer"})
    assert (finding.code, finding.severity, finding.path) == ("SM511", "error", ("entry_point", key))
    assert (finding.message, finding.label) == (
        "`train.py` has no function or class `Trianer`",
        "did you mean `Trainer`?",
    )
    assert "`Trainer` or `epoch`" in finding.help


def test_empty_module_has_no_names():
    (finding,) = findings("", entry_point={"module": "train:main"})
    assert "defines none" in finding.help


@pytest.mark.parametrize("name", ["Trainer", "epoch", "outer"])
def test_known_name_is_not_missing(name):
    assert codes(MODULE, entry_point={"pipe_loop": f"train:{name}"}) == []


@pytest.mark.parametrize(
    "text",
    [
        "from library import *",
        "from library import (  *  )",
        "def __getattr__(name):\n    return print",
        "globals().update(loop_of())",
        "import sys\nsetattr(sys.modules[__name__], 'lo' + 'op', print)",
        "exec('lo' 'op = print')",
    ],
)
def test_dynamic_module_is_not_checked(text):
    assert codes(text, entry_point={"pipe_loop": "train:loop"}) == []


def test_equivalent_letters_are_equal():
    assert codes("def \ufb01t(job): ...", entry_point={"module": "train:fit"}) == []
