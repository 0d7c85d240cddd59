"""Submitted code under the runtime and the SageMaker Training Toolkit."""

import pytest

from support.runtime.code_archives import archive, link, member, write_archive
from support.runtime.sagemaker_toolkit import WITNESS, Pair, both_show_the_same, needs_toolkit

pytestmark = needs_toolkit

ARCHIVES = {
    "backslashes": {"train.py": b"", "d\\e.py": b"2"},
    "dots and slashes": {"./train.py": b"", "./a//b.py": b"1", "././c.py": b"2"},
    "names in other scripts": {"train.py": b"", "é/日本.txt": b"1", "with blank.txt": b"2"},
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_extract_to_equal_files(tmp_path, name):
    def prepare(container):
        path = container.write("sent.tar.gz", archive(ARCHIVES[name]))
        container.configure({"sagemaker_program": "train.py", "sagemaker_submit_directory": str(path)})

    pair = Pair(tmp_path, prepare)
    theirs, mine = pair.run()
    assert (theirs.status, mine.status) == (0, 0), mine.stderr
    one, two = (files_below(container.base / "code") for container in pair.containers)
    assert one == two
    assert len(one) == len(ARCHIVES[name])


def test_links_extract_alike(tmp_path):
    """The toolkit makes links, the runtime copies; a program reads the same."""

    def prepare(container):
        members = [member("train.py"), member("lib/a.py", content=b"1"), link("lib/b.py", "a.py"), link("own", "lib")]
        path = write_archive(container.write("sent.tar.gz", b""), members)
        container.configure({"sagemaker_program": "train.py", "sagemaker_submit_directory": path})

    pair = Pair(tmp_path, prepare)
    theirs, mine = pair.run()
    assert (theirs.status, mine.status) == (0, 0), mine.stderr
    for name in ("train.py", "lib/a.py", "lib/b.py", "own/a.py", "own/b.py"):
        one, two = (container.base / "code" / name for container in pair.containers)
        assert one.read_bytes() == two.read_bytes() == (b"" if name == "train.py" else b"1")
        assert not two.is_symlink()


@pytest.mark.parametrize("name", ["../train.py", "/abs/x.py", "a/../../b.py", "..\\w.py"])
def test_names_leading_outside_fail_the_job(tmp_path, name):
    """The toolkit moves such a file into the code directory, over one that is there."""

    def prepare(container):
        path = container.write("sent.tar.gz", archive({"train.py": b"print('right')", name: b"print('wrong')"}))
        container.configure({"sagemaker_program": "train.py", "sagemaker_submit_directory": str(path)})

    theirs, mine = Pair(tmp_path, prepare).run()
    assert (theirs.status, mine.status) == (0, 1)
    assert f"`{name}` in the archive lies outside of the code directory" in mine.failure


def test_submit_directory_variable_may_be_the_code_directory(tmp_path):
    """Images of many people set it so."""

    def prepare(container):
        container.write("code/train.py", WITNESS)
        return {"SAGEMAKER_PROGRAM": "train.py", "SAGEMAKER_SUBMIT_DIRECTORY": str(container.base / "code")}

    both_show_the_same(tmp_path, prepare)


@pytest.mark.parametrize("form", ["directory", "archive"])
def test_submit_directory_variable_locates_the_code(tmp_path, form):
    """The toolkit reads it and overwrites it; but for that the program sees what it sees of the hyperparameter."""

    def prepare(container):
        if form == "directory":
            sent = container.write("sent/train.py", WITNESS).parent
        else:
            sent = container.write("sent.tar.gz", archive({"train.py": WITNESS.encode()}))
        return {"SAGEMAKER_PROGRAM": "train.py", "SAGEMAKER_SUBMIT_DIRECTORY": str(sent)}

    theirs, mine = Pair(tmp_path / "variable", prepare).run()
    assert (theirs.status, mine.status) == (1, 0)

    def prepare_hyperparameter(container):
        variables = prepare(container)
        container.configure({"sagemaker_submit_directory": variables["SAGEMAKER_SUBMIT_DIRECTORY"]})
        return variables

    both_show_the_same(tmp_path / "hyperparameter", prepare_hyperparameter)


def files_below(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_submitted_file_must_be_an_archive(tmp_path):
    def prepare(container):
        path = container.write("sent/train.py", WITNESS)
        container.configure({"sagemaker_program": "train.py", "sagemaker_submit_directory": str(path)})

    both_show_the_same(tmp_path, prepare)
