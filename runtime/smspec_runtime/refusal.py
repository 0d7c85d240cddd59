"""The one exception of the runtime: the job cannot be started, and this is why."""


class Refused(Exception):
    """Say why the program cannot be started. The message is for the author of the job: it becomes the failure file.

    ``title`` is the word before the colon; ``exit_status`` what the container exits with.
    """

    def __init__(self, message: str, title: str = "ClientError", exit_status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.title = title
        self.exit_status = exit_status
