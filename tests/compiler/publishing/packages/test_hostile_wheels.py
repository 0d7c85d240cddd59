"""Wheels that are wrong, or meant to do harm, end in a sentence with their name."""

import zipfile

import pytest

from smspec.publishing.packages.installed_files import BasePython, entry_commands, installed_files
from smspec.publishing.packages.wheel import read_wheel
from smspec.publishing.publication import PublishFailed
from support.wheels import DATA, FORMAT, INFO, METADATA, record_line, write_wheel

PYTHON = BasePython(
    program="/usr/local/bin/python3",
    minor="3.12",
    prefix="/usr/local",
    packages="/usr/local/lib/python3.12/site-packages",
    others=(),
)


def installed(path):
    """Read every file of a wheel, as a layer does."""
    return [b"".join(each.chunks()) for each in installed_files(read_wheel(path, "ctr-model"), PYTHON, "", "")]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x.py",
        "a/../../x.py",
        "a//x.py",
        "./x.py",
        "a\\..\\x.py",
        "a/.wh.x",
        "x\n.py",
        "\x7f",
        "x" * 256,
        f"{DATA}/other/x",
        f"{DATA}/data",
        f"{DATA}/scripts/../../x",
    ],
)
def test_path_outside_of_the_packages_is_refused(tmp_path, name):
    with pytest.raises(PublishFailed, match=r"cannot install `ctr_model-1\.0-py3-none-any\.whl`") as failed:
        installed(write_wheel(tmp_path, {name: b"x"}))
    assert failed.value.exit_status == 1


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (record_line("a.py", b"2"), "`a.py` in it does not match its RECORD"),
        ("", "its RECORD does not list `a.py`"),
        ("a.py,,\n", "no SHA-256 of `a.py`"),
        ("a.py,md5=abc,1\n", "no SHA-256 of `a.py`"),
        ("a.py\n", "its RECORD is malformed"),
        ("a.py,,\n" * 2, "lists a file twice"),
        (record_line("a.py", b"1") + record_line("b.py", b"1"), "`b.py` is in its RECORD, but not in it"),
    ],
)
def test_wrong_record_is_refused(tmp_path, record, message):
    rest = record_line(f"{INFO}/METADATA", METADATA) + record_line(f"{INFO}/WHEEL", FORMAT) + f"{INFO}/RECORD,,\n"
    with pytest.raises(PublishFailed) as failed:
        installed(write_wheel(tmp_path, {"a.py": b"1"}, record=record + rest))
    assert message in str(failed.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_member_that_is_there_twice_is_refused(tmp_path):
    path = write_wheel(tmp_path, {"a.py": b"1"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.py", b"1")
    with pytest.raises(PublishFailed, match="twice"):
        installed(path)


def test_size_that_is_a_lie_is_refused(tmp_path):
    path = write_wheel(tmp_path, {"a.py": b"1" * 5000})
    content = bytearray((tmp_path / path).read_bytes())
    entry = content.rindex(b"PK\x01\x02", 0, content.rindex(b"a.py"))
    for size in (10, 1 << 30):
        content[entry + 24 : entry + 28] = size.to_bytes(4, "little")
        (tmp_path / path).write_bytes(content)
        with pytest.raises(PublishFailed, match=r"is damaged|does not match"):
            installed(path)


@pytest.mark.parametrize(
    "format", [b"Wheel-Version: 2.0\n", b"", b"Wheel-Version: x\n"], ids=["version 2", "no version", "word as version"]
)
def test_other_format_is_refused(tmp_path, format):
    with pytest.raises(PublishFailed, match="version 1 of the wheel format"):
        installed(write_wheel(tmp_path, {}, format=format))


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"PK\x05\x06" + b"\xff" * 18, b"#!/bin/sh\n"],
    ids=["empty", "start of a ZIP", "damaged ZIP", "shell script"],
)
def test_file_that_is_not_a_wheel_is_refused(tmp_path, content):
    (tmp_path / "a.whl").write_bytes(content)
    with pytest.raises(PublishFailed, match=r"cannot install `a\.whl`"):
        read_wheel(str(tmp_path / "a.whl"), "a")


def test_name_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / write_wheel(tmp_path, {"\xe9\xe9.py": b"1"})
    path.write_bytes(path.read_bytes().replace("\xe9\xe9.py".encode(), b"\xff\xfe\xff\xfe.py"))
    with pytest.raises(PublishFailed, match="cannot install"):
        installed(str(path))


def test_wheel_of_another_project_is_refused(tmp_path):
    with pytest.raises(PublishFailed, match="not of the project `other`"):
        read_wheel(write_wheel(tmp_path, {}), "other")


@pytest.mark.parametrize("line", ["../ctr = a:b", "a/b = a:b", "ctr = a", "ctr = a:b; import os", "ctr = a:b c", "ctr"])
def test_malformed_entry_point_is_refused(tmp_path, line):
    path = write_wheel(tmp_path, {f"{INFO}/entry_points.txt": f"[console_scripts]\n{line}\n".encode()})
    with pytest.raises(PublishFailed, match="entry point"):
        entry_commands(read_wheel(path, "ctr-model"), PYTHON.program, PYTHON.minor)
