"""What a job installs at startup, from requirements.txt in its source: locked, proven, and noted as unpinned."""

from __future__ import annotations

import hashlib
import json

import pytest

from support.environment_jobs import IMAGE, index, job, lock, packages
from support.locked_packages import lock_packages
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

__all__ = ["index", "packages"]

ISOLATED = "network: {subnets: [subnet-0aa], security_groups: [sg-0bb], isolation: true}\n"


def started(directory, listed, *packages, more=""):
    """Write a job whose source has a list of packages."""
    job(directory, *packages)
    (directory / "src/requirements.txt").write_text(listed)
    with open(directory / "job.yaml", "a") as spec:
        spec.write(more)
    return directory


def environments(directory):
    return json.loads((directory / "smspec.lock").read_text()).get("environments", {})


def test_versions_of_the_image_stay_where_they_fit(index, tmp_path):
    directory = started(tmp_path / "job", "ctr-model\n", "ctr-features==1.0")
    done = lock(directory)
    assert done.status == 0, done.err
    found = [one["packages"] for one in environments(directory).values()]
    assert {"ctr-features": "1.0", "org-io": "3.0"} in found
    assert {"ctr-compat": "0.1", "ctr-model": "1.0"} in found
    assert "2 packages for Python 3.9, installed at startup (new)" in done.err
    assert "is replaced" not in done.err
    again = lock(directory)
    assert again.err.endswith("smspec.lock is up to date\n") and "resolving" not in again.err


def test_replaced_package_of_the_image_is_named(index, monkeypatch, tmp_path):
    directory = started(tmp_path / "job", "ctr-features>=1.1\n", "ctr-features==1.0")
    assert "  ctr-features 1.0 of the image is replaced by 1.1\n" in lock(directory).err


def test_new_packages_of_the_image_are_considered_again(index, monkeypatch, tmp_path):
    directory = started(tmp_path / "job", "ctr-features\n", "ctr-features==1.0")
    assert lock(directory).status == 0
    assert {} in [one["packages"] for one in environments(directory).values()]
    job(directory, "org-io")
    assert lock(directory, str(directory)).status == 0
    found = [one["packages"] for one in environments(directory).values()]
    assert sorted(found, key=str) == [{"ctr-features": "1.0"}, {"org-io": "3.0"}]
    assert len(list((directory / "smspec.lock.d").iterdir())) == 2


def test_missing_package_is_reported_at_its_line(index, tmp_path):
    directory = started(tmp_path / "job", "# model\nctr-modle\nctr-features==9\n")
    done = lock(directory)
    assert done.status == 1
    shown = [line.strip() for line in done.err.splitlines() if "error[" in line or "-->" in line]
    assert shown == [
        "error[SM724]: requirements of `source`: the package index has no package `ctr-modle`",
        "--> src/requirements.txt:2:1",
        "error[SM725]: requirements of `source`: the package index has no version `ctr-features==9`",
        "--> src/requirements.txt:3:1",
    ]
    assert not (directory / "smspec.lock").exists()


def test_package_without_a_wheel_is_accepted(index, tmp_path, packages):
    packages.files["ctr_source-1.0.tar.gz"], packages.pythons["ctr_source-1.0.tar.gz"] = b"", ""
    done = lock(started(tmp_path / "job", "ctr-source\n"))
    assert done.status == 0, done.err
    assert "packages that job.yaml installs at startup not locked: no set of wheels fits them" in done.err


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda directory: (directory / "src/setup.py").write_text(""), "`setup.py` may require more"),
        (
            lambda directory: job(directory, image='run: ["pip install x"]'),
            "`image.run` may change what is installed",
        ),
        (
            lambda directory: (directory / "job.yaml").open("a").write(ISOLATED),
            "network isolation prevents their installation",
        ),
        (
            lambda directory: (directory / "src/requirements.txt").write_text("-r more.txt\n"),
            "line 1 of its requirements refers to another file",
        ),
    ],
    ids=["package", "run", "isolation", "another file"],
)
def test_unknown_list_is_not_locked_for_a_reason(index, monkeypatch, tmp_path, change, reason):
    directory = started(tmp_path / "job", "ctr-features\n")
    change(directory)
    done = lock(directory)
    assert done.status == 0, done.err
    assert f"packages that job.yaml installs at startup not locked: {reason}" in done.err
    assert environments(directory) == {}
    assert not index.asked


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec(directory, listed, script, image="python_packages: [numpy>=2]", delivery=""):
    text = BUILT.replace(IMAGE, f'{{base: "python:3.12-slim-bookworm", {image}}}').replace("{epochs: 2}", "{}")
    text = text.replace("source: src/", f"source: {{dir: src/{delivery}}}")
    return write_job(directory, text, **{"src/train.py": script, "src/requirements.txt": listed})


