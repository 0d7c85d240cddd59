"""MPI: mpirun on the leader starts all processes."""

import json

from ..command import Command
from ..lean_typing import List
from .launch import Launch
from .mpirun import adapter_words, exported, mpirun, on_every_host


def mpi(launch: Launch) -> Command:
    each = launch.processes_per_host
    words = mpirun(
        launch,
        ",".join(host if each == "1" else f"{host}:{each}" for host in launch.hosts),
        "--display-map --tag-output",
        placing="-bind-to none -map-by slot",
        first="-x NCCL_MIN_NRINGS=4",
    )
    words += adapter_words(launch.cluster.instance_type, "FI_PROVIDER=efa")
    # ssh carries the rest: each host's own SM_ variables.
    words += exported(*sorted(name for name, value in launch.environ.items() if "\n" in value), "PYTHONPATH")
    return on_every_host(launch, words + _model_parallel(launch))


def _model_parallel(launch: Launch) -> List[str]:
    written = launch.environ.get("SM_HP_MP_PARAMETERS") or "{}"
    if written == "{}":
        return []
    version = launch.environ.get("SM_DLC_TORCH_VERSION", "")
    words = exported("NCCL_PROTO=simple") if version else []
    if version[:2] not in ("", "0.", "1."):
        words += exported("NCCL_ALGO=ring")
    try:
        is_auto = json.loads(written).get("ddp_dist_backend", "auto") == "auto"
    except (ValueError, AttributeError):
        is_auto = False  # The library reports the error.
    if is_auto and launch.machine.has_smddpmprun:
        words += ["smddpmprun", "-i", launch.cluster.instance_type, "--allow-bypass"]
    return words
