"""The tree of a job outside SageMaker."""

import json
import os
import socket
import time

from .layout import ROOT, Layout
from .log import log


def make_local_tree() -> str:
    """Create it in the home directory, as the toolkit does. Return its root."""
    home = os.path.expanduser("~")
    if home == "/" or not os.path.isabs(home):  # The image may not know the user.
        home = "/tmp"
    layout = Layout(f"{home}/sagemaker_local/jobs/{time.time()}{ROOT}")
    host, group = socket.gethostname(), "homogeneousCluster"
    groups = [{"instance_group_name": group, "instance_type": "local", "hosts": [host]}]
    resources = {"current_host": host, "hosts": [host], "current_instance_group": group, "instance_groups": groups}
    try:
        for directory in (layout.model, layout.input_config, layout.output_data):
            os.makedirs(directory)
        for name, content in (("hyperparameters", {}), ("inputdataconfig", {}), ("resourceconfig", resources)):
            with open(f"{layout.input_config}/{name}.json", "w", encoding="ascii") as file:
                json.dump(content, file)
    except OSError as error:
        log(f"{ROOT} is not there, and another tree cannot be made: {error}")
        return ROOT
    log(f"{ROOT} is not there, so the job is in {layout.root}")
    return layout.root
