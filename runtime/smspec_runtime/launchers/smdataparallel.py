"""SageMaker's data parallel library, and PyTorch's DDP."""

from ..command import Command
from ..log import log
from .launch import Launch
from .mpirun import adapter_words, exported, mpirun, on_every_host


def smdataparallel(launch: Launch) -> Command:
    """SM_ variables reach other hosts through ssh."""
    hosts = launch.hosts
    several = len(hosts) > 1
    layout = "HOMOGENEOUS" if several else "SINGLENODE"
    words = mpirun(
        launch,
        ",".join(f"{host}:{launch.processes_per_host}" for host in hosts) if several else hosts[0],
        "--tag-output --oversubscribe",
        spawning=f"-mca plm_rsh_num_concurrent {len(hosts)}",
        last=f"-x SMDATAPARALLEL_USE_{layout}=1 -x FI_PROVIDER=efa -x RDMAV_FORK_SAFE=1",
    )
    instance_type = launch.options.get("instance_type") or launch.cluster.instance_type
    words += adapter_words(instance_type)
    if several:
        address = "SMDATAPARALLEL_SERVER_ADDR=" + hosts[0]
        words += exported(address, "SMDATAPARALLEL_SERVER_PORT=7592", f"SAGEMAKER_INSTANCE_TYPE={instance_type}")
    if launch.machine.has_smddprun:
        words.append("smddprun")
    else:
        log("smddprun is not installed: mpirun starts the program without it")
    return on_every_host(launch, words)
