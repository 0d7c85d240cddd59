"""Where things lie in a training container. Paths only: nothing here looks at the disk."""

import os

from .lean_typing import NamedTuple

ROOT = "/opt/ml"


class Layout(NamedTuple):
    """The directories and files of one host, all below ``root``."""

    root: str = ROOT

    @property
    def code(self) -> str:
        return os.path.join(self.root, "code")

    @property
    def model(self) -> str:
        return os.path.join(self.root, "model")

    @property
    def checkpoints(self) -> str:
        return os.path.join(self.root, "checkpoints")

    @property
    def input(self) -> str:
        return os.path.join(self.root, "input")

    @property
    def input_config(self) -> str:
        return os.path.join(self.root, "input", "config")

    @property
    def data(self) -> str:
        """Holds the channels: ``<channel>`` in File and FastFile mode, ``<channel>_<epoch>`` in Pipe mode."""
        return os.path.join(self.root, "input", "data")

    def channel(self, name: str) -> str:
        return os.path.join(self.data, name)

    @property
    def output(self) -> str:
        return os.path.join(self.root, "output")

    @property
    def output_data(self) -> str:
        return os.path.join(self.root, "output", "data")

    @property
    def output_intermediate(self) -> str:
        return os.path.join(self.root, "output", "intermediate")

    @property
    def failure(self) -> str:
        """SageMaker shows the first 1024 characters of this file as FailureReason."""
        return os.path.join(self.root, "output", "failure")

    @property
    def success(self) -> str:
        return os.path.join(self.root, "output", "success")
