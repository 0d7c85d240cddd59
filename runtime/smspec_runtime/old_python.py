"""Ends the job in words on a Python that cannot read the runtime. Parses on Python 2.7, as ``__init__`` does."""

import sys

_FAILURE = "/opt/ml/output/failure"


def refuse(path=_FAILURE):
    # type: (str) -> None
    text = "the image has Python %d.%d, and the runtime needs Python 3.8 or later" % sys.version_info[:2]
    try:
        with open(path, "w") as file:
            file.write(text)
    except (IOError, OSError):
        pass
    sys.exit("smspec: " + text)
