"""`network`: VpcConfig, and what the containers may talk to."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the network; false is sent as it was."""
    network = {
        "subnets": rest.texts("VpcConfig", "Subnets"),
        "security_groups": rest.texts("VpcConfig", "SecurityGroupIds"),
        "isolation": rest.truth("EnableNetworkIsolation"),
        "encrypt_inter_container": rest.truth("EnableInterContainerTrafficEncryption"),
    }
    said = {key: value for key, value in network.items() if value is not None}
    if said:
        yield "network", said
