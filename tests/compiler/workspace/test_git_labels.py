"""The labels of an image that lead to its source."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.workspace.git_labels import REVISION, SOURCE, git_labels, without_credentials
from support.container_client import FakeClient
from support.git_repository import commit, git, repository
from support.small_job import write_job
from support.smspec_command import environment, smspec_process


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://github.com/team/jobs.git", "https://github.com/team/jobs.git"),
        ("https://user:t0ken@git.example.com:8443/jobs?x=t0ken#t0ken", "https://git.example.com:8443/jobs"),
        ("https://t0ken@github.com/jobs", "https://github.com/jobs"),
        ("ssh://git:t0ken@github.com/jobs", "ssh://git@github.com/jobs"),
        ("git@github.com:team/jobs.git", "git@github.com:team/jobs.git"),
        ("github.com:team/jobs", "github.com:team/jobs"),
        ("/srv/git/jobs.git", ""),
        ("../jobs", ""),
        ("file:///home/me/jobs", ""),
        ("C:\\jobs", ""),
        ("C:/jobs", ""),
        ("https://[::1]/jobs", ""),
        ("https://host:port/jobs", ""),
        ("ext::sh -c 'echo t0ken'", ""),
        ("", ""),
    ],
)
def test_address_has_no_credentials(url, address):
    assert without_credentials(url) == address


@given(st.sampled_from(["https", "http", "ssh", "git"]), st.text("aZ09:@/?#%&=[]. \n", max_size=12), st.booleans())
def test_password_is_never_part_of_an_address(scheme, noise, has_user):
    url = f"{scheme}://{'user' if has_user else ''}:t0ken{noise}@git.example.com/jobs"
    assert "t0ken" not in without_credentials(url)


def test_changes_of_the_source_mark_the_revision(tmp_path):
    jobs = repository(tmp_path / "jobs")
    for name in ("src/train.py", "other.txt", ".gitignore"):
        (jobs / name).parent.mkdir(exist_ok=True)
        (jobs / name).write_text("build/\n")
    head = commit(jobs)
    files = [str(jobs / "src/train.py"), str(jobs / "src/new.py")]
    assert git_labels(str(jobs / "src"), files) == {REVISION: head}

    for name in ("build/x", "notes.txt"):
        (jobs / name).parent.mkdir(exist_ok=True)
        (jobs / name).write_text("untracked")
    assert git_labels(str(jobs), files)[REVISION] == head
    (jobs / "src/new.py").write_text("x")
    assert git_labels(str(jobs), files)[REVISION] == f"{head}-dirty"
    (jobs / "src/new.py").unlink()
    (jobs / "other.txt").write_text("a base spec, perhaps")
    assert git_labels(str(jobs), files)[REVISION] == f"{head}-dirty"


def test_remote_is_origin_or_the_only_one(tmp_path):
    jobs = repository(tmp_path / "jobs")
    commit(jobs)
    git(jobs, "remote", "add", "upstream", "https://github.com/team/up")
    assert git_labels(str(jobs), [])[SOURCE] == "https://github.com/team/up"
    git(jobs, "remote", "add", "fork", "https://github.com/me/fork")
    assert SOURCE not in git_labels(str(jobs), [])
    git(jobs, "remote", "add", "origin", "https://t0ken@github.com/team/jobs")
    assert git_labels(str(jobs), [])[SOURCE] == "https://github.com/team/jobs"


def test_nothing_is_labeled_without_a_commit(tmp_path):
    assert git_labels(str(tmp_path), []) == {}
    assert git_labels(str(repository(tmp_path / "empty")), []) == {}


@pytest.fixture
def with_module(tmp_path):
    """A repository with the submodule `lib`, and the files of a source in it."""
    theirs = repository(tmp_path / "theirs")
    (theirs / "train.py").write_text("print(1)\n")
    commit(theirs)
    jobs = repository(tmp_path / "jobs")
    git(jobs, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs), "lib")
    commit(jobs)
    return jobs


def revision(jobs, *files):
    """Return what follows the commit in the revision of a source."""
    label = git_labels(str(jobs), [str(jobs / file) for file in files])[REVISION]
    return label.removeprefix(git(jobs, "rev-parse", "HEAD"))


def test_changes_in_a_submodule_mark_the_revision(with_module):
    lib = with_module / "lib"
    assert revision(with_module, "lib/train.py") == ""
    (lib / "notes.txt").write_text("no part of the source")
    assert revision(with_module, "lib/train.py") == ""
    assert revision(with_module, "lib/train.py", "lib/notes.txt") == "-dirty"
    (lib / "train.py").write_text("print(2)\n")
    assert revision(with_module, "lib/train.py") == "-dirty"
    commit(lib)
    assert revision(with_module, "lib/train.py") == "-dirty", "the repository has another commit of it"
    commit(with_module)
    assert revision(with_module, "lib/train.py") == ""


@pytest.mark.parametrize("case", ["only this clone ignores it", "a repository has it"])
def test_file_that_git_does_not_track_marks_the_revision(case, with_module):
    if case == "a repository has it":
        own = repository(with_module / "own")
        (own / "new.py").write_text("x = 1\n")
        commit(own)
        assert revision(with_module, "own/new.py") == "-dirty"
    else:
        (with_module / ".git/info").mkdir(exist_ok=True)
        (with_module / ".git/info/exclude").write_text("new.py\n")
        (with_module / "new.py").write_text("x = 1\n")
        assert revision(with_module, "new.py") == "-dirty"


def test_built_image_has_the_commit_of_its_source(tmp_path):
    """The runtime in it is of smspec, which no commit of the job has."""
    client = FakeClient(tmp_path / "engine")
    jobs = repository(tmp_path / "jobs")
    write_job(jobs)
    head = commit(jobs)
    path = os.pathsep.join([str(client.directory), *os.get_exec_path()])
    for revision in (head, f"{head}-dirty"):
        done = smspec_process("build", "--image", "-o", tmp_path / "out", cwd=jobs, env=environment(PATH=path))
        assert done.status == 0, done.err
        assert f"{REVISION}={revision}" in client.asked("build")[-1]["words"]
        (jobs / "src/new.py").write_text("print(1)\n")
