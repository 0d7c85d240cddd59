"""Which instance types have an Elastic Fabric Adapter, and what NCCL and libfabric must be told about it."""

from ..lean_typing import Dict

RDMA = (
    "ml.p4d.24xlarge",
    "ml.p4de.24xlarge",
    "ml.p5.48xlarge",
    "ml.p5e.48xlarge",
    "ml.p5en.48xlarge",
    "ml.p6-b200.48xlarge",
    "ml.p6e-gb200.36xlarge",
    "ml.trn1.32xlarge",
    "ml.trn1n.32xlarge",
    "ml.trn2.48xlarge",
)
"""Adapters that read and write the memory of GPUs and Neuron devices by themselves."""

# EC2 user guide, "Elastic Fabric Adapter": supported instance types, those that SageMaker training offers.
EFA = (
    *RDMA,
    "ml.g4dn.8xlarge",
    "ml.g4dn.12xlarge",
    "ml.g4dn.16xlarge",
    "ml.g5.8xlarge",
    "ml.g5.12xlarge",
    "ml.g5.16xlarge",
    "ml.g5.24xlarge",
    "ml.g5.48xlarge",
    "ml.g6.8xlarge",
    "ml.g6.12xlarge",
    "ml.g6.16xlarge",
    "ml.g6.24xlarge",
    "ml.g6.48xlarge",
    "ml.g6e.8xlarge",
    "ml.g6e.12xlarge",
    "ml.g6e.16xlarge",
    "ml.g6e.24xlarge",
    "ml.g6e.48xlarge",
    "ml.p3dn.24xlarge",
)


def fabric_variables(instance_type: str) -> Dict[str, str]:
    """Return what a program on this instance type needs in its environment to use the adapter."""
    variables = {}
    if instance_type in EFA:
        variables["FI_PROVIDER"] = "efa"
    if instance_type in RDMA:
        variables["FI_EFA_USE_DEVICE_RDMA"] = "1"
        variables["RDMAV_FORK_SAFE"] = "1"
    return variables
