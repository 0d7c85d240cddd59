"""Keys of `network`: what the containers can reach."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import SDK, Row
from smspec.spec.keys.value_forms import TEXTS, TRUTH, Structure

ROWS: tuple[Row, ...] = (
    Row("network", Structure(model.Network), "VpcConfig", kind="security", group="network", words={SDK: "networking"}),
    Row("network.subnets", TEXTS, "VpcConfig.Subnets", kind="security", called="subnets"),
    Row(
        "network.security_groups",
        TEXTS,
        "VpcConfig.SecurityGroupIds",
        kind="security",
        called="security groups",
        words={SDK: "security_group_ids"},
    ),
    Row(
        "network.isolation",
        TRUTH,
        "EnableNetworkIsolation",
        kind="security",
        called="network isolation",
        words={SDK: "enable_network_isolation"},
    ),
    Row(
        "network.encrypt_inter_container",
        TRUTH,
        "EnableInterContainerTrafficEncryption",
        kind="security",
        called="encryption between containers",
        words={SDK: "encrypt_inter_container_traffic"},
    ),
)
