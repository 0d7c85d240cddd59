"""Files of a spec: its bases in order, each one time."""

import os

import pytest

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import MOST_BASES, read_spec_files
from smspec.spec.layers.variables import OptionError


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def write_files(**extends):
        """Write NAME.yaml for each name, extending the files in the list; `__` in a name is a `/`."""
        for name, bases in extends.items():
            path = tmp_path / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"smspec: v1\nextends: [{', '.join(bases)}]\n" if bases else "smspec: v1\n")

    return write_files


def names(path):
    return [document.texts[0].name for document in read_spec_files(path, InputCache()).documents]


def faults(path):
    return read_spec_files(path, InputCache()).faults


def test_bases_precede_the_spec_in_written_order(write):
    write(job=["a.yaml", "b.yaml"], a=[], b=["c.yaml"], c=[])
    assert names("job.yaml") == ["a.yaml", "c.yaml", "b.yaml", "job.yaml"]


def test_base_paths_are_relative_to_their_file(write):
    write(specs__bert__job=["../../org/team.yaml"], org__team=["base.yaml"], org__base=[])
    assert names("specs/bert/job.yaml") == ["org/base.yaml", "org/team.yaml", "specs/bert/job.yaml"]
    assert names("./specs/bert/job.yaml")[-1] == "./specs/bert/job.yaml"


def test_base_reached_twice_is_applied_once_and_first(write):
    """What is more general stays below what is more special: c extends base too, and must not bring it over b."""
    write(job=["b.yaml", "c.yaml"], b=["base.yaml"], c=["./base.yaml"], base=[])
    assert names("job.yaml") == ["base.yaml", "b.yaml", "c.yaml", "job.yaml"]


def test_link_to_a_base_is_that_base(write, tmp_path):
    write(job=["a.yaml", "b.yaml"], a=[])
    os.symlink("a.yaml", tmp_path / "b.yaml")
    assert names("job.yaml") == ["a.yaml", "job.yaml"]


@pytest.mark.parametrize("bases", [{"job": ["job.yaml"]}, {"job": ["a.yaml"], "a": ["b.yaml"], "b": ["job.yaml"]}])
def test_circle_is_reported_where_it_closes(bases, write):
    write(**bases)
    diagnostic, *notes = faults("job.yaml")
    assert {note.code for note in notes} == {"SM147"}
    assert (diagnostic.code, diagnostic.path) == ("SM141", ("extends", 0))
    assert diagnostic.span.file == f"{list(bases)[-1]}.yaml"


def test_limit_of_bases_is_exact(write):
    many = [f"b{i}" for i in range(MOST_BASES + 1)]
    write(**{name: [] for name in many}, job=[f"{name}.yaml" for name in many[:-1]])
    assert len(names("job.yaml")) == MOST_BASES + 1
    write(job=[f"{name}.yaml" for name in many])
    assert [d.code for d in faults("job.yaml")] == ["SM142", "SM147"]


def test_long_chain_of_bases_is_rejected(write):
    write(job=["b0.yaml"], **{f"b{i}": [f"b{i + 1}.yaml"] for i in range(MOST_BASES + 1)})
    assert [d.code for d in faults("job.yaml")] == ["SM142", "SM147"]


def test_all_faults_of_bases_are_reported_together(write, tmp_path):
    write(job=["gone.yaml", "broken.yaml", "late.yaml"], late=["gone.yaml"])
    (tmp_path / "broken.yaml").write_text("smspec: [\n")
    assert [(d.code, d.span.file, d.path) for d in faults("job.yaml")] == [
        ("SM140", "job.yaml", ("extends", 0)),
        ("SM147", "job.yaml", ("extends", 0)),
        ("SM101", "broken.yaml", ()),
        ("SM147", "job.yaml", ("extends", 1)),
        ("SM140", "late.yaml", ("extends", 0)),
        ("SM147", "job.yaml", ("extends", 2)),
    ]
    texts = read_spec_files("job.yaml", InputCache()).texts
    assert {text.name for text in texts} == {"job.yaml", "broken.yaml", "late.yaml"}


@pytest.mark.parametrize("kind", ["directory", "fifo", "long", "loop"])
def test_base_must_be_a_regular_file(kind, write, tmp_path):
    """Opening a FIFO would wait for ever."""
    if kind == "directory":
        (tmp_path / "a.yaml").mkdir()
    elif kind == "fifo":
        os.mkfifo(tmp_path / "a.yaml")
    elif kind == "loop":
        os.symlink("a.yaml", tmp_path / "a.yaml")
    write(job=["a.yaml" if kind != "long" else "a" * 5000])
    assert [d.code for d in faults("job.yaml")] == ["SM140", "SM147"]


def test_missing_spec_exits_2(write):
    for path in ("gone.yaml", "", "a" * 5000):
        with pytest.raises(OptionError):
            read_spec_files(path, InputCache())


def test_known_files_are_not_read_again(write, tmp_path):
    write(job=["a.yaml"], a=[])
    cache = InputCache()
    first = read_spec_files("job.yaml", cache)
    (tmp_path / "a.yaml").unlink()
    (tmp_path / "a.yaml").write_text("not: [yaml")
    assert read_spec_files("job.yaml", cache) == first


def test_huge_file_is_rejected_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("job.yaml", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidInput) as rejected:
        read_spec_files("job.yaml", InputCache())
    assert [d.code for d in rejected.value.diagnostics] == ["SM104"]
