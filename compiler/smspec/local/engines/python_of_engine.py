"""Engines that start no image: a Python of this machine runs the job, with its packages, and feeds it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from smspec.local.channels.feeder_process import FeederProcess, own_feeder
from smspec.local.channels.mounted_data import MountedChannel
from smspec.local.feeder.plan import FeederPlan
from smspec.local.python.job_python import JobPython
from smspec.local.running.run_directory import RunDirectory
from smspec.local.running.training_request import Host


class PythonOfEngine:
    """The part of `Engine` that all of them have. An engine sets ``_python`` when it is created."""

    limits_memory = False
    mounts_data = False
    _python: JobPython

    def mount(self, data: Mapping[tuple[str, str], MountedChannel]) -> None:
        """Do nothing: hosts have copies."""

    def feed(self, host: Host, plan: FeederPlan, directory: RunDirectory) -> FeederProcess:
        """Start the feeder of a host on this machine."""
        return own_feeder(host.name, plan, os.path.join(directory.host(host.name).root, "feeder.json"))

    @property
    def python(self) -> str:
        return self._python.interpreter.executable

    @property
    def python_version(self) -> str:
        return self._python.interpreter.version

    @property
    def locked_packages(self) -> int:
        return self._python.locked_packages
