"""``smspec lock``: the pinned entries, the place of the lockfile, and builds that use it."""

import hashlib
import json
import re

import pytest

from support.servers.registry_server import index, registry
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64
BASE = "python:3.12-slim-bookworm"
OWN_BASE = "team/base:1"
"""It may have packages, so its environments are not resolved."""


def job(directory, base=BASE, image="", more=""):
    spec = BUILT.replace(f'{{base: "{BASE}"}}', f'{{base: "{base}"{image}}}') + more
    return write_job(directory, spec, requirements__txt="numpy==2.1.0\n") and directory


def lock(*words, cwd):
    return smspec("lock", *words, cwd=cwd)


def held(directory):
    return json.loads((directory / "smspec.lock").read_text())


def test_dockerfile_is_built_from_the_locked_digest(tmp_path):
    job(tmp_path)
    loose = smspec("render", "--dockerfile", cwd=tmp_path).out
    assert lock("--digest", f"{BASE}={DIGEST}", cwd=tmp_path).status == 0
    pinned = smspec("render", "--dockerfile", cwd=tmp_path).out
    assert f"FROM --platform=linux/amd64 {BASE}@{DIGEST}\n" in pinned
    assert f'LABEL org.opencontainers.image.base.digest="{DIGEST}"' in pinned
    assert DIGEST not in loose
    assert smspec("validate", cwd=tmp_path).out == ""


def test_different_digest_changes_image_and_job_names(tmp_path):
    job(tmp_path)
    requests = []
    for digest in (DIGEST, OTHER):
        assert lock("--digest", f"{BASE}={digest}", cwd=tmp_path).status == 0
        requests.append(json.loads(smspec("render", "--api-json", cwd=tmp_path).out))
    first, second = (request["AlgorithmSpecification"]["TrainingImage"] for request in requests)
    assert first != second
    assert requests[0]["TrainingJobName"] != requests[1]["TrainingJobName"]


def test_registry_is_asked_once_unless_requested(tmp_path):
    with registry() as server:
        base = f"{server.host}/team/base:1"
        job(tmp_path, base)
        digest = server.add("team/base", "1", index("one"))
        assert lock(cwd=tmp_path).status == 0
        assert held(tmp_path)["images"] == {base: digest}
        before = (tmp_path / "smspec.lock").read_bytes()
        asked = len(server.asked)
        newer = server.add("team/base", "1", index("two"))
        assert "smspec.lock is up to date" in lock(cwd=tmp_path).err
        assert ((tmp_path / "smspec.lock").read_bytes(), len(server.asked)) == (before, asked)
        assert lock("--update", cwd=tmp_path).status == 0
        assert held(tmp_path)["images"] == {base: newer}


def test_every_overlay_is_locked(tmp_path):
    job(tmp_path, more='overlays: {gpu: {image: {base: "nvidia/cuda:12.4.1-runtime-ubuntu22.04"}}}\n')
    gpu = "nvidia/cuda:12.4.1-runtime-ubuntu22.04"
    assert lock("--digest", f"{BASE}={DIGEST}", "--digest", f"{gpu}={OTHER}", cwd=tmp_path).status == 0
    assert held(tmp_path)["images"] == {gpu: OTHER, BASE: DIGEST}


def test_changed_requirements_are_reported(tmp_path):
    job(tmp_path, OWN_BASE, image=", python_requirements: requirements.txt")
    (tmp_path / "requirements.txt").write_text("numpy==2.1.0\n")
    assert lock("--digest", f"{OWN_BASE}={DIGEST}", cwd=tmp_path).status == 0
    expected = f"sha256:{hashlib.sha256(b'numpy==2.1.0' + bytes([10])).hexdigest()}"
    assert held(tmp_path)["requirements"] == {"requirements.txt": expected}
    assert smspec("validate", cwd=tmp_path).out == ""
    (tmp_path / "requirements.txt").write_text("numpy==2.2.0\n")
    assert "SM722" in smspec("validate", cwd=tmp_path).out


