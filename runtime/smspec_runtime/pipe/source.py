"""A FIFO, and layers on top."""

from typing import Any, Union

from .fifo import Fifo


class Layer:
    """The source below does the rest."""

    def __init__(self, below: "Source") -> None:
        self.below = below

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


Source = Union[Fifo, Layer]