def found(*codes):
    reported = json.loads(smspec("validate", "--format", "json").out)
    return [each for each in reported if each["code"] in codes]


@pytest.mark.parametrize("delivery", ["", ", delivery: channel"])
def test_imports_are_proven_with_the_packages_at_startup(here, delivery):
    path = spec(here, "pandas\n", "import numpy, pandas, sklearn\n", delivery=delivery)
    lock_packages(path)
    (unchecked,) = found("SM521", "SM523")
    assert unchecked["code"] == "SM523" and "run `smspec lock`" in unchecked["help"]
    lock_packages(path, {"pandas": "2.2.0", "pytz": "2025.1"}, at_start=True)
    (missing,) = found("SM521", "SM523")
    assert "imports `sklearn`, but the image does not provide it" in missing["message"]
    (loose,) = found("SM728")
    assert loose["severity"] == "note"
    assert loose["message"] == "`source`: the job installs unpinned packages at startup: `pandas`, `pytz`"


@pytest.mark.parametrize(
    ("listed", "image", "named"),
    [
        ("pandas==2.2.0\npytz==2025.1\n", "python_packages: [numpy>=2]", ""),
        ("pandas>=2\n", "python_packages: [numpy>=2]", "`pandas`"),
        ("# nothing\n", "python_packages: [numpy>=2]", ""),
        ("pandas>=2\n", "python_requirements: src/requirements.txt", ""),
        ("a\nb\nc\nD_d\ne==1\n", "python_packages: [numpy>=2]", "`a`, `b`, `c` and 1 more"),
    ],
)
def test_note_names_what_has_no_version(here, listed, image, named):
    path = spec(here, listed, "print()\n", image)
    assert found("SM728") == []
    lock_packages(path)
    messages = [each["message"].partition("startup: ")[2] for each in found("SM728")]
    assert messages == ([named] if named else [])


@pytest.mark.parametrize("listed", ["", "# nothing yet\n\n", "\ufeff# nothing\r\n"])
def test_list_without_packages_adds_nothing(here, listed):
    lock_packages(spec(here, listed, "import numpy, sklearn\n"))
    (missing,) = found("SM521", "SM523", "SM728")
    assert missing["code"] == "SM521"


def test_same_list_in_the_image_is_locked_once(index, tmp_path):
    directory = job(tmp_path / "job", image="python_requirements: src/requirements.txt")
    (directory / "src/requirements.txt").write_text("ctr-compat\n")
    assert lock(directory).status == 0
    assert len(environments(directory)) == 1


def test_same_list_in_the_image_leaves_nothing_to_install(here):
    path = spec(here, "pandas>=2\n", "import pandas, sklearn\n", "python_requirements: src/requirements.txt")
    lock_packages(path, {"pandas": "2.2.0"})
    (missing,) = found("SM521", "SM523")
    assert missing["code"] == "SM521"


def test_changed_file_at_startup_is_an_error(here):
    path = spec(here, "pandas\n", "import pandas\n")
    lock_packages(path)
    file = here / lock_packages(path, {"pandas": "2.2.0"}, at_start=True)
    file.write_bytes(file.read_bytes() + b"# more\n")
    (changed,) = found("SM731")
    assert changed["path"] in ("source", "source.dir")
    file.unlink()
    (missing,) = found("SM731")
    assert missing["message"].endswith("is missing")


@pytest.mark.parametrize(
    ("listed", "code", "message"),
    [
        ("dependencies:\n  - numpy\n", "SM327", "`requirements.txt` is a Conda environment"),
        ("six\nnumpy=1.26\n", "SM328", "`requirements.txt` line 2 has `=`, which pip rejects"),
        ("numpy^1.26\n", "SM328", "`requirements.txt` line 1 has `^`, which pip rejects"),
        (
            "git+https://example.com/a/b\n",
            "SM328",
            "`requirements.txt` line 1 requires git, which the base image lacks",
        ),
    ],
)
def test_list_that_pip_rejects_is_an_error_before_the_job_starts(here, listed, code, message):
    spec(here, listed, "print()\n", "run: []")
    assert [each["message"] for each in found(code)] == [message]


