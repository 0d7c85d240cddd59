"""Runs the script `train.py` of the source directory, in one process per host.

The source is in /opt/ml/code of the image.
The plan made with the image is run_plan.json next to this file; what the job decides (hyperparameters, channels,
hosts) is read from /opt/ml/input/config. SageMaker starts this file with the word `train`.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[:1] != [HERE]:  # `python3 -I` and PYTHONSAFEPATH omit it
    sys.path.insert(0, HERE)

if sys.version_info < (3, 8):
    from smspec_runtime.old_python import refuse

    refuse()

from smspec_runtime.early_signals import hold_early_signals  # noqa: E402

if __name__ == "__main__":
    hold_early_signals()  # before all that takes time to load
    from smspec_runtime.main import end, main

    end(main(sys.argv[1:], os.path.join(HERE, "run_plan.json")))
