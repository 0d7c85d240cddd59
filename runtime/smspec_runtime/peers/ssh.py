"""The hosts of a team as OpenSSH servers."""

import os

from ..lean_typing import Mapping
from ..log import log
from .keys import DIRECTORY, SSH, Keys, write_private

# PAM would put /etc/environment over the job's.
_OPTIONS = (
    *("UsePAM=no", "PermitUserEnvironment=yes", "PermitRootLogin=prohibit-password", "PasswordAuthentication=no"),
    *(f"HostKey={Keys(DIRECTORY).host}", f"AuthorizedKeysFile={Keys(DIRECTORY).authorized}"),
)
SERVER = ["/usr/sbin/sshd", "-D", *(word for option in _OPTIONS for word in ("-o", option))]
_OWN = ("HOME", "LOGNAME", "MAIL", "PWD", "SHELL", "USER")


def write_ssh_environment(variables: Mapping[str, str]) -> None:
    """In sshd's format, without multi-line values."""
    lines = [f"{name}={value}\n" for name, value in variables.items() if name not in _OWN and "\n" not in value]
    try:
        os.makedirs(SSH, mode=0o700, exist_ok=True)
        write_private(SSH + "/environment", "".join(lines))
    except OSError as error:
        log(f"what is started through ssh lacks the job's environment: {error}")