def test_repository_has_one_lockfile(tmp_path):
    (tmp_path / ".git").mkdir()
    for name in ("one", "two"):
        (tmp_path / "specs" / name).mkdir(parents=True)
        job(tmp_path / "specs" / name, OWN_BASE, image=", python_requirements: requirements.txt")
        (tmp_path / "specs" / name / "requirements.txt").write_text("numpy==2.1.0\n")
    assert lock("--digest", f"{OWN_BASE}={DIGEST}", cwd=tmp_path / "specs/one").status == 0
    assert "SM722" in smspec("validate", cwd=tmp_path / "specs/two").out
    assert lock("specs/two/job.yaml", cwd=tmp_path).status == 0
    assert [path.parent for path in tmp_path.rglob("smspec.lock")] == [tmp_path]
    assert sorted(held(tmp_path)["requirements"]) == ["specs/one/requirements.txt", "specs/two/requirements.txt"]
    assert smspec("validate", "specs", cwd=tmp_path).status == 0


def repository(tmp_path, names=("one", "two"), base="{name}:1"):
    (tmp_path / ".git").mkdir()
    for name in names:
        (tmp_path / "specs" / name).mkdir(parents=True)
        job(tmp_path / "specs" / name, base.format(name=name))
    return tmp_path


def test_whole_directory_can_be_locked(tmp_path):
    repository(tmp_path)
    (tmp_path / "specs/base.yaml").write_text('smspec: v1\nimage: {base: "none:1"}\n')
    digests = ["--digest", f"one:1={DIGEST}", "--digest", f"two:1={OTHER}"]
    done = lock(".", *digests, cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert done.err == f"one:1 {DIGEST} (new)\ntwo:1 {OTHER} (new)\nwrote smspec.lock\n"
    assert held(tmp_path)["images"] == {"one:1": DIGEST, "two:1": OTHER}
    again = lock("specs/two/job.yaml", "specs", "specs/one/job.yaml", cwd=tmp_path)
    assert again.err.endswith("smspec.lock is up to date\n")


def test_partial_lock_keeps_the_other_entries(tmp_path):
    repository(tmp_path)
    lock("specs", "--digest", f"one:1={DIGEST}", "--digest", f"two:1={DIGEST}", cwd=tmp_path)
    assert lock("specs/two", "--digest", f"two:1={OTHER}", cwd=tmp_path).status == 0
    assert held(tmp_path)["images"] == {"one:1": DIGEST, "two:1": OTHER}


def test_silent_registries_are_reported_before_writing(tmp_path):
    with registry(status=404) as server:
        repository(tmp_path, base=f"{server.host}/{{name}}:1")
        done = lock(".", cwd=tmp_path)
    assert done.status == 3
    for name in ("one", "two"):
        assert f"cannot get the digest of `{server.host}/{name}:1`" in done.err
        assert f"--digest {server.host}/{name}:1=sha256:…" in done.err
    assert not (tmp_path / "smspec.lock").exists()


def test_lock_outside_a_repository_is_in_its_directory(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        job(tmp_path / name)
    assert lock(".", "--digest", f"{BASE}={DIGEST}", cwd=tmp_path).status == 0
    assert [path.parent for path in tmp_path.rglob("smspec.lock")] == [tmp_path]


def test_each_job_uses_its_nearest_lockfile(tmp_path):
    """A digest that is asked for one lock changes nothing that another one pins."""
    with registry() as server:
        base = f"{server.host}/team/base:1"
        repository(tmp_path, base=base)
        old = server.add("team/base", "1", index("one"))
        assert lock("specs/one", cwd=tmp_path).status == 0
        (tmp_path / "smspec.lock").rename(tmp_path / "specs/one/smspec.lock")
        new = server.add("team/base", "1", index("two"))
        assert lock(".", cwd=tmp_path).status == 0
    assert held(tmp_path / "specs/one")["images"] == {base: old}
    assert held(tmp_path)["images"] == {base: new}


def test_faults_of_all_specs_are_reported_together(tmp_path):
    repository(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "specs" / name / "job.yaml").write_text("smspec: v1\nname: [\n")
    done = lock(".", cwd=tmp_path)
    assert done.status == 1
    assert [f"specs/{name}/job.yaml" in done.err for name in ("one", "two")] == [True, True]


@pytest.mark.parametrize(("paths", "is_said"), [((".",), True), (("specs/one/job.yaml",), False)])
def test_one_faulty_spec_prevents_all_locks(paths, is_said, tmp_path):
    repository(tmp_path)
    (tmp_path / "specs/one/job.yaml").write_text("smspec: v1\nname: [\n")
    done = lock(*paths, cwd=tmp_path)
    assert (done.status, "nothing was locked" in done.err) == (1, is_said)
    assert not list(tmp_path.rglob("smspec.lock"))


def test_directory_without_a_job_exits_2(tmp_path):
    done = lock(".", cwd=tmp_path)
    assert (done.status, "no job spec found in `.`" in done.err) == (2, True)


def test_lockfile_contains_the_versions_that_wrote_it(tmp_path):
    from smspec import __version__
    from smspec.service.shapes import pinned_model

    job(tmp_path)
    lock("--digest", f"{BASE}={DIGEST}", cwd=tmp_path)
    assert (held(tmp_path)["smspec"], held(tmp_path)["api_model"]) == (__version__, pinned_model().date)


def test_missing_response_suggests_digest(tmp_path):
    with registry(status=404) as server:
        job(tmp_path, f"{server.host}/team/base:1")
        done = lock(cwd=tmp_path)
    assert (done.status, done.out) == (3, "")
    assert "--digest" in done.err
    assert not (tmp_path / "smspec.lock").exists()


@pytest.mark.parametrize(
    "word", ["x", f"{BASE}", f"{BASE}=abc", f"{BASE}=sha256:abc", f"-x={DIGEST}", f"other:1={DIGEST}"]
)
def test_malformed_digest_option_exits_2(tmp_path, word):
    job(tmp_path)
    assert lock(f"--digest={word}", cwd=tmp_path).status == 2
    assert not (tmp_path / "smspec.lock").exists()


def test_failed_lock_leaves_no_temporary_file(tmp_path):
    job(tmp_path)
    (tmp_path / "smspec.lock").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    done = lock("--digest", f"{BASE}={OTHER}", cwd=tmp_path)
    assert done.status in (1, 3) and "`smspec.lock`" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_lockfile_is_excluded_from_the_source(tmp_path):
    job(tmp_path)
    (tmp_path / "src" / "smspec.lock").write_text("{}")
    assert smspec("build", cwd=tmp_path).status == 0
    assert not (tmp_path / "build/small/source/smspec.lock").exists()


@pytest.mark.parametrize("base", ["a..b/x:1", "user:pw@example.com/x:1", "UPPER", "scratch"])
def test_base_image_that_cannot_be_locked_is_an_error(base, tmp_path):
    """An empty lock with exit status 0 would look like a pinned base."""
    job(tmp_path, base)
    done = lock(cwd=tmp_path)
    assert (done.status, (tmp_path / "smspec.lock").exists()) == (1, False)
    assert base in done.err


def test_requirements_file_that_cannot_be_locked_is_an_error(tmp_path):
    job(tmp_path, image=", python_requirements: gone.txt")
    done = lock("--digest", f"{BASE}={DIGEST}", cwd=tmp_path)
    assert (done.status, (tmp_path / "smspec.lock").exists()) == (1, False)
    assert "SM144" in done.err


def test_digest_of_a_short_name_is_that_of_its_uri(tmp_path):
    job(tmp_path, base="pytorch-training:2.5.1-gpu")
    done = lock("--digest", f"pytorch-training:2.5.1-gpu={DIGEST}", cwd=tmp_path)
    assert done.status == 0, done.err
    (uri,) = held(tmp_path)["names"].values()
    assert uri.endswith("/pytorch-training:2.5.1-gpu-py311-cu124-ubuntu22.04-sagemaker")
    assert held(tmp_path)["images"] == {uri: DIGEST}


def test_digest_of_a_name_of_two_images_is_rejected(tmp_path):
    for name, kind in (("cpu", "ml.m5.large"), ("gpu", "ml.g5.xlarge")):
        job(tmp_path / name, base="pytorch-training:2.5.1")
        spec = tmp_path / name / "job.yaml"
        spec.write_text(re.sub(r"instance_type: [a-z0-9.]+", f"instance_type: {kind}", spec.read_text()))
    done = lock(".", "--digest", f"pytorch-training:2.5.1={DIGEST}", cwd=tmp_path)
    assert done.status == 2
    assert "--digest: `pytorch-training:2.5.1` stands for " in done.err and "use the URI" in done.err
