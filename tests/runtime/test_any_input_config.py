"""Any bytes and any JSON in ``input/config`` lead to a command or a reason, in one process.

The same is asked of real processes in tests/conformance/test_container_robustness.py, with fewer examples.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from support.examples import at_most

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))

from smspec_runtime.arguments import STYLES, arguments_of
from smspec_runtime.environment import Machine, sagemaker_variables
from smspec_runtime.failure import LIMIT, Report, refusal_text
from smspec_runtime.image_plan import plan_of
from smspec_runtime.input_config import read_input_config
from smspec_runtime.layout import Layout
from smspec_runtime.masking import masked_command, secret_values
from smspec_runtime.refusal import Refused
from smspec_runtime.toolkit import distribution_groups, launcher_options
from smspec_runtime.training_job import read_job
from smspec_runtime.variables import carried_variables
from support.runtime.input_config_strategies import (
    FILES,
    RESOURCE_CONFIG,
    any_bytes,
    channels,
    hyperparameters,
    resource_configs,
)


@settings(max_examples=at_most(400))
@given(resource=resource_configs, channels=channels, hyperparameters=hyperparameters)
def test_any_members_are_understood_or_rejected(resource, channels, hyperparameters):
    """Objects as SageMaker writes them, with members that it never writes."""
    check([json.dumps(content).encode() for content in (resource, channels, hyperparameters)])


@settings(max_examples=at_most(150))
@given(number=st.integers(0, 2), content=any_bytes)
def test_any_bytes_are_understood_or_rejected(number, content):
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
            report = Report(layout)
            report.fail(refusal_text(refusal))
            for descriptor in (report._root, report._output):
                os.close(descriptor)  # A job keeps them to its end; here are hundreds in one process.
            failure = Path(layout.failure).read_bytes()
            assert 0 < len(failure) <= LIMIT
            assert failure.decode().startswith("ClientError: ")
            return
        secrets = secret_values(config.hyperparameters.user)
        for name in STYLES:
            try:
                arguments = arguments_of(config.hyperparameters, name)
            except Refused as refusal:
                assert "cannot become an argument" in str(refusal)
                continue
            masked_command(arguments, secrets)
            groups = distribution_groups(config, name == "json")
            variables = sagemaker_variables(config, layout, Machine(1), "train.py", arguments, groups, {})
            for string in [*arguments, *map("=".join, carried_variables(variables).items())]:
                assert b"\0" not in os.fsencode(string)
        options = {**launcher_options(config), **config.settings.launcher}
        assert all(isinstance(name, str) for name in options)
        job = read_job({"SAGEMAKER_BASE_DIR": base})
        assert 0 <= job.host_rank < len(job.hosts)
        assert len(repr(job)) < 10_000
