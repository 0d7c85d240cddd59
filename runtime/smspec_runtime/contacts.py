"""The hosts that this one waits for and connects to by name."""

import os
import re

from .lean_typing import List, Optional

# The team waits for mpirun's hosts.
_CONTACTS = {"torchrun": slice(1), "parameter_server": slice(None), "multi_worker_mirrored": slice(None)}

_LOOKUPS = re.compile(
    rb"\b(gethostbyname|getaddrinfo|create_connection|open_connection|init_process_group|getent)(_ex)?\b"
)
_FILES = 1000
_BYTES = 1 << 20


def contacted_hosts(launcher: Optional[str], hosts: List[str], code: str) -> List[str]:
    """Without a launcher the program connects, if it looks up names."""
    if launcher is None:
        return list(hosts) if len(hosts) > 1 and _looks_up_names(code) else []
    return hosts[_CONTACTS.get(launcher, slice(0))] if len(hosts) > 1 else []


def _looks_up_names(code: str) -> bool:
    files = (f"{directory}/{name}" for directory, _, names in os.walk(code) for name in names)
    scripts = (path for path in files if path.endswith((".py", ".sh")))
    for path, _ in zip(scripts, range(_FILES)):
        try:
            with open(path, "rb") as file:
                if _LOOKUPS.search(file.read(_BYTES)):
                    return True
        except OSError:
            continue  # Its start will fail.
    return False
