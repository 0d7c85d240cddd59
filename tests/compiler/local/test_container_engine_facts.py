"""Where a container engine runs, and as whom, by what its `info` prints."""

from __future__ import annotations

import json
import os

import pytest

from smspec.local.engines.containers.client import Client, EngineFacts

KERNEL = os.uname().release
DOCKER = {"OperatingSystem": "Debian", "KernelVersion": KERNEL, "SecurityOptions": ["name=seccomp,profile=default"]}
PODMAN = {"host": {"kernel": KERNEL, "security": {"rootless": False}}}

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.uname().sysname != "Linux", reason="elsewhere, every engine is apart"),
]


@pytest.mark.parametrize(
    ("info", "is_rootless", "is_apart"),
    [
        (DOCKER, False, False),
        ({**DOCKER, "SecurityOptions": ["name=seccomp", "name=rootless", "name=cgroupns"]}, True, False),
        ({**DOCKER, "Labels": ["rootless"]}, False, False),
        ({**DOCKER, "OperatingSystem": "Docker Desktop"}, False, True),
        ({**DOCKER, "KernelVersion": "6.10.14-linuxkit"}, False, True),
        (PODMAN, False, False),
        ({"host": {"kernel": KERNEL, "security": {"rootless": True}}}, True, False),
        ({"host": {"kernel": "6.11.0-machine", "serviceIsRemote": True}}, False, True),
        ([], False, False),
    ],
)
def test_info_shows_where_an_engine_runs(tmp_path, info, is_rootless, is_apart):
    client = tmp_path / "client"
    client.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(info)}\nEND\n")
    client.chmod(0o755)
    facts = EngineFacts(Client(str(client)))
    assert (facts.is_rootless, facts.is_apart) == (is_rootless, is_apart)
