"""Ownership and replacement of the run directory."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
import sys

import pytest

from smspec.local.engines.namespace.cell.written_files import take_back
from smspec.local.running.request import RunFailed
from smspec.local.running.run_directory import claim
from smspec.render.tree import run_marker_json
from smspec.source.real_file import remove_tree
from support.local.ordinary_user import USER

PLACE, HOSTS = "opt/ml/checkpoints", ("algo-1", "algo-2")


def test_new_directory_is_made(tmp_path):
    directory = claim(str(tmp_path / "run" / "job"), "job")
    assert sorted(os.listdir(directory.root)) == ["logs", "run.json"]
    directory.release()


def test_earlier_run_is_replaced(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    first.host("algo-1").make()
    with open(first.path("model.tar.gz"), "w") as model:
        model.write("old")
    first.mark("job", "Completed")
    first.release()
    second = claim(str(tmp_path / "run"), "job")
    assert sorted(os.listdir(second.root)) == ["logs", "run.json"]
    second.release()


def test_foreign_directory_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFailed, match="smspec did not create it") as refused:
        claim(str(tmp_path), "job")
    assert refused.value.exit_status == 1
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_foreign_file_in_a_run_directory_is_not_touched(tmp_path):
    claim(str(tmp_path / "run"), "job").release()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(RunFailed, match=r"contains `notes\.txt`"):
        claim(str(tmp_path / "run"), "job")
    assert sorted(os.listdir(tmp_path / "run")) == ["logs", "notes.txt", "run.json"]


def test_run_killed_at_its_first_step_is_replaced(tmp_path):
    (tmp_path / "run.json").write_text("")
    claim(str(tmp_path), "job").release()


def test_files_planted_by_a_script_are_removed(tmp_path):
    """A link in the place of a result would lead to a file of the author."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run").mkdir()
    directory = claim(str(tmp_path / "run"), "job")
    os.symlink(tmp_path / "mine", directory.path("summary.json"))
    with open(directory.vacant("summary.json"), "w") as file:
        file.write("summary")
    assert (tmp_path / "mine").read_text() == "mine"
    os.rename(tmp_path / "run", tmp_path / "moved")
    os.symlink(tmp_path, tmp_path / "run")
    with pytest.raises(RunFailed, match="the script replaced"):
        directory.vacant("mine")
    directory.release()


@pytest.mark.parametrize("content", ["[]", "{}", '{"kind": "other"}', "\0"])
def test_foreign_run_json_is_not_a_marker(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunFailed, match="smspec did not create it"):
        claim(str(tmp_path), "job")
    assert (tmp_path / "run.json").read_text() == content