UNSEEN = {
    "UTF-16": ("\ufeffsix\n".encode("utf-16-le"), "SM327", "is UTF-16, not UTF-8"),
    "UTF-32": ("\ufeffsix\n".encode("utf-32-be"), "SM327", "is UTF-32, not UTF-8"),
    "form feed": (b"six # pinned\x0cevil\n", "SM103", "line 1 contains U+000C"),
    "separator": ("six # pinned\u2028evil\n".encode(), "SM103", "line 1 contains U+2028"),
    "Cyrillic": ("s\u0456x==1.16.0\n".encode(), "SM115", "line 1 contains U+0456"),
    "UTF-7": (b"# coding: utf-7\nsix # +AAo-evil\n", "SM327", "the comment `coding: utf-7`"),
}
LEADS = {
    "itself": (None, "requirements.txt"),
    "short": ("-r more.txt\n", "more.txt"),
    "joined": ("-rmore.txt\n", "more.txt"),
    "long": ("six\n--requirement=more.txt # more\n", "more.txt"),
    "constraints": ("six\n-c c/more.txt\n", "c/more.txt"),
    "more options": ("--pre --index-url=https://user@example.com/?a=b -f https://x -rmore.txt\n", "more.txt"),
    "continued": ("-r mo\\\nre.txt\n", "more.txt"),
    "after a comment": ("# more \\\n-r more.txt\n", "more.txt"),
    "absolute": ("-r /opt/ml/code/more.txt\n", "more.txt"),
    "parent": ("-r .././code/more.txt\n", "more.txt"),
    "second": ("-r c/one.txt\n", "c/more.txt"),
    "circle": ("-r requirements.txt\n-r more.txt\n", "more.txt"),
}


@pytest.mark.parametrize("content", UNSEEN)
@pytest.mark.parametrize("lead", LEADS)
def test_unseen_part_of_what_pip_reads_at_startup_is_an_error(here, lead, content):
    listed, name = LEADS[lead]
    text, code, words = UNSEEN[content]
    spec(here, listed or "", "print()\n", "run: []")
    (here / "src/c").mkdir()
    (here / "src/c/one.txt").write_text("-c more.txt\n-r one.txt\n")
    (here / "src" / name).write_bytes(text)
    (message,) = (each["message"] for each in found(code))
    assert f"`{name}`" in message and words in message


NOT_FOLLOWED = [
    "--requirem more.txt",
    "--const c/more.txt",
    "--prefer -r more.txt",
    "--require-h -r more.txt",
    "-r=more.txt",
    "-r 'more.txt'",
    '-r "more.txt "',
    "-r more\\.txt",
    "\\-r more\\.txt",
    "-r ${PWD}/more.txt",
    "-r ${HOME}/../opt/ml/code/more.txt",
    "-r more${SM_NUM_GPUS}txt",
    "-r ${TOKEN}",
    "${SM_LINE}",
    "${WORDS}",
    "${TOKEN}more.txt",
    "--index-url ${WORDS}",
    "--index-url ${SM_HP_X}",
    "--index-url ${QUOTES}/' -r more.txt",
    "--index-url -r more.txt",
    "--index-url",
    "-r file:///opt/ml/code/more.txt?x",
    "-r file:///opt/ml/code/more%2Etxt",
    "-r https://example.com/more.txt",
    "-r c/../more.txt",
    "-r a/../../code/./more.txt",
    "-r //opt/ml/code/more.txt",
    "-r /proc/self/cwd/more.txt",
    "-r /opt/ml/input/data/train/more.txt",
    "-r -- more.txt",
    "-r\u00a0more.txt",
    "--pre=x -r more.txt",
    "-vr more.txt",
    "--no-such-option",
    "-",
    "-r file://[",
    "-r",
    "-r 'more.txt",
]


@pytest.mark.parametrize("line", NOT_FOLLOWED, ids=ascii)
def test_line_that_may_lead_to_other_packages_is_named(here, line):
    """pip has more ways to write an option than smspec follows; none of them is silent."""
    path = spec(here, f"six==1\n{line}\n", "print()\n", "run: []")
    (here / "src/c").mkdir()
    (here / "src/more.txt").write_bytes(UNSEEN["form feed"][0])
    with open(path, "a") as job:
        job.write('environment: {WORDS: a -r more.txt, TOKEN: t0ken, QUOTES: "\'", SM_HP_X: x, SM_LINE: six}\n')
    (note,) = found("SM810")
    assert "line 2 of `requirements.txt` may install packages" in note["message"]
    assert (note["severity"], smspec("validate").status) == ("note", 0)


@pytest.mark.parametrize("line", ["-r ../a", "-r gone.txt", "-r ../../c", "-r c", "../p", "-e ../p", "a/../../p"])
def test_list_that_the_source_lacks_is_named(here, line):
    name = line.split()[-1]
    spec(here, f"six==1\n{line}\n./p\n-e a/../p\n../input/data/a/p\n../code/p\n", "print()\n", "run: []")
    (warning,) = found("SM554")
    assert f"`source` has no `{name}`, which line 2 of `requirements.txt` names" in warning["message"]
    assert found("SM810") == []


