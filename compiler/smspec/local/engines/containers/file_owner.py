"""Give the author the files that containers wrote as other users, with the `chown` of an image, which root runs.

The image may come from a stranger, and its `chown` do anything. It reaches what the job could write, and nothing above:
the mode of the directory of all hosts is what keeps other users of this machine from programs in it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from smspec.local.engines.containers.client import Client, ClientFailed, mount

_RIGHTS = ("--cap-drop", "ALL", "--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE")


def give_files(client: Client, image: str, directory: str, *, owner: str, label: str) -> None:
    """Change the owner of everything in the directories of the hosts below ``directory``, if that is possible.

    Nothing of it runs afterwards. If smspec is killed, the next run removes what has the ``label``.
    """
    with os.scandir(directory) as entries:
        hosts = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    if not hosts:
        return
    name = f"smspec-{os.getpid()}-{os.urandom(3).hex()}-owner"
    words = ["run", "--rm", "--name", name, "--label", label, "--user", "0:0", "--network", "none", *_RIGHTS]
    for host in hosts:
        words += ["--mount", mount(os.path.join(os.path.abspath(directory), host), f"/hosts/{host}")]
    try:
        with suppress(ClientFailed):
            client.run(*words, "--entrypoint", "chown", image, "-R", owner, *(f"/hosts/{host}" for host in hosts))
    finally:
        client.try_to("rm", "--force", "--volumes", name)  # the client may have ended before its container
