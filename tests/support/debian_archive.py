"""Debian with a few packages as a tar: the base of images where no registry is reachable."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGES = ("ca-certificates", "openssh-server", "python3", "python3-pip")

# The package of an SSH server, to be installed without a network. A base with keys would hide those of an image.
_HOOK = (
    'rm -f "$1"/etc/ssh/ssh_host_* && mkdir "$1/opt/debs" && '
    'chroot "$1" sh -c "cd /opt/debs && apt-get -q download openssh-server"'
)


def debian_archive(*packages: str) -> Path:
    """Return a system with Python and more packages; skip the test where Debian's archive is out of reach."""
    return archive("minbase", (*PACKAGES, *packages), f"--customize-hook={_HOOK}")


def small_archive() -> Path:
    """Return a shell and Python with few of its modules, for images whose size would cost time: 30 MB."""
    return archive("extract", ("dash", "python3-minimal"))


def python_archive() -> Path:
    """Return a shell, the tools of every system, and Python, without a package manager: 80 MB."""
    return archive("extract", ("coreutils", "dash", "python3"))


def archive(variant: str, packages: tuple[str, ...], *options: str) -> Path:
    """Return Debian with packages as a tar, made once and kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smspec-tests"
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / f"bookworm-2-{'-'.join(packages)}.tar"
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            if shutil.which("mmdebstrap") is None:
                pytest.skip("no base image: mmdebstrap is not installed")
            unfinished = cache / "unfinished.tar"
            words = ["mmdebstrap", f"--variant={variant}", f"--include={','.join(packages)}", *options]
            words += ["bookworm", str(unfinished)]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(
                    f"no base image: Debian's archive cannot be had: {done.stderr.strip().rpartition(chr(10))[2]}"
                )
            unfinished.rename(file)
    return file
