"""The plan of a feeder, to and from JSON."""

import json
from typing import Any, Dict, List, NamedTuple, Optional

from .injection import Injection


class FeederChannel(NamedTuple):
    """One channel of one host.

    ``source`` is a local directory or file, or an S3 URI; ``uri`` is the S3 URI that it replaces. ``s3_data_type``,
    ``compression``, and ``record_wrapper`` are the API's literals. This host is number ``shard`` of the ``shards`` that
    divide the objects among them; 0 of 1 if every host gets all. ``epochs`` None: as many as are read. ``tops``:
    directories without links that the files of a manifest must be in; none if they can be anywhere.
    """

    name: str
    source: str
    uri: str = ""
    s3_data_type: str = "S3Prefix"
    attributes: List[str] = []
    shard: int = 0
    shards: int = 1
    shuffle_seed: Optional[int] = None
    compression: str = "None"
    record_wrapper: str = "None"
    epochs: Optional[int] = None
    tops: List[str] = []


class FeederPlan(NamedTuple):
    """``directory``: where the FIFOs are created. ``rate``: bytes per second, for each channel; None: no limit.

    ``injection``: the faults to inject, in every channel.
    """

    directory: str
    channels: List[FeederChannel]
    rate: Optional[int] = None
    injection: Optional[Injection] = None

    def to_json(self) -> str:
        """Return the plan as one line of JSON."""
        members = dict(self._asdict(), channels=[channel._asdict() for channel in self.channels])
        if self.injection is not None:
            members["injection"] = self.injection._asdict()
        return json.dumps(members, sort_keys=True)


def decode_plan(text: str) -> FeederPlan:
    """Parse what `FeederPlan.to_json` wrote. Raise ValueError if it is something else."""
    members: Dict[str, Any] = json.loads(text)
    try:
        channels = [FeederChannel(**channel) for channel in members.pop("channels")]
        injection = members.pop("injection", None)
        if injection is not None:
            injection = Injection(**injection)
        return FeederPlan(channels=channels, injection=injection, **members)
    except (AttributeError, KeyError, TypeError) as fault:
        raise ValueError("not a plan of this feeder: {}".format(fault)) from None
