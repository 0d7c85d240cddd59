"""Locked packages: what `validate` proves with them, and what an image then installs."""

import json
import os
import re
import shutil

import pytest

from support.locked_packages import DIGEST, NUMPY, lock_packages, locked_file
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

BASE = "python:3.12-slim-bookworm"
PIP = "python3 -m pip install"
FILE = "python_requirements: requirements.txt"


def job(directory, image="python_packages: [numpy>=2]", script="import numpy\n", more="", base=BASE, requirements=None):
    spec = BUILT.replace(f'{{base: "{BASE}"}}', f'{{base: "{base}", {image}}}').replace("{epochs: 2}", "{}")
    if requirements is not None:
        (directory / "requirements.txt").write_bytes(requirements)
    return write_job(directory, spec + more, **{"src/train.py": script})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reported(*words):
    return json.loads(smspec("validate", "--format", "json", *words).out)


def found(*words):
    """Return what `validate` reports, by code."""
    return [each["code"] for each in reported(*words)]


def request(*words):
    return json.loads(smspec("render", "--api-json", *words).out)


def tag():
    return request()["AlgorithmSpecification"]["TrainingImage"]


def change_lock(change):
    lock = json.loads(open("smspec.lock").read())
    change(lock)
    with open("smspec.lock", "w") as file:
        file.write(json.dumps(lock, indent=2))


def entry(change):
    return lambda lock: [change(each) for each in lock["environments"].values()]


def test_image_installs_exactly_the_locked_file(here):
    both = {"numpy": "2.1.0", "six": "1.16.0"}
    lock_packages(job(here, f"python_packages: [numpy>=2], {FILE}", requirements=b"six\n"), both)
    assert found() == []
    text = smspec("render", "--dockerfile").out
    assert text.count(PIP) == 1
    assert f"{PIP} --require-hashes --no-deps --requirement /opt/smspec/requirements.txt\n" in text
    assert smspec("build", "-o", "out").status == 0
    assert (here / "out/requirements.txt").read_bytes() == locked_file(both)
    assert "requirements.txt" in json.loads((here / "out/manifest.json").read_text())["files"]
    assert "!requirements.txt\n" in (here / "out/.dockerignore").read_text()
    assert smspec("build", "-o", "out", "--check").status == 0


def test_comment_keeps_the_image_and_a_pin_changes_it(here):
    spec = job(here, FILE, requirements=b"numpy>=2\n")
    lock_packages(spec)
    first = tag()
    (here / "requirements.txt").write_bytes(b"\xef\xbb\xbf# for the model\r\nnumpy>=2  # fast\r\n")
    assert found() == []
    assert tag() == first
    lock_packages(spec, {"numpy": "2.2.0"})
    assert tag() != first
    (here / "smspec.lock").unlink()
    unlocked = tag()
    assert unlocked != first


def test_job_of_the_lock_differs_by_its_packages_alone(here):
    """The lock of the base image counts in both."""
    lock_packages(job(here))
    locked = tag()
    change_lock(lambda lock: lock.pop("environments"))
    assert tag() != locked
    assert found() == ["SM721", "SM523"]


@pytest.mark.parametrize("overlay", ["big", "small"])
def test_overlay_installs_its_own_packages(here, overlay):
    overlays = "overlays:\n" + "".join(
        f"  {name}: {{image: {{python_packages: [{name}==1.0]}}}}\n" for name in ("big", "small")
    )
    lock_packages(job(here, more=overlays))
    lock = json.loads((here / "smspec.lock").read_text())
    assert len(lock["environments"]) == 3
    assert found() == []
    del lock["environments"][lock_packages_key(here, overlay)]
    (here / "smspec.lock").write_text(json.dumps(lock, indent=2))
    (missing,) = reported()
    assert missing["code"] == "SM730" and missing["note"] == f"with the overlay `{overlay}`"


def lock_packages_key(directory, overlay):
    """Return the key of an overlay's environment: a lock for it alone has no other new one."""
    shutil.copytree(directory, directory / "copy")
    spec = (directory / "copy/job.yaml").read_text().replace("numpy>=2", f"{overlay}==1.0").partition("overlays")[0]
    (directory / "copy/job.yaml").write_text(spec)
    (directory / "copy/smspec.lock").unlink()
    path = lock_packages(directory / "copy/job.yaml")
    shutil.rmtree(directory / "copy")
    return os.path.basename(path).partition(".")[0]