def test_run_in_progress_is_not_replaced(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    with pytest.raises(RunFailed, match="a different run is using"):
        claim(str(tmp_path / "run"), "job")
    first.release()
    claim(str(tmp_path / "run"), "job").release()


@pytest.mark.parametrize("kept", ["", "there", "there/run"])
def test_discard_removes_parents_that_the_run_created(tmp_path, kept):
    (tmp_path / kept).mkdir(parents=True, exist_ok=True)
    claim(str(tmp_path / "there" / "run" / "job"), "job").discard()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == {
        "": [],
        "there": ["there"],
        "there/run": ["there", "there/run"],
    }[kept]


def test_discard_keeps_foreign_files(tmp_path):
    directory = claim(str(tmp_path / "run" / "job"), "job")
    (tmp_path / "run" / "other").mkdir()
    directory.discard()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["other"]


def test_discard_removes_the_run_directory(tmp_path):
    directory = claim(str(tmp_path / "run"), "job")
    directory.host("algo-1").make()
    directory.discard()
    directory.release()
    assert os.listdir(tmp_path) == []


def test_replacing_does_not_follow_links(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("")
    directory = claim(str(tmp_path / "run"), "job")
    os.symlink(tmp_path / "precious", directory.path("hosts"))
    directory.release()
    claim(str(tmp_path / "run"), "job").release()
    assert (tmp_path / "precious" / "file").exists()


def test_interrupted_run_is_kept_for_the_same_job(tmp_path):
    def run(status):
        directory = claim(str(tmp_path / "run"), "job", PLACE)
        directory.host("algo-1").make()
        restored = directory.restore("algo-1")
        directory.forget_interrupted()
        with open(os.path.join(directory.host("algo-1").base, "checkpoints", "model"), "a") as file:
            file.write("x")
        directory.mark("job", status)
        directory.release()
        return restored

    assert [run(status) for status in ("Running", "Stopped", "Failed", "Completed", "Failed")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    other = claim(str(tmp_path / "run"), "other")
    assert sorted(os.listdir(other.root)) == ["logs", "run.json"]
    other.release()


def interrupted_run(root):
    """Leave a run whose hosts have checkpoints, and other files."""
    directory = claim(str(root), "job", PLACE)
    for host in HOSTS:
        directory.host(host).make()
        for index in range(3):
            (root / "hosts" / host / "opt/ml/model" / f"{index}").touch()
            (root / "hosts" / host / PLACE / f"{index}").write_text(host)
    directory.mark("job", "Failed")
    directory.release()


def resumed(root, job="job", hosts=HOSTS):
    """Start a run that takes up what is there; return the checkpoints of its hosts."""
    directory = claim(str(root), job, PLACE)
    for host in hosts:
        directory.host(host).make()
        directory.restore(host)
    directory.forget_interrupted()
    directory.release()
    return {host: len(os.listdir(root / "hosts" / host / PLACE)) for host in hosts}


def steps_of(root, job):
    """Start a run, and yield after each of its steps; whether one changed the disk does not matter."""
    directory = claim(str(root), job, PLACE)
    yield directory
    for host in HOSTS:
        directory.host(host).make()
        yield directory
        directory.restore(host)
        yield directory
    directory.forget_interrupted()
    yield directory


def test_run_of_fewer_hosts_keeps_the_checkpoints_of_others(tmp_path):
    interrupted_run(tmp_path / "run")
    assert resumed(tmp_path / "run", hosts=("algo-1",)) == {"algo-1": 3}
    assert resumed(tmp_path / "run") == dict.fromkeys(HOSTS, 3)


@pytest.mark.parametrize("step", range(6))
@pytest.mark.parametrize("end", ["discarded", "killed"])
def test_start_that_fails_loses_no_checkpoint(tmp_path, end, step):
    """However far it has come: no engine, no room, Ctrl-C, or SIGKILL."""
    interrupted_run(tmp_path / "run")
    for _ in range(2):
        directory = next(itertools.islice(steps_of(tmp_path / "run", "job"), step, None))
        if end == "discarded":
            directory.discard()
        directory.release()
    assert resumed(tmp_path / "run") == dict.fromkeys(HOSTS, 3)


def killed_after(root, job, changes):
    """Run the steps in a child that is gone before it changes more names on the disk than that."""
    left = iter(range(changes))

    def count(event, _):
        if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") and next(left, None) is None:
            os._exit(9)

    child = os.fork()
    if not child:
        try:
            sys.addaudithook(count)
            [*steps_of(root, job)][-1].discard()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("job", ["job", "other"])
def test_run_killed_at_any_change_of_its_start(tmp_path, job):
    """Its next run has all checkpoints of the same job, and none of a different one."""
    statuses = []
    for changes in range(0, 120, 5):
        root = tmp_path / f"{changes}"
        interrupted_run(root)
        statuses.append(killed_after(root, job, changes))
        assert resumed(root, job) == dict.fromkeys(HOSTS, 3 if job == "job" else 0), changes
    assert set(statuses) == {0, 9}


@pytest.mark.parametrize("end", ["discarded", "killed"])
@pytest.mark.parametrize("link", ["interrupted", "interrupted/algo-1", "interrupted/algo-1/opt/ml"])
def test_planted_link_is_not_followed_when_a_start_fails(tmp_path, link, end):
    interrupted_run(tmp_path / "run")
    for path in ("mine", f"mine/{PLACE}", "mine/algo-1", "mine/checkpoints"):
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        (tmp_path / path / "precious").touch()
    before = sorted((tmp_path / "mine").rglob("*"))
    directory = next(itertools.islice(steps_of(tmp_path / "run", "job"), 2, None))
    place = tmp_path / "run" / link
    shutil.rmtree(place)
    place.symlink_to(tmp_path / "mine")
    if end == "discarded":
        directory.discard()
    directory.release()
    claim(str(tmp_path / "run"), "job", PLACE).release()
    assert sorted((tmp_path / "mine").rglob("*")) == before


def test_archive_of_a_killed_run_is_replaced(tmp_path):
    for name in ("model", "output"):
        claim(str(tmp_path / "run"), "job").release()
        (tmp_path / f"run/{name}.tar.gz.part").write_bytes(b"half")
    claim(str(tmp_path / "run"), "job").release()
    assert sorted(os.listdir(tmp_path / "run")) == ["logs", "run.json"]


def test_link_instead_of_checkpoints_is_not_followed(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    first.host("algo-1").make()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/precious").touch()
    (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints").rmdir()
    (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints").symlink_to(tmp_path / "elsewhere")
    first.release()
    second = claim(str(tmp_path / "run"), "job", PLACE)
    second.host("algo-1").make()
    assert not second.restore("algo-1")
    second.forget_interrupted()
    second.release()
    assert (tmp_path / "elsewhere/precious").exists()


RIGHTS = (0o755, 0o4755, 0o2755, 0o6711, 0o4644, 0o2604, 0o4111, 0o6000)


def tree_of_programs(root, depth):
    """Nest directories, also closed ones, below a path that is longer than the system takes, with programs in each."""
    here = os.open(root, os.O_RDONLY)
    for level in range(depth):
        for mode in RIGHTS:
            os.close(os.open(f"{mode:o}", os.O_CREAT | os.O_WRONLY, dir_fd=here))
            os.chmod(f"{mode:o}", mode, dir_fd=here)
        os.symlink(root.parent / "outside", "link", dir_fd=here)
        name = "d" * 250
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        if level % 3 == 0:
            os.mkdir("closed", 0o700, dir_fd=below)
            os.close(os.open("closed/4755", os.O_CREAT | os.O_WRONLY, dir_fd=below))
            os.chmod("closed/4755", 0o4755, dir_fd=below)
            os.chmod("closed", 0o011, dir_fd=below)
        os.close(here)
        here = below
    os.close(here)


def with_hosts(root):
    """Claim a directory, with one for hosts, which is closed to other users."""
    directory = claim(str(root), "job")
    directory.make_hosts()
    assert stat.S_IMODE((root / "hosts").stat().st_mode) == 0o700
    return directory


def test_no_program_keeps_rights_that_others_could_use(tmp_path):
    """However deep it is, and in closed directories; what a link leads to keeps its bits."""
    (tmp_path / "outside").write_text("")
    (tmp_path / "outside").chmod(0o6755)
    directory = with_hosts(tmp_path / "run")
    hosts = tmp_path / "run/hosts"
    tree_of_programs(hosts, 20)
    assert directory.open_hosts(take_back) == ""
    assert hosts.stat().st_mode == (tmp_path / "run").stat().st_mode
    # Only root enters a closed directory: show its rights, then open it.
    opening = ["-name", "closed", "-printf", "%m", "-execdir", "chmod", "700", "{}", ";"]
    assert subprocess.check_output(["find", str(hosts), *opening], text=True) == "11" * 7
    assert subprocess.check_output(["find", str(hosts), "-perm", "/6000"], text=True) == ""
    kept = subprocess.check_output(["find", str(hosts), "-type", "f", "-printf", "%f %m\n"], text=True).splitlines()
    assert {int(line.split()[0], 8) & 0o777 == int(line.split()[1], 8) for line in kept} == {True}
    assert len(kept) == 20 * len(RIGHTS) + 7
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o6755
    remove_tree(str(tmp_path / "run"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")
@pytest.mark.parametrize(("kind", "is_complete"), [("program", False), ("directory", False), ("file", True)])
def test_files_of_others_that_may_give_rights_are_reported(public_directory, kind, is_complete):
    """A user can neither change such a program, nor search such a directory for one."""
    place = public_directory / "hosts/x"
    place.parent.mkdir()
    if kind == "directory":
        place.mkdir(0o711)
    else:
        place.touch()
    os.chown(place.parent, USER, USER)
    os.chown(place, 7, 7)
    place.chmod({"program": 0o4755, "directory": 0o711, "file": 0o755}[kind])
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        os._exit(take_back(os.open(place.parent, os.O_RDONLY)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == is_complete


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")
@pytest.mark.parametrize("status", ["Failed", "Completed"])
def test_files_of_others_in_an_earlier_run_are_named(public_directory, status):
    """Those that an image without `chown` leaves."""
    place = public_directory / "hosts/algo-1/opt/ml/model"
    place.mkdir(parents=True)
    (public_directory / "run.json").write_bytes(run_marker_json("job", status, "0" * 32))
    for path in (public_directory, *public_directory.rglob("*")):
        os.chown(path, USER, USER)
    (place / "closed").mkdir(0o700)
    (place / "closed/file").touch()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        with pytest.raises(
            RunFailed, match=r"cannot remove `.*`: it may have files of users of a container"
        ) as refused:
            claim(str(public_directory), "job", PLACE).forget_interrupted()
        os._exit(refused.value.exit_status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_devices_are_removed(tmp_path):
    """Root of a container can make those of disks."""
    directory = with_hosts(tmp_path / "run")
    for kind in (stat.S_IFCHR, stat.S_IFBLK):
        os.mknod(tmp_path / f"run/hosts/{kind}", kind | 0o666, os.makedev(1, 3))
    assert directory.open_hosts(take_back) == ""
    assert os.listdir(tmp_path / "run/hosts") == []


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setcap") is None, reason="only root sets capabilities")
def test_programs_lose_file_capabilities(tmp_path):
    directory = with_hosts(tmp_path / "run")
    program = tmp_path / "run/hosts/program"
    shutil.copy("/bin/true", program)
    subprocess.run(["setcap", "cap_net_raw+ep", program], check=True)
    assert os.listxattr(program) == ["security.capability"]
    assert directory.open_hosts(take_back) == ""
    assert os.listxattr(program) == []
