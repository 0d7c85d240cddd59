"""The Python of one run: its interpreter, its packages, and an environment for each host."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from smspec.installers import own_pip_settings, variables_of_installers
from smspec.local.python.environment import EnvironmentCache, copy_scripts, make_environment, make_layer, unpack_wheels
from smspec.local.python.interpreter import (
    Interpreter,
    fits,
    has_older_libc,
    matching_interpreter,
    named_interpreter,
    nearest_interpreter,
    usual_interpreter,
    without_foreign_packages,
)
from smspec.local.python.wanted import Wanted, secret_variables
from smspec.local.running.request import RunFailed, RunRequest
from smspec.service.requirement_lines import named_variables
from smspec.source.frozen import replace
from smspec.source.real_file import copy_files, files_below

_FORMAT = 2
_FROM_LIST = ("-r", "requirements.txt")
_LOCKED = ("--require-hashes", "--no-deps", *_FROM_LIST)
_INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_DEFAULT_INDEX")
_CREDENTIALS = re.compile(r"AWS_.*(?:KEY|TOKEN).*")
_SELF_CONTAINED = re.compile(r"\s*(?:#.*|[A-Za-z0-9][^/\\]*|--hash=\S+.*|(?:-i|--(?:extra-)?index-url)\b.*)?")
"""A line of a requirements file that does not depend on the path of the file."""


class JobPython:
    """Prepared once for a run, before anything is written; then each host gets its own environment."""

    def __init__(
        self,
        wanted: Wanted,
        request: RunRequest,
        cache: EnvironmentCache,
    ) -> None:
        named = request.python
        self.interpreter = named_interpreter(named) if named is not None else _interpreter(wanted)
        self._fits_lock = wanted.locked is not None and fits(self.interpreter, wanted.locked)
        self._wanted = wanted if self._fits_lock else _unlocked(wanted)
        self._locked = wanted.locked
        self._is_named = named is not None
        self._request = request
        self._cache = cache
        cache.trust(self.interpreter.base)
        self._layers: list[str] = []
        self._pip_settings: list[str] = []

    @property
    def differences(self) -> list[str]:
        """Return the differences from the image."""
        found = []
        wanted, interpreter = self._wanted, self.interpreter
        if wanted.version is not None and wanted.version != interpreter.minor:
            way = "" if self._is_named else f"; `--fetch-python` fetches {wanted.version}"
            found.append(
                f"the image has Python {wanted.version}; running with {interpreter.version} of this machine{way}"
            )
        if self._locked is not None and not self._fits_lock and not self._is_named:
            newer = " with a newer C library" if has_older_libc(interpreter, self._locked) else ""
            found.append(
                f"smspec.lock has packages for Python {self._locked.python} on {self._locked.platform}{newer}; "
                "installed those that the spec lists instead"
            )
        if self._is_named:
            missing = [word for word in self._requirements() if not _is_met(word, interpreter.packages)]
            if missing:
                found.append(f"{interpreter.executable} does not have {_listed(missing)}")
        elif not wanted.is_known:
            found.append(f"the packages of the image are unknown; running with those of {interpreter.executable}")
        return found

    @property
    def locked_packages(self) -> int:
        """How many packages are installed as the lock has them."""
        return len(self._locked.packages) if self._locked is not None and self._fits_lock and not self._is_named else 0

    @property
    def package_count(self) -> int:
        """How many packages the lock or the spec lists for the job."""
        return 0 if self._is_named else self.locked_packages or len(self._requirements())

    @property
    def is_cached(self) -> bool:
        """Whether everything that hosts share was installed by an earlier run."""
        key = self._image_key()
        if not self._cache.has(key):
            return False
        starts, image = self._starts(), self._cache.path(key)
        return not starts or any(self._cache.has(self._start_key(image, *start)) for start in starts)

    def prepare(self, *, may_install: bool, show: Callable[[str], None]) -> None:
        """Create the environment that hosts share, or use the cached one. Raise RunFailed."""
        wanted = self._wanted
        if self._is_named and not wanted.installs:
            return
        turns = self._turns()
        is_needed = bool(turns) or wanted.installs
        try:
            self._layers = [self._image_layer(turns, may_install or not turns, show)]
        except (RunFailed, OSError) as fault:
            if isinstance(fault, RunFailed) and fault.exit_status == 1 and self._may_need_newer_libc:
                show("the packages of smspec.lock do not fit the C library of this machine")
                self._fits_lock, self._wanted = False, _unlocked(wanted)
                self.prepare(may_install=may_install, show=show)
            elif is_needed:
                raise
            return  # there is no pip then, and nothing requires it
        starts = self._starts()
        if starts and not any(self._prepare_start(*start, may_install, show) for start in starts):
            self._refuse_unless(may_install)

    @property
    def _may_need_newer_libc(self) -> bool:
        """Whether the wheels of the lock were chosen for a newer C library: other ones have other hashes."""
        return self._fits_lock and self._locked is not None and has_older_libc(self.interpreter, self._locked)

    @property
    def programs(self) -> list[str]:
        """Return the directories with the programs of packages."""
        found = [os.path.join(layer, "bin") for layer in reversed(self._layers)]
        return [*found, os.path.dirname(self.interpreter.executable)] if self.is_lent else found

    @property
    def is_lent(self) -> bool:
        """Whether packages that the author has installed can be imported; nothing is ever written there."""
        return self._is_named or not self._wanted.is_known

    @property
    def libraries(self) -> list[str]:
        """Return the directories of installed packages."""
        own = [os.path.join(layer, self.interpreter.library) for layer in reversed(self._layers)]
        return [*own, *(self.interpreter.packages if self.is_lent else ())]

    @property
    def places(self) -> list[str]:
        """Return the files and directories of this machine that the job's Python reads."""
        return [self.interpreter.base, *self.interpreter.homes, *self._layers, *self.lent_places]

    @property
    def lent_places(self) -> list[str]:
        """Return those that the author fills: an environment, or the packages of a Python."""
        interpreter = self.interpreter
        return [*interpreter.packages, *interpreter.paths[:1]] if self.is_lent else []

    def make_environment_in(self, root: str, seen_as: str | None = None) -> None:
        """Create the environment of a host: what its job installs at run time stays there.

        ``seen_as``: its path on the host, if that is not the same.
        """
        python = make_environment(root, self.interpreter, self.libraries)
        copy_scripts(self.programs, self._cache.path(self._key()), python, seen_as)

    def variables(self, inherited: Mapping[str, str], root: str, *, may_install: bool) -> dict[str, str]:
        """Return the author's variables without those for other Pythons and their packages."""
        settings = os.path.join(root, "pip.conf")
        self._pip_settings.append(settings)
        kept = own_pip_settings(without_foreign_packages(inherited), settings)
        return {**kept, "PIP_NO_INDEX": "1"} if self._wanted.is_isolated or not may_install else kept

    def close(self) -> None:
        """Remove what may have the password of an index from the directory of the run."""
        for path in self._pip_settings:
            with suppress(OSError):
                os.unlink(path)

    def _image_layer(self, turns: Sequence[Sequence[str]], may_install: bool, show: Callable[[str], None]) -> str:
        def make(path: str, lock: int) -> None:
            from smspec.local.python.installing import Installer  # imported late: a second run installs nothing
            from smspec.local.record.progress import InstallerLines

            self._refuse_unless(may_install)
            environment = self._environment_of_pip(show)
            pip = files_below(os.path.join(environment, self.interpreter.library))
            copy_files(pip, make_layer(path, self.interpreter))
            show(f"installing {_listed(self._requirements())} for Python {self.interpreter.version} into {path}")
            wanted, authored = self._wanted, (self._wanted.unlocked or self._wanted).files
            Installer(
                interpreter=self.interpreter,
                environment=environment,
                layer=path,
                scratch_dir=self._request.scratch_dir,
                lock=lock,
                lines=InstallerLines(show, self._request),
                inherited=_variables(authored.values(), wanted.variables),
                secrets=secret_variables(wanted.secrets, os.environ, self._request.base_dir),
            ).install(turns, wanted.files)

        if turns:
            return self._held(self._image_key(), make, show)
        return self._environment_of_pip(show, is_compiled=self._wanted.installs)

    def _environment_of_pip(self, show: Callable[[str], None], *, is_compiled: bool = True) -> str:
        """Return the environment that has nothing but pip. No package is ever installed there: installers run on it.

        ``is_compiled``: that takes a second, and saves half of one whenever pip starts. Most jobs that install nothing
        never start it.
        """

        def make(path: str, _: int) -> None:
            show(f"creating an environment for Python {self.interpreter.version} in {path}")
            make_environment(path, self.interpreter)
            if not unpack_wheels(path, self.interpreter):
                raise RunFailed(
                    3,
                    f"cannot create an environment: {self.interpreter.executable} has no pip; "
                    "install its venv package (python3-venv), or pass --python",
                )
            if is_compiled:
                from smspec.local.python.installing import run_shown

                words = [self.interpreter.base, "-I", "-S", "-m", "compileall", "-q"]
                words.append(os.path.join(path, self.interpreter.library))
                run_shown(words, variables_of_installers(os.environ), lambda _: None)

        return self._held(self._key(is_compiled=is_compiled), make, show)

    def _prepare_start(
        self, words: Sequence[str], content: bytes, may_install: bool, show: Callable[[str], None]
    ) -> bool:
        """Also cache what the job installs at startup, so that its pip finds it installed; return whether it is cached.

        If that fails, the job's own pip fails as it would in SageMaker, with its message.
        """
        (image,) = self._layers

        def make(path: str, lock: int) -> None:
            from smspec.local.python.installing import Installer
            from smspec.local.record.progress import InstallerLines

            self._refuse_unless(may_install)
            make_layer(path, self.interpreter)
            show("installing requirements.txt of the source")
            Installer(
                interpreter=self.interpreter,
                environment=self._environment_of_pip(show),
                layer=path,
                below=(os.path.join(image, self.interpreter.library),),
                scratch_dir=self._request.scratch_dir,
                lock=lock,
                lines=InstallerLines(show, self._request),
                inherited=_variables([self._wanted.at_start or b""], self._wanted.variables_at_start),
            ).install([words], {"requirements.txt": content})

        try:
            self._layers.append(self._held(self._start_key(image, words, content), make, show))
        except RunFailed:
            return False
        return True

    def _held(self, key: str, make: Callable[[str, int], None], show: Callable[[str], None]) -> str:
        return self._cache.hold(key, make, lambda: show("waiting for a different run that installs the same packages"))

    def _refuse_unless(self, may_install: bool) -> None:
        if not may_install:
            raise RunFailed(
                3,
                f"the job's Python packages are not installed; run `{self._request.command}` once without --no-install",
            )

    def _turns(self) -> Sequence[Sequence[str]]:
        return () if self._is_named else self._wanted.turns

    def _starts(self) -> list[tuple[tuple[str, ...], bytes]]:
        """Return what may be installed in advance of the packages at startup, the best first: arguments and content.

        First those that the lock has, if they fit the interpreter and the image, then those that the author lists.
        """
        wanted = self._wanted
        if wanted.at_start is None or self._is_named:
            return []
        startup = wanted.start_locked
        fits_image = self._locked is None or self._fits_lock
        found: list[tuple[tuple[str, ...], bytes]] = []
        if startup is not None and startup.locked is not None and startup.content is not None and fits_image:
            found += [(_LOCKED, startup.content)] if fits(self.interpreter, startup.locked) else []
        return [*found, (_FROM_LIST, wanted.at_start)] if _is_self_contained(wanted.at_start) else found

    def _image_key(self) -> str:
        turns = self._turns()
        if turns:
            return self._key(turns, self._wanted.files, self._wanted.variables)
        return self._key(is_compiled=self._wanted.installs)

    def _start_key(self, image: str, words: Sequence[str], content: bytes) -> str:
        files = {"image": image.encode(), "requirements.txt": content}
        return self._key([words], files, self._wanted.variables_at_start)

    def _key(
        self,
        turns: Sequence[Sequence[str]] = (),
        files: Mapping[str, bytes] | None = None,
        of_image: Mapping[str, str] | None = None,
        *,
        is_compiled: bool = True,
    ) -> str:
        """Return the digest of everything that determines the content of an environment: by default, of that of pip."""
        interpreter = self.interpreter
        machine = {name: value for name, value in os.environ.items() if turns and name in _INDEXES}
        members = {
            "format": _FORMAT,
            "interpreter": [interpreter.base, interpreter.version, *interpreter.kind],
            "turns": [list(words) for words in turns],
            "files": {name: hashlib.sha256(content).hexdigest() for name, content in (files or {}).items()},
            "variables": {
                name: hashlib.sha256(value.encode()).hexdigest()
                for name, value in {**machine, **(of_image or {})}.items()
            },
            **({} if is_compiled else {"compiled": False}),
        }
        return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()[:32]

    def _requirements(self) -> list[str]:
        """Return the packages that the image installs, as far as they are written out."""
        words = [word for turn in self._wanted.turns for word in turn if not word.startswith("-")]
        listed = [word for word in words if word not in self._wanted.files]
        for content in self._wanted.files.values():
            lines = (
                line.split("#")[0].split(" --hash")[0].strip(" \t\\")
                for line in content.decode(errors="replace").splitlines()
            )
            listed += [line for line in lines if line and not line.startswith("-")]
        return listed


