"""Where a requirement is written, and what keeps a file from being locked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rules.requirements import check_unseen
from smspec.service.requirement_lines import has_lines, joined_lines, read_packages, read_requirements
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

FILE = b"""\
# models
--extra-index-url https://packages.example.com/simple
Torch_Vision == 0.20  # with torch
  pandas[s3] >=2,<3 ; python_version > "3.8"

numpy==2.1.0 \\
    --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
six @ https://example.com/six-1.17.0-py3-none-any.whl#egg=six
"""


def test_requirements_have_their_positions() -> None:
    found = read_requirements(FILE)
    assert found.obstacle == ""
    assert found.options == ("--extra-index-url https://packages.example.com/simple",)
    assert [(each.name, each.specifier, each.place) for each in found.requirements] == [
        ("torch-vision", "== 0.20", (3, 1)),
        ("pandas", ">=2,<3", (4, 3)),
        ("numpy", "==2.1.0", (6, 1)),
        ("six", "", (8, 1)),
    ]
    assert found.requirements[2].hashes == {"a" * 64}
    assert found.requirements[3].url == "https://example.com/six-1.17.0-py3-none-any.whl#egg=six"


@pytest.mark.parametrize(
    ("line", "obstacle"),
    [
        ("git+https://github.com/org/repo", "version control URL"),
        ("repo @ git+ssh://git@github.com/org/repo@main", "version control URL"),
        ("-r more.txt", "refers to another file"),
        ("--constraint=limits.txt", "refers to another file"),
        ("-e .", "editable"),
        ("./wheels/mine-1.0-py3-none-any.whl", "not a name with versions"),
        ("mine @ file:///wheels/mine-1.0-py3-none-any.whl", "a URL that a lockfile cannot contain"),
        ("--find-links ./wheels", "files that the image does not contain"),
        ("--index-url https://author:t0psecret@packages.example.com/simple", "contains a password"),
        ("mine @ https://token@example.com/mine-1.0-py3-none-any.whl", "a URL that a lockfile cannot contain"),
        ("numpy=2.1.0", "not a name with versions"),
        ("numpy==2.1.0 --config-settings=fast=yes", "has the option `--config-settings`, which applies only to builds"),
        ("numpy==2.1.0 --hash=sha256:0 --global-option=fast", "has the option `--global-option`"),
        ("-i https://packages.example.com/simple -r more.txt", "refers to another file"),
        ("--index https://packages.example.com/simple", "has the option `--index`, which smspec does not know"),
        ("-rmore.txt", "refers to another file"),
        ("--index-url 'https://packages.example.com/simple", "has quotes that do not end"),
        ("numpy==2.1.0 --hash=sha512:" + "a" * 128, "has a hash of sha512; a lockfile requires sha256"),
        ("--index-url https://packages.example.com/${CI_TOKEN}", "uses `${CI_TOKEN}`, which neither"),
        ("--index-url https://packages.example.com/${PIP_INDEX_URL}", "uses `${PIP_INDEX_URL}`, which neither"),
    ],
)
def test_obstacle_names_its_line(line: str, obstacle: str) -> None:
    found = read_requirements(f"numpy\n{line}\n".encode()).obstacle
    assert found.startswith("line 2 of its requirements ")
    assert obstacle in found
    assert "t0psecret" not in found


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://${USER}:${LDAP_TOKEN}@packages.example.com/simple",
        "--extra-index-url https://packages.example.com/simple",
        "--find-links https://data.pyg.org/whl/torch-2.5.0+cpu.html",
        "--pre",
        "pkg @ https://example.com/pkg-1.0-py3-none-any.whl",
    ],
)
def test_lines_that_an_index_answers_are_no_obstacle(line: str) -> None:
    assert read_requirements(line.encode(), ["USER", "LDAP_TOKEN"]).obstacle == ""


def test_variables_of_the_machine_are_never_in_requirements() -> None:
    assert "uses `${HOME}`" in read_requirements(b"--index-url https://example.com/${HOME}", ["HOME"]).obstacle


@pytest.mark.parametrize(
    "line",
    [
        "pkg @ https://${TOKEN}@example.com/pkg-1.0.tar.gz",
        "${TOKEN}",
        "pkg==${TOKEN}",
        "pkg[${TOKEN}]",
        "pkg; ${TOKEN}",
    ],
)
def test_lock_never_gets_the_value_of_a_secret(line: str) -> None:
    """A resolver writes it in its place, and others read the lock."""
    assert read_requirements(line.encode(), ["TOKEN"]).obstacle == (
        "line 1 of its requirements contains a variable outside of an option"
    )


def test_options_of_a_line_are_split_as_pip_does() -> None:
    line = b"-i https://a.example.com/?x=y --extra-index-url='https://b.example.com' --pre -fhttps://c.example.com/?x=y"
    assert read_requirements(line).options == (
        "--index-url https://a.example.com/?x=y",
        "--extra-index-url https://b.example.com",
        "--pre",
        "--find-links https://c.example.com/?x=y",
    )


def test_obstacle_in_a_list_has_its_position() -> None:
    found = read_packages(("numpy", "git+https://github.com/org/repo")).obstacle
    assert found == "`image.python_packages[1]` is a version control URL, which has no hash"


def test_packages_of_a_spec_have_their_index() -> None:
    found = read_packages(("numpy==2.1.0", "pandas"))
    assert [(each.name, each.place) for each in found.requirements] == [("numpy", (0, 0)), ("pandas", (1, 0))]


SEPARATORS = [*"\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"]


def test_separators_are_those_of_python():
    lines = "".join(map(chr, range(0x110000))).replace("\r\n", "\n").splitlines(keepends=True)
    assert [line[-1] for line in lines[:-1] if line[-1] != "\n"] == SEPARATORS


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
def test_line_that_only_pip_sees_is_an_error(tmp_path, separator):
    """What `str.splitlines` splits is a line for pip: a reviewer sees the end of a comment."""
    list_ = f"six==1.16.0 # pinned{separator}evil==1.0\n"
    assert [each.name for each in read_requirements(list_.encode()).requirements] == ["six", "evil"]
    assert has_lines(f"# pinned{separator}evil==1.0\n".encode())
    write_job(tmp_path, BUILT.replace('bookworm"}', 'bookworm", python_requirements: list.txt}'))
    (tmp_path / "list.txt").write_text(list_, newline="")
    (tmp_path / "src/requirements.txt").write_text(list_, newline="")
    done = smspec("validate", "job.yaml", cwd=tmp_path)
    code = f"U+{ord(separator):04X}"
    assert (done.status, done.out.count("error[SM103]")) == (1, 2)
    assert f"`list.txt`: line 1 contains {code}" in done.out
    assert f"`requirements.txt`: line 1 contains {code}" in done.out


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("six==1\nnumpу==2\n", "SM115", "line 2 contains U+0443"),
        ("--extra-index-url https://pypi.оrg/simple\nsix\n", "SM115", "line 1 contains U+043E"),
        ("six==1 \\\n  --hash=sha256:а\n", "SM115", "U+0430"),
        ("# see \u202elist\nsix\n", "SM103", "line 1 contains U+202E"),
        ("six \\\x0c\n==1\n", "SM103", "line 1 contains U+000C"),
        ("six \\\n\x0cevil\n", "SM103", "line 2 contains U+000C"),
        ("si\u200bx==1\n", "SM103", "line 1 contains U+200B"),
        ("# coding: utf-7\nsix # +AAo-evil\n", "SM327", "the comment `coding: utf-7`"),
        ("#!x\n# -*- coding: cp037 -*-\nsix\n", "SM327", "the comment `coding: cp037`"),
    ],
    ids=[
        "package",
        "index",
        "continued",
        "bidirectional",
        "not continued",
        "nor here",
        "without width",
        "UTF-7",
        "EBCDIC",
    ],
)
def test_unseen_part_of_a_list_is_an_error(content, code, words):
    found = [*check_unseen(content.encode(), (), "`list.txt`")]
    assert [finding.code for finding in found] == [code]
    assert words in found[0].message


@pytest.mark.parametrize(
    "content",
    [
        "# пакеты для обучения модели с GPU, модельV2\nsix==1.16.0  # закреплено\n",
        "# 训练用的软件包\u3000（固定版本）\nsix==1.16.0  # 固定\r\nnumpy==2.1.0\r\n",
        "# paquets : 👨\u200d👩\u200d👧 — été\xa0!\nsix\n",
        "\ufeffsix==1.16.0\n",
        "six\n\x0c\n# next page\nnumpy\x0c\n",
        "# -*- coding: utf-8 -*-\nsix\n",
        "# vim: set fileencoding=utf-8 :\nsix\n",
        "six @ file:///данные/six.whl\n--find-links /训练/wheels\n",
        "six\t== 1.16.0\t# tab\n",
        "# no encoding: see coding: none-such\nsix\n",
    ],
    ids=["Cyrillic", "Chinese", "emoji", "BOM", "form feed", "UTF-8", "vim", "paths", "tab", "unknown coding"],
)
def test_honest_lists_are_accepted(content):
    assert [*check_unseen(content.encode(), (), "`list.txt`")] == []


PIECES = ["six", "==1", "#", " ", "\n", "\r\n", "\\\n", "\t", "# x", "é", "-r", "\u3000", "\u200b", *SEPARATORS]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_list_without_an_error_has_the_lines_that_it_shows(text):
    """A reader sees the end of a line at a line feed only, and a backslash before it."""
    shown = text.replace("\r\n", "\n")
    for each in SEPARATORS:
        shown = shown.replace(each, " ")
    seen, read = ([re.sub(r"\s", "", line) for _, _, line in joined_lines(one)] for one in (shown, text))
    assert read == [line for line in seen if line] or [*check_unseen(text.encode(), (), "`list.txt`")]
