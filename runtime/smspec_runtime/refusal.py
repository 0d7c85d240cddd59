"""The one exception of the runtime."""


class Refused(Exception):
    """The job cannot be started. The message becomes the failure file."""

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status
