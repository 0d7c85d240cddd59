"""Pipe mode: FIFOs that SageMaker fills, one per channel and epoch."""

from .errors import Corrupt, InUse, PipeError, TimedOut, Truncated
from .merge import merge
from .stream import Stream

open = Stream

__all__ = ["Corrupt", "InUse", "PipeError", "Stream", "TimedOut", "Truncated", "merge", "open"]
