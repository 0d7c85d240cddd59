"""The hosts in ``resourceconfig.json``."""

import time

from .lean_typing import Any, Dict, Environ, Json, List, NamedTuple, Sequence
from .log import log
from .refusal import Refused

MASTER_PORT = "7777"


class Cluster(NamedTuple):
    """The order is the same on all hosts. ``instance_groups``: by name."""

    hosts: List[str]
    current_host: str
    instance_type: str = "local"
    instance_group: str = "homogeneousCluster"
    instance_groups: Json = {}
    network_interface: str = "eth0"

    def hosts_of(self, groups: Any) -> List[str]:
        """All hosts if the job has no groups."""
        if not self.instance_groups:
            return list(self.hosts)
        return [host for name, group in self.instance_groups.items() if name in groups for host in group["hosts"]]

    def torch_variables(self, leader: str, port: str, environ: Environ) -> Dict[str, str]:
        """As in SageMaker's PyTorch containers."""
        return {
            "MASTER_ADDR": leader,
            "MASTER_PORT": port,
            "NCCL_SOCKET_IFNAME": self.network_interface,
            "NCCL_IB_DISABLE": environ.get("NCCL_IB_DISABLE", "1"),
            "NCCL_DEBUG": environ.get("NCCL_DEBUG", "WARN"),
        }


_KEYS = {
    "instance_type": "current_instance_type",
    "instance_group": "current_group_name",
    "network_interface": "network_interface_name",
}


def decode_cluster(config: Json) -> Cluster:
    """Raise ValueError if it is invalid."""
    hosts = _host_names(config.get("hosts"), "`hosts`")
    current_host = _text(config, "current_host")
    if current_host not in hosts:
        raise ValueError(f"current_host `{current_host}` is not one of the hosts {', '.join(hosts)}")
    groups = config.get("instance_groups")
    if groups is not None and not isinstance(groups, list):
        raise ValueError("`instance_groups` is not a list")
    texts = {member: _text(config, key) for member, key in _KEYS.items() if key in config}
    named = {_checked_name(group): group for group in groups or []}
    return Cluster(hosts, current_host, instance_groups=named, **texts)


def wait_for_hosts(hosts: Sequence[str], seconds: float = 900.0) -> Dict[str, str]:
    """Their addresses, once all are found."""
    addresses: Dict[str, str] = {}
    if not hosts:
        return addresses
    import socket

    deadline = time.monotonic() + seconds
    pause = 0.1
    while True:
        why = ""
        # All in each round: a host that ends early removes its name.
        for host in hosts:
            if host in addresses or (why and time.monotonic() > deadline):
                continue
            try:
                addresses[host] = socket.gethostbyname(host)
            except (UnicodeError, TypeError) as error:
                raise Refused(f"`{host}` cannot be the name of a host: {error}") from error
            except OSError as error:
                why = why or f"host {host} ({error})"
        if not why:
            return addresses
        left = deadline - time.monotonic()
        if left <= 0:
            raise Refused(f"after {seconds:.0f} s there is no address for {why}")
        log(f"waiting for {why}; {left:.0f} s left")
        time.sleep(min(pause, left))
        pause = min(pause * 2, 10.0)


def _text(config: Json, key: str) -> str:
    value = config.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{key}` is missing or not text")
    return value


def _host_names(value: Any, what: str) -> List[str]:
    if not isinstance(value, list) or not value or not all(isinstance(host, str) and host for host in value):
        raise ValueError(f"{what} is not a list of host names")
    if len(set(value)) < len(value):
        raise ValueError(f"{what} has a host twice")
    return value


def _checked_name(group: Any) -> str:
    name = group.get("instance_group_name") if isinstance(group, dict) else None
    if not isinstance(name, str):
        raise ValueError("an instance group has no `instance_group_name`")
    _host_names(group.get("hosts"), f"`hosts` of group `{name}`")
    return name
