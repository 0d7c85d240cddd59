"""``python -m smspec_runtime train``: a drop-in for the `train` of SageMaker's own toolkit, in any image."""

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
