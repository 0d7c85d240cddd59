"""The environment of the program: every SM_ variable, as scripts written for SageMaker's own toolkit expect them."""

import json

from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Any, Dict, List, Mapping, NamedTuple, Optional
from .refusal import Refused

DISTRIBUTION_FLAGS = (
    "sagemaker_mpi_enabled",
    "sagemaker_parameter_server_enabled",
    "sagemaker_distributed_dataparallel_enabled",
    "sagemaker_pytorch_ddp_enabled",
    "sagemaker_pytorch_xla_multi_worker_enabled",
    "sagemaker_multi_worker_mirrored_strategy_enabled",
    "sagemaker_torch_distributed_enabled",
)
GROUPS = "sagemaker_distribution_instance_groups"
DEFAULT_LOG_LEVEL = 20


class Machine(NamedTuple):
    """What this host has to offer."""

    cpus: int
    gpus: int = 0
    neurons: int = 0
    has_smddprun: bool = False
    has_smddpmprun: bool = False


class Entry(NamedTuple):
    """What is started, as the variables name it. ``program`` None: nothing but a framework's function."""

    program: Optional[str]
    arguments: List[str]
    has_launcher: bool = False


def distribution_groups(config: InputConfig, has_launcher: bool) -> Any:
    """Return the names of the instance groups that the launcher runs on."""
    framework = config.hyperparameters.framework
    own = has_launcher or any(framework.get(flag) for flag in DISTRIBUTION_FLAGS)
    default = [config.cluster.instance_group] if own else []
    groups = framework.get(GROUPS, default)
    if not isinstance(groups, list):
        raise Refused(f"hyperparameter `{GROUPS}` is not a list")
    return groups


def sagemaker_variables(
    config: InputConfig, layout: Layout, machine: Machine, entry: Entry, environ: Mapping[str, str]
) -> Dict[str, str]:
    """Return the variables that are added to the container's own, and overwrite them."""
    described = _described(config, layout, machine, entry, environ)
    variables: Dict[str, Any] = {
        **{name: value for name, value in described.items() if name not in _NO_VARIABLES},
        "hps": described["hyperparameters"],
        "framework_params": described["additional_framework_parameters"],
        "channels": sorted(config.channels),
        "training_env": described,
        "user_args": entry.arguments,
    }
    if not described["topology"]:
        del variables["topology"]
    for name, path in described["channel_input_dirs"].items():
        variables["channel_" + name] = path
    for name, value in described["hyperparameters"].items():
        variables["hp_" + name] = value
    sagemaker = config.hyperparameters.sagemaker
    return {
        **{"SM_" + name.upper(): _written(value) for name, value in variables.items()},
        "CURRENT_HOST": config.cluster.current_host,
        "SAGEMAKER_JOB_NAME": _written(sagemaker.get("sagemaker_job_name", "")),
        "SAGEMAKER_REGION": _written(sagemaker.get("sagemaker_region", environ.get("AWS_DEFAULT_REGION", ""))),
    }


_NO_VARIABLES = (
    "additional_framework_parameters",
    "channel_input_dirs",
    "distribution_hosts",
    "hyperparameters",
    "is_master",
    "is_modelparallel_enabled",
    "is_smddpmprun_installed",
    "is_smddprun_installed",
    "job_name",
    "master_hostname",
)
"""Members of SM_TRAINING_ENV that are no variable of this name."""


def _described(
    config: InputConfig, layout: Layout, machine: Machine, entry: Entry, environ: Mapping[str, str]
) -> Dict[str, Any]:
    """Return the 37 members of SM_TRAINING_ENV."""
    cluster = config.cluster
    sagemaker = config.hyperparameters.sagemaker
    groups = distribution_groups(config, entry.has_launcher)
    distribution_hosts = cluster.hosts_of(groups)
    master = (distribution_hosts or cluster.hosts)[0]
    model_parallel = environ.get("SM_HP_MP_PARAMETERS")
    module = str(entry.program)
    return {
        "additional_framework_parameters": config.hyperparameters.framework,
        "channel_input_dirs": {name: layout.channel(name) for name in config.channels},
        "current_host": cluster.current_host,
        "current_instance_group": cluster.instance_group,
        "current_instance_group_hosts": cluster.instance_group_hosts,
        "current_instance_type": cluster.instance_type,
        "distribution_hosts": distribution_hosts,
        "distribution_instance_groups": groups,
        "framework_module": environ.get("SAGEMAKER_TRAINING_MODULE"),
        "hosts": cluster.hosts,
        "hyperparameters": config.hyperparameters.user,
        "input_config_dir": layout.input_config,
        "input_data_config": config.channels,
        "input_dir": layout.input,
        "instance_groups": [group.name for group in cluster.instance_groups],
        "instance_groups_dict": {group.name: group.described for group in cluster.instance_groups},
        "is_hetero": len(cluster.instance_groups) > 1,
        "is_master": cluster.current_host == master,
        "is_modelparallel_enabled": model_parallel and model_parallel != "{}",
        "is_smddpmprun_installed": machine.has_smddpmprun,
        "is_smddprun_installed": machine.has_smddprun,
        "job_name": environ.get("TRAINING_JOB_NAME"),
        "log_level": sagemaker.get("sagemaker_container_log_level", DEFAULT_LOG_LEVEL),
        "master_hostname": master,
        "model_dir": layout.model,
        "module_dir": str(sagemaker.get("sagemaker_submit_directory", layout.code)),
        "module_name": module[:-3] if module.endswith(".py") else module,
        "network_interface_name": cluster.network_interface,
        "num_cpus": machine.cpus,
        "num_gpus": machine.gpus,
        "num_neurons": machine.neurons,
        "output_data_dir": layout.output_data,
        "output_dir": layout.output,
        "output_intermediate_dir": layout.output_intermediate,
        "resource_config": config.resource_config,
        "topology": config.resource_config.get("topology", []),
        "user_entry_point": entry.program,
    }


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
