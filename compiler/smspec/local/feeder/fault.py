"""The exceptions for data that cannot be fed. Their texts are for the author: lower case, no full stop."""

import errno
import os


class ChannelDataError(Exception):
    """The data of a channel are invalid."""


class StoreUnavailable(ChannelDataError):
    """The store of the data cannot be reached or denies access: the data themselves are not the reason."""


def unreadable(path: str, error: OSError) -> ChannelDataError:
    """Return the exception for a file that cannot be read."""
    return ChannelDataError("cannot read `{}`: {}".format(path, reason(error)))


def reason(error: OSError) -> str:
    """Return the message of the system, in lower case."""
    path = error.filename
    if error.errno == errno.ENOENT and path and os.path.islink(path):
        return "it is a link to `{}`, which does not exist".format(os.readlink(path))
    return (error.strerror or str(error)).lower()
