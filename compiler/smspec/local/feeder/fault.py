"""The one exception that says: these data cannot be fed."""


class DataError(Exception):
    """The data of a channel are at fault. The text is for the author: lower case, no full stop."""
