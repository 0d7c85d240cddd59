"""What MPI needs on the hosts of a cell: mpirun of this machine, and ways from host to host without a real sshd.

``ssh.py`` and ``sshd.py`` are programs that hosts find under these names, for the standard library of Python 3.8. A
real sshd drops every connection where a user namespace has one user. These pass a command and its three streams through
a socket in a directory that all hosts share; the path of a socket crosses networks.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from smspec.local.engines.namespace.cell.plan import Bind
from smspec.local.running.request import RunFailed
from smspec.plan import Plan
from smspec.source.real_file import program_named
from smspec.spec.model import JobSpec, Mpi, SmDataParallel

DOORS = "/run/smspec/doors"
"""The directory that all hosts share."""

_NEEDED_PROGRAMS = (
    ("mpirun", "install Open MPI on this machine (on Debian: openmpi-bin), or pass --engine docker"),
    (
        "ssh-keygen",
        "install the client of OpenSSH on this machine (on Debian: openssh-client), or pass --engine docker",
    ),
)


def _stand_in(name: str, python: str) -> str:
    """Return the text of a program that runs on ``python``."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"), encoding="utf-8") as file:
        return f"#!{python} -IS\n{file.read()}"


def uses_mpi(job: JobSpec) -> bool:
    """Return whether mpirun starts the job."""
    return isinstance(job.distribution, Mpi)


def starts_python(plan: Plan) -> bool:
    """Return whether mpirun starts Python, with the module mpi4py, and not any other program."""
    run = plan.run
    return run is None or run.kind in ("module", "pipe_loop") or (run.kind == "script" and run.program.endswith(".py"))


def refuse_smdataparallel(job: JobSpec) -> None:
    """Reject a launcher that only AWS's images have. Raise RunFailed."""
    if isinstance(job.distribution, SmDataParallel):
        raise RunFailed(3, "the engine `namespace` does not support `smdataparallel`, a library of AWS's images")


def require_mpi(path: str, packages: Sequence[str]) -> None:
    """Check that this machine has what an image with MPI has. ``packages``: where the job's Python finds modules.

    Raise RunFailed.
    """
    for name, way in _NEEDED_PROGRAMS:
        if program_named(name, path=path) is None:
            raise RunFailed(3, f"cannot find `{name}`, which starts this job: {way}")
    if packages and not any(os.path.isdir(os.path.join(directory, "mpi4py")) for directory in packages):
        raise RunFailed(
            3,
            "cannot find `mpi4py`, which starts the processes of a Python script: add it to `image.python_packages`, "
            "or choose a Python that has it with --python",
        )


def added_programs(python: str) -> dict[str, str]:
    """Return the programs of /usr/sbin that hosts find whether this machine has them or not."""
    return {"sshd": _stand_in("sshd", python)}


def add_client(environment: str, python: str) -> None:
    """Add the stand-in for `ssh` to the programs of an environment, which are first on PATH."""
    path = os.path.join(environment, "bin", "ssh")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_stand_in("ssh", python))
    os.chmod(path, 0o755)


def shared_bind(scratch_dir: str) -> Bind:
    """Return the directory through which hosts reach each other."""
    path = os.path.join(os.path.abspath(scratch_dir), "doors")
    os.makedirs(path, exist_ok=True)
    return Bind(path, DOORS, True)
