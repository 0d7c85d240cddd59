"""The Python of engines that start no image: an interpreter of this machine with the job's packages."""

from __future__ import annotations

from smspec.local.python.job_python import JobPython


class PythonOfEngine:
    """The part of `Engine` that all of them have. An engine sets ``_python`` when it is created."""

    limits_memory = False
    _python: JobPython

    @property
    def python(self) -> str:
        return self._python.interpreter.executable

    @property
    def python_version(self) -> str:
        return self._python.interpreter.version

    @property
    def locked_packages(self) -> int:
        return self._python.locked_packages
