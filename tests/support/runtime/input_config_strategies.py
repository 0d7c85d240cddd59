"""Contents of /opt/ml/input/config for hypothesis: valid, nearly valid, and arbitrary."""

import json
import os
import sys
from pathlib import Path

from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[3] / "runtime"))

from smspec_runtime.hyperparameters import RESERVED
from smspec_runtime.toolkit import LAUNCHERS

FILES = ("resourceconfig.json", "inputdataconfig.json", "hyperparameters.json")
texts = st.text(st.characters(), max_size=12)  # Surrogates, NUL and line ends too.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["algo-1", "algo-2", "", ".", "a" * 64, "é", "\0", "\ud800"]) | json_values
GROUP = {"instance_group_name": "a", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]}
RESOURCE_CONFIG = {"hosts": ["algo-1", "algo-2"], "current_host": "algo-1", "current_group_name": "a"}
CHANNEL = {"TrainingInputMode": "File", "RecordWrapperType": "None"}
SETTINGS = {"epochs": 2, "read": {"train": "csv"}, "launcher": {"port": 1}, "checkpoints": "/opt/ml/x", "prefetch": 1}
SETTINGS.update(attributes={"train": ["a"]}, open_timeout=9)
SPECIAL = [
    *(*RESERVED, *LAUNCHERS, "sagemaker_distribution_instance_groups", "sagemaker_mpi_num_processes"),
    *("sagemaker_smspec", "sagemaker_smspec_1", "=", "a=b", "a\nb", "a\0b", "\udc80", "", "-", "api_key"),
]
values = json_values | json_values.map(json.dumps)


def json_bytes(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def json_of(value):
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value


def nearly(right, spoilt=json_values):
    """Draw an object that is right but for some of its members."""
    return st.dictionaries(st.sampled_from(sorted(right)), spoilt, max_size=1).map(lambda wrong: {**right, **wrong})


resource_configs = st.builds(
    lambda config, more: {**config, **more},
    nearly(RESOURCE_CONFIG, st.lists(names, max_size=4) | names),
    st.fixed_dictionaries(
        {},
        optional={
            "instance_groups": st.lists(nearly(GROUP), max_size=3) | json_values,
            "network_interface_name": texts | json_values,
            "topology": json_values,
        },
    ),
)
channels = st.dictionaries(st.sampled_from(["train", "smspec", "a-b"]) | texts, nearly(CHANNEL), max_size=3)
# A directory of this machine would be copied as the code of the job.
hyperparameters = st.builds(
    lambda user, own: {**user, **own},
    st.dictionaries(st.sampled_from(SPECIAL) | texts, values, max_size=4),
    st.fixed_dictionaries({}, optional={"sagemaker_smspec": nearly(SETTINGS).map(json.dumps)}),
).filter(lambda drawn: not os.path.exists(str(json_of(drawn.get("sagemaker_submit_directory", "")))))


any_bytes = st.binary(max_size=60) | json_values.map(json_bytes)
