"""How SageMaker's own toolkit, in an existing image, is configured to launch processes as in the spec."""

from __future__ import annotations

from smspec.spec.model import Hosts, Hyperparameter, JobSpec, Mpi, ParameterServer, SmDataParallel, Torchrun


def toolkit_hyperparameters(job: JobSpec) -> tuple[Hyperparameter, ...]:
    """Return the reserved hyperparameters of the toolkit for the job's launcher."""
    values: dict[str, object] = {}
    match job.distribution:
        case Mpi(processes_per_host=processes, options=options):
            values["sagemaker_mpi_enabled"] = True
            if processes != "auto":
                values["sagemaker_mpi_num_of_processes_per_host"] = processes
            if options:
                values["sagemaker_mpi_custom_mpi_options"] = " ".join(options)
        case Torchrun():
            values["sagemaker_torch_distributed_enabled"] = True
            values |= _instance_type(job.hosts)
        case SmDataParallel():
            values["sagemaker_distributed_dataparallel_enabled"] = True
            values |= _instance_type(job.hosts)
        case ParameterServer():
            values["sagemaker_parameter_server_enabled"] = True
        case None:
            return ()
    if job.hosts and job.hosts.groups:
        # By default the toolkit would make a separate cluster of each instance group.
        values["sagemaker_distribution_instance_groups"] = [group.name for group in job.hosts.groups]
    return tuple(Hyperparameter(name=name, value=value) for name, value in values.items())


def _instance_type(hosts: Hosts | None) -> dict[str, object]:
    if hosts is None:
        return {}
    written = hosts.groups[0].instance_type if hosts.groups else hosts.instance_type
    return {"sagemaker_instance_type": written} if written else {}