@pytest.mark.parametrize(
    ("script", "modules", "missing"),
    [
        ("import numpy.linalg\nimport pandas as pd\n", ["numpy", "pandas"], []),
        ("import numpy\nimport pandas\n", ["numpy"], ["pandas"]),
        ("import sklearn.svm\n", ["numpy", "sklearn"], []),
        ("import google.cloud.storage\n", ["google.api_core"], ["google.cloud"]),
        (
            "from google.cloud import storage\nimport google.auth\n",
            ["google.api_core"],
            ["google.cloud", "google.auth"],
        ),
        ("import google.cloud.storage\n", ["google.api_core", "google.cloud"], []),
        ("import google.cloud.storage\n", ["google"], []),
        ("import google\nfrom google import cloud\n", ["google.api_core"], []),
        ("import googleapiclient\n", ["google.api_core"], ["googleapiclient"]),
        ("try:\n    import apex\nexcept ImportError:\n    apex = None\n", ["numpy"], []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n", ["numpy"], []),
        ("def main():\n    import pandas\nif __name__ == '__main__':\n    main()\n", ["numpy"], ["pandas"]),
        ("def unused():\n    import pandas\n", ["numpy"], []),
        ("import datasets\nimport yaml\n", ["numpy"], ["yaml"]),
        ("import setuptools\nimport smspec_runtime\nimport json\n", ["numpy"], []),
    ],
)
def test_imports_are_proven_by_the_locked_modules(here, script, modules, missing):
    spec = job(here, script=script)
    (here / "src/datasets.py").write_text("")
    lock_packages(spec, modules=modules)
    messages = [each["message"] for each in reported() if each["code"] == "SM521"]
    assert messages == [f"`train.py` imports `{name}`, but the image does not provide it" for name in missing]
    assert len(reported()) == len(missing)


def test_missing_import_names_the_requirement(here):
    lock_packages(job(here, FILE, "import google.cloud.storage\nimport yaml\n", requirements=b"numpy\n"))
    first, second = reported()
    assert first["help"] == "add `google-cloud-storage` to `image.python_requirements`, and run `smspec lock`"
    assert second["help"] == "add `PyYAML` to `image.python_requirements`, and run `smspec lock`"
    assert first["line"] == 7


@pytest.mark.parametrize(
    ("image", "more", "files", "reason"),
    [
        ("run: [pip install pandas]", "", {}, "`image.run` may install packages"),
        ("env: {PATH: /opt/conda/bin}", "", {}, "variables change which Python starts"),
        ("", "environment: {PYTHONHOME: /opt}\n", {}, "variables change which Python starts"),
        ("", "", {"setup.py": ""}, "modules may come from other directories, or be installed at startup"),
    ],
)
def test_imports_stay_unknown_if_packages_come_from_elsewhere(here, image, more, files, reason):
    spec = job(here, f"python_packages: [numpy], {image}", "import pandas\n", more)
    for name, text in files.items():
        (here / "src" / name).write_text(text)
    lock_packages(spec)
    (only,) = reported()
    assert only["code"] == "SM523" and only["note"].startswith(reason) and not only["help"]


def test_package_without_a_wheel_leaves_imports_unknown(here):
    lock_packages(job(here, script="import pandas\n"), unlisted=["seqeval", "deepspeed", "apex", "gym"])
    (only,) = reported()
    assert only["code"] == "SM523"
    assert only["note"].startswith("no wheel shows the modules of `seqeval`, `deepspeed`, `apex` and 1 more")


@pytest.mark.parametrize(("python", "codes"), [("3.11", []), ("3.12", ["SM520"])])
def test_standard_module_is_proven_by_its_version_and_setuptools(here, python, codes):
    base = f"python:{python}-slim-bookworm"
    spec = job(here, script="import distutils.util\n", base=base)
    lock_packages(spec, python=python)
    assert found() == codes
    lock_packages(spec, {**NUMPY, "setuptools": "80.0"}, python=python)
    assert found() == []


def test_edited_packages_are_one_warning(here):
    lock_packages(job(here, FILE, "import pandas\n", requirements=b"numpy>=2\n"), modules=["numpy"])
    assert found() == ["SM521"]
    (here / "requirements.txt").write_text("numpy>=2\npandas\n")
    (only,) = reported()
    assert (only["code"], only["severity"], only["path"]) == ("SM730", "warning", "image.python_requirements")
    assert "--requirement /opt/smspec/requirements.txt\n" in smspec("render", "--dockerfile").out
    assert "--no-deps" not in smspec("render", "--dockerfile").out


@pytest.mark.parametrize(
    "image",
    [
        "python_packages: [numpy], platform: linux/arm64",
        "python_packages: [numpy>=2, six]",
        "python_packages: [numpy>=2], env: {PIP_INDEX_URL: 'https://packages.example.com/simple'}",
    ],
)
def test_changed_key_of_the_image_is_missing_from_the_lock(here, image):
    lock_packages(job(here))
    job(here, image)
    assert "SM730" in found()
    assert not {"SM521", "SM523", "SM721", "SM722"} & set(found())


@pytest.mark.parametrize(
    "image",
    [
        'base: "registry.example.com/team/base:1", python_packages: [numpy==2.1.0]',
        'base: "debian:bookworm-slim", python_packages: [numpy==2.1.0]',
        'base: "python:3.12-slim-bookworm", python_packages: ["pkg @ git+https://example.com/pkg.git"]',
        'base: "python:3.12-slim-bookworm"',
    ],
)
def test_image_that_cannot_be_locked_gets_no_warning(here, image):
    """The lock of a repository has environments of other jobs only."""
    lock_packages(job(here))
    (here / "job.yaml").write_text(re.sub(r"image: .*", f"image: {{{image}}}", (here / "job.yaml").read_text()))
    assert "SM730" not in found()


def test_lock_without_environments_changes_nothing(here):
    job(here, FILE, requirements=b"numpy>=2\n")
    (here / "smspec.lock").write_text(json.dumps({"lock": 1, "images": {BASE: DIGEST}, "requirements": {}}))
    assert found() == ["SM721", "SM722", "SM523"]


def test_unproven_imports_suggest_the_lock(here):
    job(here)
    assert [each["help"] for each in reported()] == ["run `smspec lock`, which lists the modules of each package"]
    job(here, base="registry.example.com/team/base:1")
    assert [each["help"] for each in reported()] == [""]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"2.1.0", b"2.1.1")), "does not match smspec.lock"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\n"), "does not match smspec.lock"),
        (lambda path: path.write_bytes(b"#" * (2 << 20)), "is larger than 1 MiB"),
        (lambda path: (path.unlink(), path.mkdir()), "is not a regular file"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "is not a regular file"),
        (lambda path: (path.unlink(), path.symlink_to("/etc/hostname")), "is outside the repository"),
    ],
)
def test_changed_locked_file_is_an_error(here, break_it, words):
    (here / "smspec.toml").write_text("")
    name = lock_packages(job(here))
    break_it(here / name)
    (only,) = reported()
    assert (only["code"], only["severity"], only["path"]) == ("SM731", "error", "image.python_packages")
    assert only["message"] == f"`{name}` {words}"
    assert smspec("build", "-o", "out").status == 1


