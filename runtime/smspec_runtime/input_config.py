"""Reads the files of ``input/config``, and trusts nothing in them."""

import json
import os
import stat

from .cluster import Cluster, decode_cluster
from .hyperparameters import Hyperparameters, join_settings, split_hyperparameters
from .layout import Layout
from .lean_typing import Dict, Json, NamedTuple
from .refusal import Refused
from .run_plan import RUNTIME_CHANNEL, RunSettings

SIZE_LIMIT = 64 << 20  # Bytes; a hundred hyperparameters have 250 kB at most.


class InputConfig(NamedTuple):
    """As in the files; ``channels`` without the runtime's."""

    cluster: Cluster
    resource_config: Json
    channels: Dict[str, Json]
    hyperparameters: Hyperparameters
    settings: RunSettings


def read_input_config(layout: Layout) -> InputConfig:
    resource_config = _read_object(layout, "resourceconfig.json")
    channels = _read_object(layout, "inputdataconfig.json")
    content = _read_object(layout, "hyperparameters.json")
    for name, channel in channels.items():
        if not isinstance(channel, dict):
            raise Refused(f"inputdataconfig.json: channel `{name}` is not an object")
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise Refused(f"inputdataconfig.json: `{name}` cannot be the name of a channel")
    channels.pop(RUNTIME_CHANNEL, None)
    place = "resourceconfig.json"
    try:
        cluster = decode_cluster(resource_config)
        place = "hyperparameters.json: settings of smspec"
        settings = join_settings(content)
    except (ValueError, TypeError, RecursionError) as error:
        raise Refused(f"{place}: {error}") from error
    return InputConfig(cluster, resource_config, channels, split_hyperparameters(content), settings)


def _read_object(layout: Layout, name: str) -> Json:
    path = f"{layout.input_config}/{name}"
    try:
        # Without O_NONBLOCK a FIFO would wait for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(None, "not a regular file")
            if status.st_size > SIZE_LIMIT:
                raise OSError(None, f"larger than {SIZE_LIMIT} bytes")
            content = json.loads(file.read().decode())
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise Refused(f"{path} is not a JSON object")
    return content
