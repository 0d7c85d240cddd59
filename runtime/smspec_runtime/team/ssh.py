"""What the hosts of a team need of OpenSSH: a server that answers, and the job's environment in what it starts."""

import os

from ..lean_typing import Mapping
from ..log import log

# PAM would put /etc/environment over the job's, and some of its modules fail in containers.
SERVER = ["/usr/sbin/sshd", "-D", "-o", "UsePAM=no", "-o", "PermitUserEnvironment=yes"]
_OWN = ("HOME", "LOGNAME", "MAIL", "PWD", "SHELL", "USER")


def ssh_answers(host: str) -> bool:
    """Whether an SSH server greets whoever connects to a host."""
    import socket  # Late: a job of one host has no use for it.

    try:
        with socket.create_connection((host, 22), 5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def write_ssh_environment(variables: Mapping[str, str]) -> None:
    """Give the job's environment to what is started here through ssh, in ``~/.ssh/environment`` as sshd reads it.

    Without values of several lines, which have no form there.
    """
    lines = [f"{name}={value}\n" for name, value in variables.items() if name not in _OWN and "\n" not in value]
    directory = os.path.expanduser("~{}/.ssh".format("root" if os.getuid() == 0 else ""))
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        path = os.path.join(directory, "environment")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "wb") as file:
            file.write(os.fsencode("".join(lines)))
    except OSError as error:
        log(f"what is started through ssh lacks the job's environment: {error}")