def test_locked_file_with_a_hidden_line_is_an_error(here):
    # The lockfile has its digest: who changes one file can change both.
    name = lock_packages(job(here), content="numpy==2.1.0 # via six\u2028evil==1\n".encode())
    assert reported()[0]["message"] == f"`{name}` contains U+2028 LINE SEPARATOR in line 1"


@pytest.mark.parametrize("end", [b"numpy==2 --hash=sha256:%064d\n" % 2, b"torch==2 \\"], ids=["twice", "open"])
def test_locked_file_with_a_strange_line_is_an_error(here, end):
    name = lock_packages(job(here), content=b"numpy==1 --hash=sha256:%064d\n" % 1 + end)
    assert reported()[0]["message"] == f"`{name}` has a line 2 that `smspec lock` does not write"


def test_changed_locked_file_cannot_be_ignored(here):
    name = lock_packages(job(here, more="checks: {ignore: [{rule: SM731, because: it is there}]}\n"))
    (here / name).unlink()
    assert found() == ["SM731", "SM330"]


def test_linked_lock_directory_stays_inside(here, tmp_path_factory):
    """A link inside the repository is followed; one out of it is not, even to the same content."""
    (here / "smspec.toml").write_text("")
    lock_packages(job(here))
    (here / "smspec.lock.d").rename(here / "kept")
    (here / "smspec.lock.d").symlink_to("kept")
    assert found() == []
    outside = tmp_path_factory.mktemp("outside") / "d"
    (here / "kept").rename(outside)
    (here / "smspec.lock.d").unlink()
    (here / "smspec.lock.d").symlink_to(outside)
    assert found() == ["SM731"]


