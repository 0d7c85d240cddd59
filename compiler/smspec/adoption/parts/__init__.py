"""One file for each part of a spec: what it takes out of a request, and the keys it writes for that.

A part takes only what its keys say exactly. `PARTS` is the order in which they take; `GROUPS` the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.adoption.parts import (
    algorithm,
    channels,
    environment,
    hosts,
    hyperparameters,
    network,
    stopping,
    storage,
    tags,
)
from smspec.adoption.remainder import Remainder

Part = Callable[[Remainder], Iterator["tuple[str, object]"]]

PARTS: tuple[Part, ...] = (
    algorithm.keys,
    channels.keys,
    hosts.keys,
    hyperparameters.keys,
    stopping.keys,
    storage.keys,
    network.keys,
    environment.keys,
    tags.keys,
)

GROUPS = (
    ("smspec", "name", "role", "region"),
    ("image", "entry_point"),
    ("input_mode", "channels"),
    ("hosts",),
    ("hyperparameters", "hyperparameter_encoding", "environment"),
    ("stopping", "spot", "retries"),
    ("output", "checkpoints", "tensorboard"),
    ("network",),
    ("metrics",),
    ("tags",),
    ("job_name",),
    ("api",),
    ("vars",),
)
"""The keys of an imported spec, in the order of docs/spec-reference.md, with a blank line between groups."""
