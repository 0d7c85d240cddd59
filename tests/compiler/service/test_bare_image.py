"""What packages for an image must fit, by the name of the image."""

from __future__ import annotations

import pytest

from smspec.service.bare_image import BareImage, bare_image

APT = ("python3", "python3-pip")


@pytest.mark.parametrize(
    ("image", "release", "libc"),
    [
        ("python:3.10.6-slim", "3.10.6", ("manylinux", 31)),
        ("python:3.11.9-slim-bookworm", "3.11.9", ("manylinux", 36)),
        ("python:3.8.5", "3.8.5", ("manylinux", 17)),
        ("python:3.9.0-slim-buster", "3.9.0", ("manylinux", 17)),
        ("python:3.8.7-slim-buster", "3.8.7", ("manylinux", 28)),
        ("python:3.9.7-alpine3.13", "3.9.7", ("musllinux", 2)),
        ("python:3.12-slim-trixie@sha256:" + "0" * 64, "3.12.13", ("manylinux", 41)),
        ("mirror.example.com/library/python:3.9.18", "3.9.18", ("manylinux", 36)),
        ("python:3.12.1-alpine3.19", "3.12.1", ("musllinux", 2)),
        ("debian:bookworm-20240904-slim", "3.11.2", ("manylinux", 36)),
        ("nvidia/cuda:12.4.1-runtime-ubuntu22.04", "3.10.12", ("manylinux", 35)),
        ("ubuntu:20.04", "3.8.10", ("manylinux", 17)),
    ],
)
def test_python_and_libc_follow_from_the_tag(image: str, release: str, libc: tuple[str, int]) -> None:
    found = bare_image(image, APT, "linux/amd64")
    assert isinstance(found, BareImage)
    assert (found.release, found.libc, found.processor) == (release, libc, "x86_64")


@pytest.mark.parametrize(
    ("image", "packages", "platform", "reason"),
    [
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", (), "linux/amd64", "might contain packages"),
        ("python:slim", (), "linux/amd64", "shows no version of Python"),
        ("python", (), "linux/amd64", "shows no version of Python"),
        ("python:3.7-slim", (), "linux/amd64", "has Python 3.7"),
        ("python:3.9.1-alpine3.13", (), "linux/amd64", "installs no wheels for musl"),
        ("python:3.14.0rc1-slim", (), "linux/amd64", "not a tag that smspec knows"),
        ("python:3.13-windowsservercore", (), "linux/amd64", "not a tag that smspec knows"),
        ("python:3.8-alpine3.12", (), "linux/amd64", "musl 1.1"),
        ("python:3.12", (), "linux/s390x", "linux/s390x"),
        ("ubuntu:22.04", (), "linux/amd64", "shows no version of Python"),
        ("ubuntu:22.04", (*APT, "python3-numpy"), "linux/amd64", "`python3-numpy`"),
    ],
)
def test_other_image_is_unknown_for_a_reason(image: str, packages: tuple[str, ...], platform: str, reason: str) -> None:
    found = bare_image(image, packages, platform)
    assert isinstance(found, str)
    assert reason in found


def test_packages_of_apt_do_not_concern_another_python() -> None:
    assert isinstance(bare_image("python:3.12-slim", ("python3-numpy",), "linux/arm64"), BareImage)
