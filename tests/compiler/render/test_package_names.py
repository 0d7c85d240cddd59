"""Accepted requirements of apt and pip."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.render.representable import faults_of_requirements
from smspec.spec.packages import is_apt_package, is_pip_requirement


@pytest.mark.parametrize(
    "word",
    ["libgomp1", "g++", "libstdc++6", "git=1:2.39.5-0+deb12u2", "libc6:amd64", "libc6:arm64=2.36-9", "0ad"],
)
def test_apt_packages_are_accepted(word):
    assert is_apt_package(word)


@pytest.mark.parametrize(
    "word",
    [
        *("", "-y", "--reinstall", "a b", "git ", "git\n", "git;true", "git&&true", "$(id)", "`id`", "git=", "git=$V"),
        *(
            "./local.deb",
            "/tmp/local.deb",
            "git-",
            "Git",
            "git/bookworm-backports",
            "*",
            "lib*",
            "git==1",
            "curl=7.*",
            "a\u00e9",
        ),
    ],
)
def test_malformed_apt_packages_are_rejected(word):
    assert not is_apt_package(word)


@pytest.mark.parametrize(
    "word",
    [
        *("numpy", "numpy==2.1.0", "numpy>=2,<3", "numpy >= 2, < 3", "torch==2.4.1+cpu", "a~=1.0", "a===1", "a!=1.*"),
        *("ruamel.yaml", "zope.interface[test]", "a[b,c]==1", "a [b] >= 1", "x", "numpy==1!2.0"),
        *('tomli; python_version < "3.11"', "tomli ; python_version<'3.11' and os_name=='posix'"),
        *("a @ https://example.com/a-1.0.whl", "a@https://example.com/a.whl#sha256=00"),
        "pkg @ git+https://example.com/team/pkg.git@0123abc",
        "pkg @ https://example.com/a.whl ; python_version >= '3.9'",
    ],
)
def test_pip_requirements_are_accepted(word):
    assert is_pip_requirement(word)


@pytest.mark.parametrize(
    "word",
    [
        *(
            "",
            "-r other.txt",
            "--index-url=https://x",
            "-e .",
            ".",
            "./a.whl",
            "/tmp/a.whl",
            "a b",
            "numpy\n",
            "numpy==2 x",
        ),
        *(
            "$(id)",
            "a;b|c",
            "a==1; `id`",
            "a @ http://example.com/a.whl",
            "a @ file:///a.whl",
            "a @ /a.whl",
            "a=1",
            "==1",
        ),
        *(
            "git+https://example.com/a.git",
            "a[b",
            "a==",
            "a>=1,",
            "nump\u00fd",
            "==1",
            "numpy==2 x",
            "a==1 --hash=sha256:00",
            "-a",
            "a-",
        ),
    ],
)
def test_malformed_pip_requirements_are_rejected(word):
    assert not is_pip_requirement(word)


@given(st.text() | st.from_regex(r"[a-z=<>;@:/$`'\"() -]{0,30}"))
def test_accepted_words_are_single_safe_arguments(word):
    if is_apt_package(word):
        assert shlex.split(word) == [word]
    if is_apt_package(word) or is_pip_requirement(word):
        assert word[0].isalnum()
        assert len(word.splitlines()) == 1
        assert word.isascii()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"numpy==2.1.0\n# ./comment/\n\nsix==1.16.0 \\\n    --hash=sha256:00 # -r x\n", []),
        (b"\xef\xbb\xbfnumpy\r\nsix\r\n", []),
        (b"--index-url https://example.com/simple\n--no-binary :all:\n-f https://example.com/\n", []),
        (b"--find-links /opt/wheels\n-f /opt/wheels\n--find-links=file:///opt/wheels\n/opt/wheels/a.whl\n", []),
        (b"a @ file:///opt/a.whl\ngit+https://example.com/a.git@1#egg=a\nhttps://example.com/a.whl\n", []),
        (
            b"-r https://example.com/a.txt\n--constraint=https://example.com/c.txt\n-e git+https://example.com/a.git\n",
            [],
        ),
        (b"-e C:\\a\n-e name\n", [1, 2]),
        (b"numpy\n-r other.txt\n", [2]),
        (
            b"-rother.txt\n--requirement=x\n-c constraints.txt\n--constraint c\n-e .\n--editable=./x\n",
            [1, 2, 3, 4, 5, 6],
        ),
        (b"./a.whl\n../a\n.\nwheels/a-1.0-py3-none-any.whl\n", [1, 2, 3, 4]),
        (b"--find-links wheels\n-f ./wheels\n", [1, 2]),
        (b"a\nb\n\xff\n", [3]),
    ],
    ids=[
        "empty",
        "hashes",
        "byte order mark",
        "indexes",
        "absolute paths",
        "URLs",
        "included URLs",
        "names",
        "included file",
        "every spelling",
        "relative paths",
        "relative links",
        "not UTF-8",
    ],
)
def test_requirements_file_must_not_include_others(content, lines):
    assert [line for line, _ in faults_of_requirements(content)] == lines