def test_locked_files_are_never_source(here):
    """Neither those that the lock names nor others."""
    spec = job(here)
    lock_packages(spec)
    (here / "smspec.lock.d/unused.txt").write_text("unused\n")
    spec.write_text(spec.read_text().replace("source: src/", "source: ."))
    (here / "train.py").write_text("import numpy\n")
    assert smspec("build", "-o", "out").status == 0
    sources = [path.name for path in (here / "out/source").rglob("*")]
    assert "train.py" in sources and not any("lock" in name or name == "unused.txt" for name in sources)


@pytest.mark.parametrize("base", [f"{BASE}@{DIGEST}", "library/python:3.12-slim-bookworm"])
def test_base_of_any_spelling_is_locked(here, base):
    lock_packages(job(here, base=base))
    assert found() == []
    assert "--no-deps" in smspec("render", "--dockerfile").out


def test_delivery_through_s3_locks_its_client(here):
    spec = job(here, script="import boto3\nimport numpy\n")
    spec.write_text(spec.read_text().replace("source: src/", "source: {dir: src/, delivery: s3}"))
    lock_packages(spec, {"boto3": "1.40.0", **NUMPY})
    assert found() == []
    assert smspec("render", "--dockerfile").out.count(PIP) == 1


def test_faulty_spec_has_no_findings_about_the_lock(here):
    lock_packages(job(here, script="import pandas\n"))
    job(here, script="import pandas\n", more="retries: many\n")
    assert found() == ["SM203"]


@pytest.mark.parametrize(
    ("change", "at"),
    [
        (entry(lambda each: each.pop("python")), '"'),
        (entry(lambda each: each.update(python="2.7")), '"python"'),
        (entry(lambda each: each.update(packages=["numpy"])), '"packages"'),
        (entry(lambda each: each.update(modules="numpy")), '"modules"'),
        (entry(lambda each: each.update(unlisted=[1])), '"unlisted"'),
        (entry(lambda each: each.update(digest="a" * 64)), '"digest"'),
        (lambda lock: lock["environments"].update(dict.fromkeys(lock["environments"], 7)), '"'),
        (lambda lock: lock.update(environments=[]), "["),
    ],
)
@pytest.mark.parametrize("indent", [2, None])
def test_malformed_entry_is_reported_at_its_place(here, change, at, indent):
    lock_packages(job(here))
    change_lock(change)
    text = json.dumps(json.loads((here / "smspec.lock").read_text()), indent=indent)
    (here / "smspec.lock").write_text(text)
    (only,) = reported()
    assert (only["code"], only["file"]) == ("SM723", "smspec.lock")
    if indent:
        assert text.split("\n")[only["line"] - 1][only["column"] - 1 :].startswith(at)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('      "python"', '<<<<<<< HEAD\n      "python"', "<<<<<<<"),
        ('      "python"', '      "python": "3.12",\n      "python"', ""),
        ('"python": "3.12",', '"python": "3.12"', ""),
        ('    "KEY": {', '    "KEY": {},\n    "KEY": {', ""),
        ("\n    }\n  }", "\n    },\n  }", ""),
    ],
)
def test_broken_entry_is_reported_at_its_line(here, old, new, line):
    name = lock_packages(job(here))
    key = os.path.basename(name).partition(".")[0]
    text = (here / "smspec.lock").read_text()
    changed = text.replace(old.replace("KEY", key), new.replace("KEY", key))
    assert changed != text
    (here / "smspec.lock").write_text(changed)
    (only,) = reported()
    assert only["code"] == "SM723"
    assert changed.split("\n")[only["line"] - 1].startswith(line)
    assert only["line"] > 2


def test_fault_after_the_environments_keeps_its_line(here):
    lock_packages(job(here))
    change_lock(lambda lock: lock.update(names={"pytorch-training:2.5.1-gpu in us-west-2": 7}))
    (only,) = reported()
    text = (here / "smspec.lock").read_text().split("\n")
    assert only["code"] == "SM723" and "pytorch-training" in text[only["line"] - 1]


def test_key_in_capitals_is_a_different_key(here):
    """On a file system that ignores case, its file would be the same."""
    lock_packages(job(here))
    change_lock(lambda lock: lock.update(environments={k.upper() + "": v for k, v in lock["environments"].items()}))
    assert found() in (["SM730"], ["SM723"])
