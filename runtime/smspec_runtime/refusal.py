"""The one exception of the runtime."""


class Refused(Exception):
    """The job cannot be started. ``title: message`` becomes the failure file."""

    def __init__(self, message: str, title: str = "ClientError", exit_status: int = 1) -> None:
        super().__init__(message)
        self.message, self.title, self.exit_status = message, title, exit_status
