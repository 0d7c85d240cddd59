"""The paths of a training container."""

import os

ROOT = "/opt/ml"


class Layout:
    """``code``: elsewhere if the user may not write below the root."""

    def __init__(self, root: str = ROOT, code: str = "") -> None:
        self.root = root
        below = os.path.join(root, "")
        self.code = code or below + "code"
        self.model = below + "model"
        self.input = below + "input"
        self.input_config = self.input + "/config"
        self.output = below + "output"
        self.output_data = self.output + "/data"
        self.output_intermediate = self.output + "/intermediate"
        self.failure = self.output + "/failure"
        self.success = self.output + "/success"

    def channel(self, name: str) -> str:
        """A FIFO is this and ``_<epoch>``."""
        return f"{self.input}/data/{name}"
