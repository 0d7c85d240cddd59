"""Frozen values behave like frozen dataclasses of the standard library."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys

import pytest

from smspec.source.frozen import dataclass, field, fields, replace


@dataclass(frozen=True, slots=True)
class Place:
    """Where."""

    line: int
    column: int = 1

    @property
    def shown(self):
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    name: str
    tags: dict = field(default_factory=dict)
    uploads: tuple = field(default=())


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


def test_values_accept_positions_names_and_defaults():
    assert Place(1, 2) == Place(line=1, column=2) != Place(1)
    assert Place(3).shown == "3:1"
    assert (Job(name="a").tags, Job(name="a").uploads) == ({}, ())
    assert Nothing() == Nothing()
    assert Place.__doc__ == "Where."


def test_each_value_gets_a_separate_default():
    one, two = Job(name="a"), Job(name="a")
    one.tags["k"] = "v"
    assert two.tags == {}


@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_wrong_arguments_raise(arguments):
    with pytest.raises(TypeError):
        Place(*arguments)
    with pytest.raises(TypeError):
        Place(1, row=2)
    with pytest.raises(TypeError):
        Job("a")


def test_values_are_immutable():
    place = Place(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.line = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del place.line
    with pytest.raises(AttributeError):
        place.row = 1
    assert not hasattr(place, "__dict__")


def test_equal_values_share_a_key_but_classes_differ():
    assert len({Place(1), Place(1), Place(2)}) == 2
    assert Place(1, 2) != (1, 2)


def test_repr_shows_the_members():
    assert repr(Job(name="a", tags={"k": "v"})) == "Job(name='a', tags={'k': 'v'}, uploads=())"


def test_values_can_be_replaced_copied_and_pickled():
    job = Job(name="a", tags={"k": "v"})
    assert replace(job, name="b") == Job(name="b", tags={"k": "v"})
    assert copy.deepcopy(job) == job
    assert pickle.loads(pickle.dumps(Place(1, 2))) == Place(1, 2)


def test_standard_library_sees_a_dataclass():
    assert dataclasses.is_dataclass(Job)
    assert [f.name for f in dataclasses.fields(Job)] == [f.name for f in fields(Job(name="a"))] == list(Job.__slots__)
    assert dataclasses.fields(Job)[1].default_factory is dict
    assert dataclasses.replace(Place(1), column=5) == Place(1, 5)
    assert dataclasses.asdict(Job(name="a")) == {"name": "a", "tags": {}, "uploads": ()}
    assert str(inspect.signature(Place)) == "(line: int, column: int = 1) -> None"
    assert Place.__match_args__ == ("line", "column")


def test_declaring_a_value_imports_no_dataclasses():
    script = "import sys, smspec.spec.model, smspec.diagnostics; print(*{'dataclasses', 'inspect'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
