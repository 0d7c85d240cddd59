"""The environment variables of the containers of a run.

A job that reads S3 runs with a role in SageMaker, so a container gets the credentials that variables contain.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from smspec.local.engines.containers.author_variables import author_variables
from smspec.local.engines.containers.client import ClientFailed
from smspec.local.engines.containers.engine_facts import EngineFacts
from smspec.local.engines.containers.loopback_relay import LoopbackRelay, loopback_servers
from smspec.local.engines.containers.network import Network
from smspec.local.engines.containers.sidecar import Companions
from smspec.local.engines.engine import BY_NAME, JobToRun
from smspec.local.running.disturbances import NO_FAULTS
from smspec.local.running.job_variables import author_secrets, variables_of_sagemaker
from smspec.local.running.request import FaultRefused, RunFailed
from smspec.local.running.training_request import TrainingRequest


class HostEnvironment:
    """What all hosts have in their environment: from SageMaker, the spec, the author, and injected faults."""

    def __init__(self, run: JobToRun, training: TrainingRequest, facts: EngineFacts, interface: str) -> None:
        self._run = run
        self._training = training
        self._facts = facts
        self._interface = interface
        self.is_isolated = bool(training.payload.get("EnableNetworkIsolation"))
        self._inherited = {} if self.is_isolated else author_variables(os.environ)
        self._faults = (run.request.faults or NO_FAULTS).variables

    @property
    def differences(self) -> list[str]:
        """Return which servers the hosts do not reach."""
        if self._run.request.reaches_loopback:
            return []
        return [
            f"`{name}` is an address of this machine, which hosts reach only with --host-loopback"
            for name in loopback_servers(self._inherited)
        ]

    def variables(
        self, companions: Companions, network: Network, undo: ExitStack
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the variables, and apart from them those that may be secret.

        Start what leads to servers of this machine, if hosts need it; ``undo`` ends it. Raise RunFailed.
        """
        inherited, faults = dict(self._inherited), dict(self._faults)
        relay = self._relay(companions, network)
        if relay is not None:
            undo.callback(relay.close)
            inherited = {name: relay.reached(value) for name, value in inherited.items()}
            faults = {name: relay.reached(value) for name, value in faults.items()}
        secrets = author_secrets(self._run.job.secrets, os.environ)
        variables = {
            **variables_of_sagemaker(self._run.job, self._training, os.environ, self._interface),
            **self._training.environment,
            **faults,
        }
        if secrets:
            variables["SMSPEC_LOCAL_LEADER"] = BY_NAME
        kept = {name: value for name, value in inherited.items() if name not in variables}
        return variables, {**kept, **secrets}

    def _relay(self, companions: Companions, network: Network) -> LoopbackRelay | None:
        servers = [server for each in (self._inherited, self._faults) for server in loopback_servers(each).values()]
        if not servers or self.is_isolated or not self._run.request.reaches_loopback:
            return None
        address = network.relay_address
        directory = os.path.join(os.path.abspath(self._run.request.scratch_dir), "relay")
        os.makedirs(directory)
        try:
            place = None if self._facts.is_apart else directory
            return LoopbackRelay(companions, network.options(address), address, servers, place)
        except (ClientFailed, OSError) as fault:
            message = f"hosts cannot reach servers of this machine: {fault}"
            raise FaultRefused(message) if self._faults else RunFailed(3, message) from None
