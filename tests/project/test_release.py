"""A release: its files are reproducible, its metadata works on an index, and the wheel alone follows the README."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from smspec import __version__
from support.git_repository import IDENTITY, commit, git
from support.installed_program import installed
from support.sampled_cases import left_out, only_with_all_programs

ROOT = Path(__file__).parents[2]
BIN = Path(sys.prefix) / "bin"
MINORS = ("3.10", "3.11", "3.12", "3.13")
ADDRESSES = ("github.com/OWNER", "smspec.example")

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="this is not a clone, and a release is made of a commit"
)


def release(root, directory, *tag):
    environment = {**os.environ, **IDENTITY, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    words = ["bash", ".ci/release", directory, *tag]
    return subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The working tree as a commit."""
    root = tmp_path_factory.mktemp("release") / "smspec"
    git(ROOT, "clone", "--quiet", "--shared", str(ROOT), str(root))
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in git(root, "ls-files", "-z").split("\0"):
        if name and not (ROOT / name).exists():
            (root / name).unlink()
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    commit(root)
    return root


@pytest.fixture(scope="module")
def made(clone, tmp_path_factory):
    """The directory with the files of a release; `.ci/release` has built them twice and compared the bytes."""
    directory = tmp_path_factory.mktemp("dist")
    done = release(clone, directory)
    assert done.returncode == 0, done.stderr
    return directory


def wheel_in(directory):
    (wheel,) = directory.glob("*.whl")
    return wheel


def test_requirements_have_the_hash_of_the_wheel(made):
    digest = hashlib.sha256(wheel_in(made).read_bytes()).hexdigest()
    lines = (made / "requirements.txt").read_text().splitlines()
    assert f"smspec=={__version__} --hash=sha256:{digest}" in lines
    pinned = {line.partition("==")[0] for line in lines if "==" in line}
    assert {"pyyaml", "jsonschema", "jinja2", "boto3", "rich", "tomli"} <= pinned
    assert not {"hatchling", "pytest", "google-re2", "uv"} & pinned


def test_metadata_works_on_an_index(made):
    with zipfile.ZipFile(wheel_in(made)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        head, _, text = archive.read(name).decode().partition("\n\n")
    assert re.findall(r"\]\((?!https:|#)[^)]*\)| src=\"(?!https:)[^\"]*\"", text) == []
    leading = re.findall(rf"https://\S+?/v{re.escape(__version__)}/([^)#\"]+)", text)
    assert len(leading) > 9
    assert [path for path in leading if not (ROOT / path).exists()] == []
    assert {"Documentation", "Source", "Issues", "Changelog"} == set(re.findall(r"^Project-URL: (\w+)", head, re.M))
    assert set(re.findall(r"^Provides-Extra: (\w+)", head, re.M)) == {"dev", "lock", "lsp", "rules"}


def test_unready_commit_is_not_released(clone, tmp_path):
    """The checks follow each other: the version, the changelog, then the addresses that stand in for real ones."""
    root = tmp_path / "smspec"
    git(clone, "clone", "--quiet", "--shared", str(clone), str(root))
    assert "the tag is v9.9.9" in release(root, tmp_path / "dist", "v9.9.9").stderr
    assert "CHANGELOG.md has no heading" in release(root, tmp_path / "dist", f"v{__version__}").stderr
    log = root / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## Unreleased", f"## {__version__} (2026-12-01)"))
    commit(root)
    assert "replace these addresses" in release(root, tmp_path / "dist", f"v{__version__}").stderr
    for path in filter(None, git(root, "grep", "-lE", "|".join(ADDRESSES)).splitlines()):
        text = (root / path).read_text()
        (root / path).write_text(text.replace("github.com/OWNER", "github.com/me").replace("smspec.example", "me.dev"))
    commit(root)
    done = release(root, tmp_path / "dist", f"v{__version__}")
    assert done.returncode == 0, done.stderr


def python_of(minor):
    """Return the path of a CPython on this machine: what pyenv has, else what PATH has."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = max(root.glob(f"versions/{minor}.*/bin/python"), default=None)
    return found or shutil.which(f"python{minor}")


@only_with_all_programs
@pytest.mark.parametrize(
    "minor", [minor if minor in (MINORS[0], MINORS[-1]) else left_out(minor) for minor in MINORS], ids=str
)
def test_wheel_alone_follows_the_readme(minor, made, tmp_path):
    python = python_of(minor)
    if python is None:
        pytest.skip(f"no CPython {minor} on this machine")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    pip = [tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    words = [*pip, "--require-hashes", "--find-links", made, "-r", made / "requirements.txt"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode and "smspec" not in done.stderr:
        pytest.skip("pip cannot reach the packages that smspec needs")
    assert done.returncode == 0, done.stderr
    follow_readme(tmp_path / "venv/bin/smspec")


@only_with_all_programs
def test_wheel_runs_without_installation(made):
    uvx = installed("uvx")
    if uvx is None:
        pytest.skip("uv is not installed")
    follow_readme(uvx, "--quiet", "--from", wheel_in(made), "smspec")


def follow_readme(*command):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SMSPEC_", "PYTHON"))}
    done = subprocess.run(
        ["bash", ROOT / ".ci/readme", *command], env=variables, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model.tar.gz" in done.stdout


@only_with_all_programs
def test_action_installs_its_commit_with_hashes(tmp_path):
    (step,) = (
        step
        for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
        if step["name"] == "Install smspec"
    )
    assert "--require-hashes" in step["run"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=ROOT,
        env={**os.environ, "PYTHON": sys.executable, "RUNNER_TEMP": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    program = "import re2, smspec; print(smspec.__version__)"
    printed = subprocess.run([tmp_path / "smspec/bin/python", "-I", "-c", program], capture_output=True, text=True)
    assert printed.stdout == f"{__version__}\n", printed.stderr


def test_addresses_agree():
    """The schema is served at its `$id`, by the site that the metadata names; editors find it there."""
    project = (ROOT / "pyproject.toml").read_text()
    (site,) = re.findall(r'^Documentation = "(https://[^"]+/)"$', project, re.M)
    (source,) = re.findall(r'^Source = "(https://[^"]+)"$', project, re.M)
    assert set(re.findall(r"'\]\((https://[^$]+)/blob/", project)) == {source}
    schema = json.loads((ROOT / "schemas/smspec_schemas/job.v1.schema.json").read_text())
    assert schema["$id"].startswith(site)
    entry = json.loads((ROOT / "docs/site/schemastore.json").read_text())
    assert entry["url"] == schema["$id"]
    assert set(entry) == {"name", "description", "fileMatch", "url"}


def test_hashed_requirements_are_what_metadata_allows():
    """`make hash-locks` has written them: no index of a machine, and hashes everywhere."""
    for name in (
        ".github/action/requirements.txt",
        ".github/action/requirements-build.txt",
        "docs/site/requirements.txt",
    ):
        text = (ROOT / name).read_text()
        pins = re.findall(r"^([a-z0-9.-]+)==\S+(?: ; .*?)? \\\n    --hash=sha256:[0-9a-f]{64}", text, re.M)
        assert pins and len(pins) == len(re.findall("==[0-9]", re.sub(r" ; .*", "", text))), name
        assert "://" not in text, name
