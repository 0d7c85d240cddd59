"""The program's variables, named as in SageMaker's toolkit."""

import json

from .delivery import submit_directory
from .input_config import InputConfig
from .layout import Layout
from .lean_typing import Any, Dict, Environ, Json, List, NamedTuple, Optional

_ONLY_INSIDE = (
    "additional_framework_parameters channel_input_dirs distribution_hosts hyperparameters is_master job_name "
    "is_modelparallel_enabled is_smddpmprun_installed is_smddprun_installed master_hostname"
)
"""Members of SM_TRAINING_ENV without a variable."""


class Machine(NamedTuple):
    cpus: int
    gpus: int = 0
    neurons: int = 0
    has_smddprun: bool = False
    has_smddpmprun: bool = False


def sagemaker_variables(
    config: InputConfig,
    layout: Layout,
    machine: Machine,
    program: Optional[str],
    arguments: List[str],
    groups: List[str],
    environ: Environ,
) -> Dict[str, str]:
    """What overrides other variables. ``program`` None: a framework's function. ``groups``: the launcher's."""
    cluster = config.cluster
    framework = config.hyperparameters.framework
    user, _, sagemaker = config.hyperparameters
    channels = {name: layout.channel(name) for name in config.channels}
    distribution_hosts = cluster.hosts_of(groups)
    master = (distribution_hosts or cluster.hosts)[0]
    model_parallel = environ.get("SM_HP_MP_PARAMETERS")
    module = str(program)
    env: Json = {
        "current_host": cluster.current_host,
        "current_instance_group": cluster.instance_group,
        "current_instance_group_hosts": cluster.hosts_of([cluster.instance_group]) if cluster.instance_groups else [],
        "current_instance_type": cluster.instance_type,
        "distribution_instance_groups": groups,
        "framework_module": environ.get("SAGEMAKER_TRAINING_MODULE"),
        "hosts": cluster.hosts,
        "input_config_dir": layout.input_config,
        "input_data_config": config.channels,
        "input_dir": layout.input,
        "instance_groups": [*cluster.instance_groups],
        "instance_groups_dict": cluster.instance_groups,
        "is_hetero": len(cluster.instance_groups) > 1,
        "log_level": sagemaker.get("sagemaker_container_log_level", 20),
        "model_dir": layout.model,
        "module_dir": submit_directory(config, environ) or layout.code,
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
        "user_entry_point": program,
        "additional_framework_parameters": framework,
        "channel_input_dirs": channels,
        "distribution_hosts": distribution_hosts,
        "hyperparameters": user,
        "is_master": cluster.current_host == master,
        "is_modelparallel_enabled": model_parallel and model_parallel != "{}",
        "is_smddpmprun_installed": machine.has_smddpmprun,
        "is_smddprun_installed": machine.has_smddprun,
        "job_name": environ.get("TRAINING_JOB_NAME"),
        "master_hostname": master,
    }
    return {
        **variables_of(env, arguments),
        "CURRENT_HOST": cluster.current_host,
        "SAGEMAKER_JOB_NAME": _written(sagemaker.get("sagemaker_job_name")),
        "SAGEMAKER_REGION": _written(sagemaker.get("sagemaker_region", environ.get("AWS_DEFAULT_REGION"))),
    }


def variables_of(env: Json, arguments: List[str]) -> Dict[str, str]:
    """The toolkit's, of its environment."""
    user, channels = env["hyperparameters"], env["channel_input_dirs"]
    inside = _ONLY_INSIDE.split()
    variables = {name: value for name, value in env.items() if name not in inside}
    if not env["topology"]:
        del variables["topology"]
    variables.update(channels=sorted(channels), framework_params=env["additional_framework_parameters"], hps=user)
    variables.update(training_env=env, user_args=arguments)
    variables.update({"channel_" + name: path for name, path in channels.items()})
    variables.update({"hp_" + name: value for name, value in user.items()})
    return {"SM_" + name.upper(): _written(value) for name, value in variables.items()}


def _written(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
