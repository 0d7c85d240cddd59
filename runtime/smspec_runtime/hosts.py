"""Waits until every host of the job can be found by name: they do not all start at the same moment."""

import time

from .lean_typing import Dict, Sequence
from .log import log
from .refusal import Refused

SECONDS = 900.0


def wait_for_hosts(hosts: Sequence[str], seconds: float = SECONDS) -> Dict[str, str]:
    """Look every host up and return its address. Raises Refused if one cannot be found in time."""
    import socket  # Late: a job of one host has no use for it.

    deadline = time.monotonic() + seconds
    addresses: Dict[str, str] = {}
    for host in hosts:
        pause = 0.1
        while host not in addresses:
            try:
                addresses[host] = socket.gethostbyname(host)
            except (UnicodeError, TypeError) as error:
                raise Refused(f"`{host}` cannot be the name of a host: {error}") from error
            except OSError as error:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Refused(f"host {host} cannot be found after {seconds:.0f} s: {error}") from error
                log(f"waiting for host {host} ({error}); {left:.0f} s left")
                time.sleep(min(pause, left))
                pause = min(pause * 2, 10.0)
    return addresses
