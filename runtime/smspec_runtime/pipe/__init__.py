"""Pipe mode: FIFOs that SageMaker fills, one per channel and epoch.

for stream in smspec_runtime.job().channel("train").epochs(5):  # or pipe.open("/opt/ml/input/data/train_0")
    for record in stream.recordio(): ...
"""

from .errors import Corrupt, InUse, PipeError, TimedOut, Truncated
from .merge import merge
from .stream import Stream

open = Stream

__all__ = ["Corrupt", "InUse", "PipeError", "Stream", "TimedOut", "Truncated", "merge", "open"]