def described(python: JobPython) -> str:
    """Return the Python of a run in a few words, such as ``Python 3.12.1, 16 packages, cached``."""
    words = [f"Python {python.interpreter.version}"]
    count = python.package_count
    if count:
        packages = f"{count} package{'s' if count > 1 else ''}"
        words += [packages, "cached"] if python.is_cached else [f"installing {packages}"]
    return ", ".join(words)


def _interpreter(wanted: Wanted) -> Interpreter:
    if wanted.version is None:
        return usual_interpreter()
    found = matching_interpreter(wanted.version)
    if found is None:
        # Where the packages of the image are unknown, the author's are used instead: they belong to the usual Python.
        found = nearest_interpreter(wanted.version) if wanted.is_known else usual_interpreter()
    return found


def _unlocked(wanted: Wanted) -> Wanted:
    """Return the Python that a job needs with the packages that its author lists."""
    if wanted.unlocked is None:
        return wanted
    return replace(wanted.unlocked, version=wanted.version, is_known=wanted.is_known)


def _variables(lists: Iterable[bytes], of_image: Mapping[str, str]) -> dict[str, str]:
    """Return what an installer gets: of this machine, what it needs and what lists of the author name; of the image.

    No list of the lock adds any, and no list gets the credentials of AWS.
    """
    named = {name for text in lists for name in named_variables(text)}
    own = {name: value for name, value in os.environ.items() if name in named and not _CREDENTIALS.fullmatch(name)}
    return {**own, **variables_of_installers(os.environ), **of_image}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return shown + (f" and {len(names) - 4} more" if len(names) > 4 else "") if names else "packages"


def _is_self_contained(content: bytes) -> bool:
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        return False
    return all(_SELF_CONTAINED.fullmatch(line) for line in lines)


def _is_met(requirement: str, directories: Sequence[str]) -> bool:
    """Return whether a distribution is installed; of versions, only ``==`` is checked."""
    from importlib.metadata import distributions  # imported late: only --python needs it

    match = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?:==\s*([^\s;,*]+))?", requirement)
    if match is None:
        return True
    found = next(iter(distributions(name=match[1], path=list(directories))), None)
    return found is not None and (match[2] is None or found.version.partition("+")[0] == match[2].partition("+")[0])
