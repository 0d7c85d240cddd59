"""The exceptions that say: these data cannot be fed. Their texts are for the author: lower case, no full stop."""

import errno
import os


class ChannelDataError(Exception):
    """The data of a channel are at fault."""


class StoreUnavailable(ChannelDataError):
    """The store of the data cannot be reached or denies access: the data themselves are not at fault."""


def unreadable(path: str, error: OSError) -> ChannelDataError:
    """Return the fault of a file that cannot be read."""
    return ChannelDataError("cannot read `{}`: {}".format(path, reason(error)))


def reason(error: OSError) -> str:
    """Return why the system rejects, in lower case."""
    path = error.filename
    if error.errno == errno.ENOENT and path and os.path.islink(path):
        return "it is a link to `{}`, which does not exist".format(os.readlink(path))
    return (error.strerror or str(error)).lower()
