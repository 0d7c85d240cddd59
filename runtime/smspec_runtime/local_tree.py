"""The tree of a job outside SageMaker, where nobody has laid one out."""

import json
import os
import socket
import time

from .layout import ROOT, Layout
from .log import log


def make_local_tree() -> str:
    """Make what SageMaker's own toolkit makes below the home directory: one host, no channels. Return its root."""
    home = os.path.expanduser("~")
    home = home if os.path.isabs(home) else "/tmp"  # Without HOME, a user whom the image does not know has none.
    layout = Layout(f"{home}/sagemaker_local/jobs/{time.time()}{ROOT}")
    host = socket.gethostname()
    group = {"instance_group_name": "homogeneousCluster", "instance_type": "local", "hosts": [host]}
    groups = {"current_instance_group": "homogeneousCluster", "instance_groups": [group]}
    resources = {"current_host": host, "hosts": [host], **groups}
    files = {"hyperparameters": {}, "inputdataconfig": {}, "resourceconfig": resources}
    try:
        for directory in (layout.model, layout.input_config, layout.output_data):
            os.makedirs(directory)
        for name, content in files.items():
            with open(os.path.join(layout.input_config, name + ".json"), "w", encoding="ascii") as file:
                json.dump(content, file)
    except OSError as error:
        log(f"{ROOT} is not there, and another tree cannot be made: {error}")
        return ROOT
    log(f"{ROOT} is not there, so the job is in {layout.root}")
    return layout.root
