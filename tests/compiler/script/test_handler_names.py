"""A handler is missed only where its module surely has no such name."""

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
def test_name_that_is_nowhere_in_the_module_is_missed(key):
    (finding,) = findings(MODULE, entry_point={key: "train:Trianer"})
    assert (finding.code, finding.severity, finding.path) == ("SM511", "error", ("entry_point", key))
    assert (finding.message, finding.label) == (
        "`train.py` has no function or class `Trianer`",
        "did you mean `Trainer`?",
    )
    assert "`Trainer` or `epoch`" in finding.help


def test_empty_module_has_none():
    (finding,) = findings("", entry_point={"module": "train:main"})
    assert "defines none" in finding.help


@pytest.mark.parametrize("name", ["Trainer", "epoch", "outer"])
def test_name_that_the_module_has_is_not_missed(name):
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
def test_module_that_may_have_names_by_other_means_is_not_judged(text):
    assert codes(text, entry_point={"pipe_loop": "train:loop"}) == []


def test_letters_that_python_takes_for_the_same_are_the_same():
    assert codes("def \ufb01t(job): ...", entry_point={"module": "train:fit"}) == []
