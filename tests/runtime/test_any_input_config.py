"""Any bytes and any JSON in ``input/config``: from the files to the command and back to a refusal, in one process.

The same is asked of real processes in tests/conformance/test_container_robustness.py, with fewer examples.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))

from smspec_runtime.arguments import STYLES
from smspec_runtime.environment import DISTRIBUTION_FLAGS, Entry, Machine, sagemaker_variables
from smspec_runtime.failure import LIMIT, Reserve, refusal_text, write_failure
from smspec_runtime.hyperparameters import RESERVED
from smspec_runtime.input_config import read_input_config
from smspec_runtime.layout import Layout
from smspec_runtime.masking import masked_words, secret_values
from smspec_runtime.refusal import Refused
from smspec_runtime.toolkit import launcher_options, plan_of
from smspec_runtime.training_job import read_job
from smspec_runtime.variables import carried_hyperparameters, carried_variables

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
    *(*RESERVED, *DISTRIBUTION_FLAGS, "sagemaker_distribution_instance_groups", "sagemaker_mpi_num_processes"),
    *("sagemaker_smspec", "sagemaker_smspec_1", "=", "a=b", "a\nb", "a\0b", "\udc80", "", "-", "api_key"),
]
values = json_values | json_values.map(json.dumps)


def json_bytes(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


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
hyperparameters = st.builds(
    lambda user, own: {**user, **own},
    st.dictionaries(st.sampled_from(SPECIAL) | texts, values, max_size=4),
    st.fixed_dictionaries({}, optional={"sagemaker_smspec": nearly(SETTINGS).map(json.dumps)}),
)


@settings(max_examples=400)
@given(resource=resource_configs, channels=channels, hyperparameters=hyperparameters)
def test_any_members_are_understood_or_refused(resource, channels, hyperparameters):
    """Objects as SageMaker writes them, with members that it never writes."""
    check([json.dumps(content).encode() for content in (resource, channels, hyperparameters)])


@settings(max_examples=150)
@given(number=st.integers(0, 2), content=st.binary(max_size=60) | json_values.map(json_bytes))
def test_any_bytes_are_understood_or_refused(number, content):
    contents = [json.dumps(RESOURCE_CONFIG).encode(), b"{}", b"{}"]
    check([*contents[:number], content, *contents[number + 1 :]])


def check(contents):
    """Read the files and make everything of them that the program is given. Nothing but a refusal may be raised."""
    with tempfile.TemporaryDirectory() as base:
        layout = Layout(base)
        os.makedirs(layout.input_config)
        for name, content in zip(FILES, contents, strict=True):
            (Path(layout.input_config) / name).write_bytes(content)
        try:
            config = read_input_config(layout)
            plan_of(config, {})
        except Refused as refusal:
            write_failure(layout, Reserve(layout), refusal_text(refusal.title, refusal.message, refusal.exit_status))
            failure = Path(layout.failure).read_bytes()
            assert 0 < len(failure) <= LIMIT
            assert failure.decode().startswith("ClientError: ")
            return
        for name, style in STYLES.items():
            arguments = style(carried_hyperparameters(config.hyperparameters, style))
            masked_words(arguments)
            entry = Entry("train.py", arguments, has_launcher=name == "json")
            variables = sagemaker_variables(config, layout, Machine(cpus=1), entry, {})
            for string in [*arguments, *map("=".join, carried_variables(variables, arguments).items())]:
                assert b"\0" not in os.fsencode(string)
        options = {**launcher_options(config), **config.settings.launcher}
        assert all(isinstance(name, str) for name in options)
        secret_values(config.hyperparameters.user)
        job = read_job({"SAGEMAKER_BASE_DIR": base})
        assert 0 <= job.host_rank < len(job.hosts)
        assert len(repr(job)) < 10_000
