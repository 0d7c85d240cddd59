"""Environment variables of a job's script, by SageMaker's names; a test compares them with those of the runtime."""

from __future__ import annotations

from smspec.diagnostics.suggestions import nearest

_PREFIX = "SM_"

SET = frozenset(
    {"SM_CHANNELS", "SM_CURRENT_HOST", "SM_CURRENT_INSTANCE_GROUP", "SM_CURRENT_INSTANCE_GROUP_HOSTS"}
    | {"SM_CURRENT_INSTANCE_TYPE", "SM_DISTRIBUTION_INSTANCE_GROUPS", "SM_FRAMEWORK_MODULE", "SM_FRAMEWORK_PARAMS"}
    | {"SM_HOSTS", "SM_HPS", "SM_INPUT_CONFIG_DIR", "SM_INPUT_DATA_CONFIG", "SM_INPUT_DIR", "SM_INSTANCE_GROUPS"}
    | {"SM_INSTANCE_GROUPS_DICT", "SM_IS_HETERO", "SM_LOG_LEVEL", "SM_MODEL_DIR", "SM_MODULE_DIR", "SM_MODULE_NAME"}
    | {"SM_NETWORK_INTERFACE_NAME", "SM_NUM_CPUS", "SM_NUM_GPUS", "SM_NUM_NEURONS", "SM_OUTPUT_DATA_DIR"}
    | {"SM_OUTPUT_DIR", "SM_OUTPUT_INTERMEDIATE_DIR", "SM_RESOURCE_CONFIG", "SM_TOPOLOGY", "SM_TRAINING_ENV"}
    | {"SM_USER_ARGS", "SM_USER_ENTRY_POINT"}
)

OF_IMAGES = frozenset(
    {"SM_CHECKPOINT_CONFIG_FILE", "SM_DLC_TORCH_VERSION", "SM_INPUT", "SM_INPUT_DATA_CONFIG_FILE"}
    | {"SM_INPUT_TRAINING_CONFIG_FILE", "SM_STUDIO_LOCAL_MODE"}
)
"""Some images of AWS set these."""

OF_OTHER_STARTERS = frozenset(
    {"SM_CURRENT_HOST_RANK", "SM_DISTRIBUTED_CONFIG", "SM_DISTRIBUTED_DRIVER_DIR", "SM_ENTRY_SCRIPT", "SM_HOST_COUNT"}
    | {"SM_INPUT_DATA_DIR", "SM_MASTER_ADDR", "SM_MASTER_PORT", "SM_NPROC_PER_NODE", "SM_SOURCE_DIR"}
)
"""Only jobs that the ModelTrainer of the SageMaker SDK starts have these."""


def is_set(name: str) -> bool:
    """Return whether a job, or an image of AWS, sets a variable."""
    return name in SET or name in OF_IMAGES


def near_variable(name: str) -> str | None:
    """Return the variable that a name probably means: a similar one, or a prefix of the name."""
    if name in OF_OTHER_STARTERS:
        return None
    if not name.startswith(_PREFIX):
        # A letter of the prefix is missing: any other name may be anything.
        damaged = (known for known in SET if name in (known[1:], known[0] + known[2:], known[:2] + known[3:]))
        return next(damaged, None)
    begun = [known for known in SET if name.startswith(known)]
    return nearest(name, sorted(SET)) or max(begun, key=len, default=None)
