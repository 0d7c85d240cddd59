"""How the processes of a job start: `distribution`, as a key of a spec or as switches of the toolkit."""

from __future__ import annotations

import json

from smspec.source.frozen import dataclass, field

_PYTORCH = ("PyTorch", "HuggingFace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """``key``: the value of `distribution` in the spec, None if no key says it.

    ``switches`` are hyperparameters that the SDK sends and the key does not, not yet encoded.
    """

    key: object = None
    is_mpi: bool = False
    switches: dict[str, object] = field(default_factory=dict)


def launch(distribution: object, class_name: str, instance_type: object) -> Launch:
    """Return how the processes start, for a distribution that is plain JSON."""
    if not isinstance(distribution, dict) or not distribution:
        return Launch()
    if class_name in _PYTORCH:
        if _is_on(distribution, "pytorchddp"):
            return Launch(switches={"sagemaker_pytorch_ddp_enabled": True, "sagemaker_instance_type": instance_type})
        if _is_on(distribution, "torch_distributed") and "smdistributed" not in distribution:
            return Launch(key="torchrun")
    kinds = [name for name in distribution if name != "instance_groups"]
    if kinds == ["mpi"] and _is_on(distribution, "mpi"):
        return _mpi(distribution["mpi"])
    if kinds == ["parameter_server"] and _is_on(distribution, "parameter_server"):
        return Launch(key={"parameter_server": {"framework": "mxnet" if class_name == "MXNet" else "tensorflow"}})
    data_parallel = distribution.get("smdistributed")
    if kinds == ["smdistributed"] and isinstance(data_parallel, dict) and list(data_parallel) == ["dataparallel"]:
        inner = data_parallel["dataparallel"]
        if isinstance(inner, dict) and inner.get("enabled") is True:
            options = inner.get("custom_mpi_options")
            more = {"sagemaker_distributed_dataparallel_custom_mpi_options": options} if options else {}
            return Launch(key="smdataparallel", switches=more)
    return Launch(switches=_switches(distribution, instance_type), is_mpi=_is_on(distribution, "mpi"))


def _is_on(distribution: dict[str, object], name: str) -> bool:
    inner = distribution.get(name)
    return isinstance(inner, dict) and inner.get("enabled") is True


def _mpi(given: object) -> Launch:
    members = given if isinstance(given, dict) else {}
    key: dict[str, object] = {}
    if members.get("processes_per_host"):
        key["processes_per_host"] = members["processes_per_host"]
    options = members.get("custom_mpi_options")
    if isinstance(options, str) and options.split():
        key["options"] = options.split()
    return Launch(key={"mpi": key} if key else "mpi", is_mpi=True)


def _switches(distribution: dict[str, object], instance_type: object) -> dict[str, object]:
    """Return the toolkit's switches, as the SDK sends them for combinations that a spec has no key for."""
    found: dict[str, object] = {}
    if "instance_groups" in distribution:
        found["sagemaker_distribution_instance_groups"] = distribution["instance_groups"]
    names = {
        "pytorchxla": "sagemaker_pytorch_xla_multi_worker_enabled",
        "parameter_server": "sagemaker_parameter_server_enabled",
        "mpi": "sagemaker_mpi_enabled",
        "multi_worker_mirrored_strategy": "sagemaker_multi_worker_mirrored_strategy_enabled",
    }
    for name, switch in names.items():
        if name in distribution:
            found[switch] = _is_on(distribution, name)
    mpi = distribution.get("mpi")
    if isinstance(mpi, dict):
        if mpi.get("processes_per_host"):
            found["sagemaker_mpi_num_of_processes_per_host"] = mpi["processes_per_host"]
        found["sagemaker_mpi_custom_mpi_options"] = mpi.get("custom_mpi_options", "")
    smdistributed = distribution.get("smdistributed")
    if isinstance(smdistributed, dict):
        parallel = smdistributed.get("modelparallel")
        if isinstance(parallel, dict) and parallel.get("enabled") is True:
            found["mp_parameters"] = parallel.get("parameters", {})
        data = smdistributed.get("dataparallel")
        is_on = isinstance(data, dict) and data.get("enabled") is True
        found["sagemaker_distributed_dataparallel_enabled"] = is_on
        found["sagemaker_instance_type"] = instance_type
        if is_on and isinstance(data, dict):
            found["sagemaker_distributed_dataparallel_custom_mpi_options"] = data.get("custom_mpi_options", "")
    if _is_on(distribution, "torch_distributed"):
        found["sagemaker_torch_distributed_enabled"] = True
        found["sagemaker_instance_type"] = instance_type
    return found


def encoded(switches: dict[str, object]) -> dict[str, object]:
    """Return switches as the SDK sends them: each as JSON."""
    return {name: json.dumps(value) for name, value in switches.items()}