@pytest.mark.parametrize(
    "listed",
    [
        "# -r more.txt\nsix # -r more.txt\n",
        "-r good.txt\n",
        "--pre\n--no-index --prefer-binary\n--only-binary :all:\n--trusted-host=example.com\n-e ./c\n-ihttps://x/?a=b\n",
        "--index-url https://user:${TOKEN}@example.com/simple --extra-index-url \\\n  https://${HIDDEN}@example.com/x\n",
        "six==1.16.0 \\\n    --hash=sha256:0\nsix @ https://example.com/six.whl ; python_version > '3.8'\n",
    ],
    ids=["comments", "honest", "options", "variables", "requirements"],
)
def test_file_that_pip_does_not_read_at_startup_is_not_checked(here, listed):
    path = spec(here, listed, "print()\n", "run: []")
    with open(path, "a") as job:
        job.write("environment: {TOKEN: t0ken}\nsecrets: {HIDDEN: org/token}\n")
    (here / "more.txt").write_bytes(UNSEEN["form feed"][0])
    (here / "src/more.txt").write_bytes(UNSEEN["form feed"][0])
    (here / "src/good.txt").write_text("# закреплено 固定 👨\u200d👩\nsix==1.16.0\n\x0c\nnumpy==2.1.0\n")
    assert found("SM103", "SM115", "SM327", "SM810") == []


@pytest.mark.parametrize("key", ["environment", "image.env"])
@pytest.mark.parametrize(
    "setting",
    [
        *("PIP_REQUIREMENT: x", "PIP_CONSTRAINT: x", "pip_constraint: x", "PIP_CONFIG_FILE: x", "PIP_X: x"),
        *(
            "HOME: /opt/ml/code",
            "HOME: .",
            "XDG_CONFIG_HOME: //opt/ml/input/data/a",
            "XDG_CONFIG_DIRS: /etc:/proc/self/cwd",
        ),
        "HOME: /tmp/../opt/ml/code",
    ],
)
def test_setting_of_pip_that_may_add_packages_is_named(here, setting, key):
    path = spec(here, "six\n", "print()\n", "run: []")
    values = (
        f"{{{setting}, PIP_INDEX_URL: https://x, PIP_NO_CACHE_DIR: '1', PIPELINE: a, XDG_CACHE_HOME: /opt/ml/code}}"
    )
    with open(path, "a") as job:
        job.write(f"{key}: {values}\n" if key == "environment" else "")
    if key == "image.env":
        text = (here / path).read_text()
        (here / path).write_text(text.replace("run: []", f"run: [], env: {values}"))
    (note,) = found("SM810")
    assert f"`{key}.{setting.split(':')[0]}` may lead pip to packages" in note["message"]
    (here / "src/requirements.txt").unlink()
    assert found("SM810") == []


@pytest.mark.parametrize(
    "setting", ["HOME: /root", "HOME: /tmp", "XDG_CONFIG_HOME: /home/a/.config", "XDG_CONFIG_DIRS: ''"]
)
def test_settings_of_pip_outside_of_the_job_are_seen(here, setting):
    path = spec(here, "six\n", "print()\n", "run: []")
    with open(path, "a") as job:
        job.write(f"environment: {{{setting}}}\n")
    assert found("SM810") == []


@pytest.mark.parametrize("name", ["requirements.txt", "more.txt"])
def test_list_that_is_too_large_to_check_is_an_error(here, name):
    """GitHub does not show such a change either."""
    spec(here, "-r more.txt\n", "print()\n", "run: []")
    (here / "src" / name).write_bytes(b"# comment\n" * 110_000 + UNSEEN["form feed"][0])
    assert [each["message"] for each in found("SM144")] == [f"`source`: `{name}` is larger than 1 MiB"]


def test_pylock_is_locked_and_installed(index, tmp_path):
    """Its hashes are of the only files that may be locked."""
    content = index.packages.files["ctr_compat-0.1-py3-none-any.whl"]
    text = 'lock-version = "1.0"\n\n[[packages]]\nname = "ctr-compat"\nversion = "0.1"\n'
    text += 'wheels = [{hashes = {sha256 = "DIGEST"}}]\n'
    directory = job(tmp_path / "job", image="python_requirements: pylock.toml")
    (directory / "pylock.toml").write_text(text.replace("DIGEST", hashlib.sha256(content).hexdigest()))
    done = lock(directory)
    assert done.status == 0, done.err
    assert [one["packages"] for one in environments(directory).values()] == [{"ctr-compat": "0.1"}]
    (directory / "pylock.toml").write_text(text.replace("DIGEST", "0" * 64))
    done = lock(directory)
    assert done.status == 1
    assert "error[SM725]" in done.err and "--> pylock.toml:3:1" in done.err
    (directory / "pylock.toml").write_text(text.replace("wheels", 'directory = {path = "."}\nwheels'))
    rejected = smspec("validate", cwd=directory).out
    assert "error[SM327]: `image.python_requirements`: `pylock.toml` installs `ctr-compat` from a directory" in rejected
