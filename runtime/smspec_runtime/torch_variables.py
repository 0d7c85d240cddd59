"""PyTorch's variables, as in SageMaker's PyTorch containers."""

from .lean_typing import Dict, Environ

MASTER_PORT = "7777"


def torch_variables(leader: str, port: str, interface: str, environ: Environ) -> Dict[str, str]:
    return {
        "MASTER_ADDR": leader,
        "MASTER_PORT": port,
        "NCCL_SOCKET_IFNAME": interface,
        "NCCL_IB_DISABLE": environ.get("NCCL_IB_DISABLE", "1"),
        "NCCL_DEBUG": environ.get("NCCL_DEBUG", "WARN"),
    }
