"""A serverless job has its own code and instances."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM479", "member that a serverless job does not support", evidence="third-party-schema")
EXCLUDED = {
    "AlgorithmSpecification": "image",
    "EnableManagedSpotTraining": "spot",
    "Environment": "environment",
    "RetryStrategy": "retries",
    "CheckpointConfig": "checkpoints",
    "DebugHookConfig": "DebugHookConfig",
    "ExperimentConfig": "ExperimentConfig",
    "ProfilerConfig": "ProfilerConfig",
    "ProfilerRuleConfigurations": "ProfilerRuleConfigurations",
    "TensorBoardOutputConfig": "tensorboard",
}
"""Members, and the keys of a spec that set them."""


def check(request: Request) -> Iterator[Finding]:
    """Reject the members that a serverless job excludes. Spot training that is off does not count."""
    if not request.is_serverless:
        return
    for name, key in EXCLUDED.items():
        if request.payload.get(name, False) is not False:
            yield RULE.at(
                (name,),
                f"`{request.word(name, key)}` cannot be combined with `ServerlessJobConfig`",
                help="remove one of them",
                on="key",
            )
