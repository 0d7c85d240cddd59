"""Links that an interrupted run left in its checkpoints, wherever the spec puts these, lead the next run nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.local.local_jobs import LocalJob, script
from support.local.ordinary_user import OrdinaryJob
from support.sampled_cases import left_out

pytestmark = pytest.mark.needs_namespaces

PLANTING = """
import os, sys, time
place, author = os.environ["PLACE"], os.environ["AUTHOR"]
def link(target, *names):
    try:
        os.symlink(target, os.path.join(place, *names))
    except OSError as fault:
        print("NOT PLANTED", names, fault)
if os.path.exists(author):
    sys.exit("the host sees the author")
if not os.path.lexists(os.path.join(place, "planted")):
    for name in os.environ["NAMES"].split():
        link(f"{author}/{name}", name)
    link(f"{author}/directory", "planted")
    print("PLANTED", flush=True)
    while True:
        time.sleep(60)
print("RESUMED", len(os.listdir(place)))
"""
NAMES = (
    *("hosts", "hostname", "resolv.conf", "passwd", "group", "shadow", "gshadow", "environment", "ld.so.preload"),
    *("ml", "smspec", "python", "smspec-sbin", "etc", "usr", "opt", "tmp", "proc", "dev", "sys", "bin", "sbin", "lib"),
    *("model", "output", "input", "code", "checkpoints", "config", "data", "train", "train-manifest", "failure"),
    *("hyperparameters.json", "resourceconfig.json", "inputdataconfig.json", "entrypoint.py", "run", "root", "home"),
    *("local", "share", "null", "zero", "shm", "pts", "ptmx", "stdout", "firmware", "kcore", "keys", "sshd", "metrics"),
)
STRANGER = 54321
RESUMED = (
    *("/etc", "/etc/ssl", "/etc/new", "//etc", "/a/../etc", "/usr/local/new", "/tmp/new", "/root", "/home/new"),
    *("/run", "/srv/a/b", "/opt/new", "/opt/ml/new", "/opt/ml/checkpoints", "/opt/ml/checkpoints/new"),
)
SAMPLE = ("/etc", "/tmp/new", "/opt/ml/checkpoints")
MANAGED = (
    *("/", "//", "/.", "/opt", "/opt/ml", "/opt/ml/input", "/opt/ml/input/data", "/opt/ml/input/data/train"),
    *("/opt/ml/input/config", "/opt/ml/model", "/opt/ml/output", "/opt/ml/output/metrics", "/opt/ml/code", "/a/.."),
)
OF_THE_SYSTEM = (
    *(
        "/usr",
        "/usr/new",
        "/usr/local",
        "/usr/sbin",
        "/bin",
        "/bin/new",
        "/lib64",
        "/mnt/../usr/lib",
        "/opt/ml/../smspec",
    ),
    *("/proc", "/proc/self", "/proc/sys", "/proc/1/root/etc", "/sys", "/sys/kernel", "/dev", "/dev/new", "/dev/shm"),
)


def state(directory: Path) -> dict[str, object]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (directory, *sorted(directory.rglob("*")))
    }


def of_a_stranger(path: Path) -> None:
    os.chown(path, STRANGER, STRANGER)


def writable_by_a_group(path: Path) -> None:
    os.chown(path, -1, STRANGER)
    path.chmod(0o664)


def writable_by_all(path: Path) -> None:
    path.chmod(0o666)


def link_of_a_stranger(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create files of a second user")
@pytest.mark.parametrize("engine", ["process", "namespace"])
@pytest.mark.parametrize("plant", [of_a_stranger, writable_by_a_group, writable_by_all, link_of_a_stranger])
def test_planted_pth_in_a_cached_environment_is_refused(tmp_path, engine, plant):
    """Python would run its line in every later run of the author."""
    job = LocalJob(tmp_path / "job", engine=engine)
    script(job, "print('trained')")
    cache = {"SMSPEC_CACHE_DIR": str(tmp_path / "cache")}
    assert job.run(cache).returncode == 0
    (library,) = (tmp_path / "cache/environments").glob("*/lib/python3*/site-packages")
    planted = library / "planted.pth"
    planted.write_text(f"import os; os.mkdir({str(tmp_path / 'ran')!r})\n")
    planted.chmod(0o644)
    assert job.run(cache).returncode == 0  # the author's own
    (tmp_path / "ran").rmdir() if engine == "process" else None
    plant(planted)
    ended = job.run(cache)
    assert ended.returncode == 3, ended.stderr
    assert str(planted) in ended.stderr
    assert not (tmp_path / "ran").exists()


def planting_job(kind: type[LocalJob], directory: Path, place: str) -> LocalJob:
    job = kind(directory / "job", engine="namespace")
    for name in NAMES:
        job.write(f"author/{name}", "of the author")
    (job.directory / "author/directory").mkdir()
    job.write("data/a", "data")
    facts = f'PLACE: "{os.path.normpath(place)}", AUTHOR: "{job.directory}/author", NAMES: "{" ".join(NAMES)}"'
    channel = 'channels: {train: {s3: "s3://data/train/", local: data/}}'
    checkpoints = f'checkpoints: {{s3: "s3://models/c/", local: "{place}"}}'
    script(job, PLANTING, f"{channel}\n{checkpoints}\nenvironment: {{{facts}}}\n")
    return job


@pytest.mark.parametrize(
    ("kind", "place"),
    [(LocalJob, "/etc"), left_out(LocalJob, "/srv/a/b"), *((OrdinaryJob, place) for place in SAMPLE)]
    + [left_out(OrdinaryJob, place) for place in RESUMED if place not in SAMPLE],
)
def test_links_in_checkpoints_lead_nowhere(kind, place, public_directory):
    """The run is killed, so the next one finds them, whatever smspec itself writes on a host."""
    job = planting_job(kind if os.geteuid() == 0 else LocalJob, public_directory, place)
    process = job.start()
    job.wait_for_log("PLANTED\n")
    process.kill()
    process.communicate()
    before = state(job.directory / "author")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    count = int(job.log().rpartition("RESUMED ")[2])
    assert count > len(NAMES), job.log()
    assert state(job.directory / "author") == before


@pytest.mark.parametrize("place", MANAGED)
def test_checkpoints_are_not_what_sagemaker_manages(tmp_path, place):
    ended = planting_job(LocalJob, tmp_path, place).run()
    assert ended.returncode == 1
    assert "error[SM469]: `checkpoints.local` " in ended.stderr


def test_checkpoints_do_not_hide_the_packages_of_the_job(tmp_path):
    job = planting_job(LocalJob, tmp_path, str(tmp_path))
    ended = job.run({"SMSPEC_CACHE_DIR": str(tmp_path / "cache")})
    assert ended.returncode == 3
    assert f"smspec: `checkpoints.local` is {tmp_path}, where a host of " in ended.stderr


@pytest.mark.parametrize("place", OF_THE_SYSTEM)
def test_checkpoints_are_not_what_a_host_needs(tmp_path, place):
    job = planting_job(LocalJob, tmp_path, place)
    ended = job.run()
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"smspec: `checkpoints.local` is {os.path.normpath(place)}, where a host of ")
    assert not job.run_directory.exists()
