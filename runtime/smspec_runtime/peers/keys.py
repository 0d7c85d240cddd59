"""The SSH keys of one start of a job, never in an image: only public keys leave a host."""

import os
import re
import shutil

from ..lean_typing import Callable, Mapping, Sequence
from ..outcome import Outcome
from ..refusal import Refused

SSH = os.path.expanduser("~root/.ssh" if os.getuid() == 0 else "~/.ssh")
DIRECTORY = SSH + "/smspec"
"""sshd reads no file where others can write, as in /tmp."""

_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{68}")
_SECONDS = 60.0
_CONFIG = """Host {hosts}
    IdentityFile "{own}"
    IdentitiesOnly yes
    UserKnownHostsFile "{known}"
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    CheckHostIP no
    HostKeyAlgorithms ssh-ed25519
    BatchMode yes
Host *
"""


class Keys:
    """``host``: this host's; ``authorized``: accepted by sshd."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.host, self._own = directory + "/host", directory + "/own"
        self.authorized, self._known_hosts = directory + "/authorized_keys", directory + "/known_hosts"

    def make(self, is_leader: bool, environ: Mapping[str, str], capture: Callable[..., Outcome]) -> None:
        try:
            shutil.rmtree(self._directory, ignore_errors=True)
            os.makedirs(self._directory, mode=0o700)
        except OSError as error:
            raise Refused(f"cannot make SSH keys in {self._directory}: {error.strerror}") from error
        for path in [self.host, self._own][: 1 + is_leader]:
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path]
            outcome = capture(words, environ, _SECONDS)
            if outcome.status:
                why = outcome.error or f"ssh-keygen ended with exit status {outcome.status}"
                raise Refused(f"cannot make SSH keys: {why}")
        if is_leader:
            self.admit(self.public())  # mpirun may reach its own host through ssh.

    def public(self) -> str:
        return _public(self._own)

    def public_of_host(self) -> str:
        return _public(self.host)

    def admit(self, key: str) -> None:
        """Let in the owner of this key alone."""
        write_private(self.authorized, key + "\n")

    def trust(self, host_keys: Mapping[str, Sequence[str]]) -> None:
        """Make ssh accept these hosts, whatever the image sets."""
        path = os.path.dirname(self._directory) + "/config"
        ours = _CONFIG.format(hosts=" ".join(host_keys), own=self._own, known=self._known_hosts)
        try:
            known = "".join(f"{host} {key}\n" for host, keys in host_keys.items() for key in keys)
            write_private(self._known_hosts, known)
            write_private(path, ours + _text(path))  # The first value counts.
        except OSError as error:
            raise Refused(f"cannot write the keys of the other hosts: {error}") from error


def checked(text: str) -> str:
    """Return a valid public key. Raises ValueError."""
    if not (found := _KEY.fullmatch(text.strip())):
        raise ValueError("this is not a public key of type ssh-ed25519")
    return found.group()


def _public(path: str) -> str:
    """Without the key's comment."""
    try:
        return checked(_text(path + ".pub"))
    except (OSError, ValueError) as error:
        raise Refused(f"cannot read the SSH key {path}.pub: {error}") from error


def _text(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def write_private(path: str, text: str) -> None:
    """Atomically: sshd may read it meanwhile."""
    new = path + ".new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(new, path)
