"""The exceptions that say: these data cannot be fed. Their texts are for the author: lower case, no full stop."""


class DataError(Exception):
    """The data of a channel are at fault."""


class StoreUnavailable(DataError):
    """Where the data are cannot be reached, or does not let us in: the surroundings are at fault, not the data."""
