"""Where a container engine runs, and as whom: from what `info` says."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from smspec.local.engines.containers.client import Client, ClientFailed


class EngineFacts:
    """Asks the client once, when something is needed."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def is_rootless(self) -> bool:
        """Return whether root of a container is the author."""
        security = self._info.get("SecurityOptions")
        if isinstance(security, list):
            return any("rootless" in str(option) for option in security)
        return bool(_at(self._info, "host", "security", "rootless"))

    @property
    def is_apart(self) -> bool:
        """Return whether the engine has a kernel of its own, as in a virtual machine: FIFOs and sockets end there."""
        if not sys.platform.startswith("linux") or self._info.get("OperatingSystem") == "Docker Desktop":
            return True
        kernel = self._info.get("KernelVersion") or _at(self._info, "host", "kernel")
        return bool(kernel) and kernel != os.uname().release

    @cached_property
    def _info(self) -> Mapping[str, Any]:
        try:
            found = json.loads(self._client.run("info", "--format", "{{json .}}"))
        except (ClientFailed, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _at(members: object, *names: str) -> object:
    for name in names:
        members = members.get(name) if isinstance(members, dict) else None
    return members
