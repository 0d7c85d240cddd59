"""Where things lie in a training container."""

import os

ROOT = "/opt/ml"


class Layout:
    """``data`` holds the channels, as ``<channel>_<epoch>`` in Pipe mode."""

    def __init__(self, root: str = ROOT) -> None:
        self.root = root
        below = os.path.join(root, "")
        self.code = below + "code"
        self.model = below + "model"
        self.input = below + "input"
        self.input_config = self.input + "/config"
        self.data = self.input + "/data"
        self.output = below + "output"
        self.output_data = self.output + "/data"
        self.output_intermediate = self.output + "/intermediate"
        self.failure = self.output + "/failure"
        self.success = self.output + "/success"

    def channel(self, name: str) -> str:
        return os.path.join(self.data, name)
