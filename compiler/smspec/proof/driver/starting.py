"""Observe the start of a training script, in its own process: a module of the script's environment.

A `.pth` file imports it at the start of every Python of that environment. It does nothing unless a variable asks for
one of three things: to record how the runtime starts the script (`CAPTURE`), to stop the script after its parser has
read the arguments (`PARSE`), or, run as a program, to import one module (`IMPORT`). Each writes a JSON object.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False  # `typing` takes time to import, in every process
if TYPE_CHECKING:
    from typing import Any

CAPTURE, PARSE, IMPORT = "SMSPEC_CHECK_CAPTURE", "SMSPEC_CHECK_PARSE", "SMSPEC_CHECK_IMPORT"
OPEN = "SMSPEC_CHECK_OPEN"
_OF_THE_RUNTIME = "SM_USER_ARGS"
"""The runtime sets it for the script, and for nothing else that it starts."""

_REJECTION = "_smspec_rejection"
_WITH_FUNCTIONS = ("hydra", "fire", "tyro")
_LONGEST = 2000
_MOST_FRAMES = 40
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod")
_CONNECTIONS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")


def begin() -> None:
    """Do what the variables ask for, once: programs that the script starts do not see them, unless it becomes one."""
    if CAPTURE in os.environ and _OF_THE_RUNTIME in os.environ:
        _capture(os.environ.pop(CAPTURE))
    if PARSE in os.environ:
        again = {name: os.environ[name] for name in (PARSE, OPEN) if name in os.environ}
        asked = json.loads(os.environ.pop(PARSE))
        restrict(asked["writable"])
        from importlib.util import find_spec

        from .function_parsers import patches

        watch = Watch(asked, find_spec, patches)
        keep_on_exec(again)
        sys.meta_path.insert(0, watch)
        sys.excepthook = watch.on_error
        import atexit

        atexit.register(watch.on_exit)


def _capture(result: str) -> None:
    words = getattr(sys, "orig_argv", None)
    if words is None:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    write(result, {"words": list(words), "directory": os.getcwd(), "environment": dict(os.environ)})
    os._exit(0)


def write(path: str, record: dict[str, Any]) -> None:
    """Write a result completely or not at all."""
    with open(path + ".part", "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(record, file)
    os.rename(path + ".part", path)


def keep_on_exec(variables: dict[str, str]) -> None:
    """Let the variables survive when this process becomes another program, such as the same script once more.

    `os` calls these two functions by name in all others of the family.
    """
    process, execv, execve = os.getpid(), os.execv, os.execve

    def again_execv(path: Any, argv: Any) -> Any:
        return again_execve(path, argv, os.environ)

    def again_execve(path: Any, argv: Any, env: Any) -> Any:
        if os.getpid() != process:  # a child of the script
            return execv(path, argv) if env is os.environ else execve(path, argv, env)
        return execve(path, argv, dict(env, **variables))

    os.execv, os.execve = again_execv, again_execve


def restrict(writable: list[str]) -> None:
    """Refuse what the system does not: writing outside of some directories, and connections."""
    missing = os.environ.pop(OPEN, "").split(",")
    roots = tuple(os.path.join(os.path.realpath(path), "") for path in writable)

    def is_outside(path: object) -> bool:
        if not isinstance(path, (str, bytes)):
            return False
        return not (os.path.realpath(os.fsdecode(path)) + os.sep).startswith(roots)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CONNECTIONS and "network" in missing:
            address = arguments[1] if event == "socket.connect" else None
            if not isinstance(address, (str, bytes)):
                raise OSError("`smspec check` allows no connections")
        if "files" not in missing:
            return
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING and is_outside(arguments[0]):
            raise PermissionError(13, "`smspec check` allows no writing here", arguments[0])
        if event in _CHANGES and any(map(is_outside, arguments[:2])):
            raise PermissionError(13, "`smspec check` allows no changes here", arguments[0])

    if missing != [""]:
        sys.addaudithook(audit)


def described(kind: type, error: BaseException, trace: Any) -> dict[str, Any]:
    """Return an exception with the lines that led to it, the last one last."""
    frames = []
    while trace is not None:
        frames.append([trace.tb_frame.f_code.co_filename, trace.tb_lineno])
        trace = trace.tb_next
    try:
        message = str(error)
    except (TypeError, ValueError, AttributeError):
        message = ""
    record: dict[str, Any] = {"type": kind.__name__, "message": message[:_LONGEST], "frames": frames[-_MOST_FRAMES:]}
    record["kinds"] = [each.__name__ for each in kind.__mro__]
    if isinstance(error, ImportError):
        record["module"] = error.name
    if isinstance(error, SyntaxError):
        record["place"] = [error.filename, error.lineno, error.offset]
    return record


def loaded() -> dict[str, Any]:
    """Return the modules that were imported to their end, and the shared libraries from outside of Python."""
    modules = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and not getattr(spec, "_initializing", False):
            modules.append(name)
    libraries = set()
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            for line in file:
                path = line.rstrip("\n").partition("/")[2]
                if ".so" in path:
                    libraries.add("/" + path)
    except OSError:
        pass  # only Linux has it
    return {"modules": modules, "libraries": sorted(libraries)}


class Rejection:
    """Belongs to the exception with which a parser rejects its words, and ends with it.

    If no code runs then, nothing has caught the exception.
    """

    def __init__(self, message: str, on_end: Any) -> None:
        self.message = message
        self._on_end = on_end

    def __del__(self) -> None:
        self._on_end(self.message, sys._getframe().f_back is None)


class Watch:
    """Stops the script after the calls of its parsers, or records how it ended before."""

    def __init__(self, asked: dict[str, Any], find_spec: Any, patches: Any) -> None:
        self._result = asked["result"]
        self._code = os.path.join(os.path.realpath(asked["code"]), "")
        self._expected = asked["parsers"]
        self._find_spec = find_spec
        self._process = os.getpid()
        self._depth = 0
        self._parsed = 0
        self._message = ""
        self.usage: str | None = None  # of click and absl, which end the process by themselves
        self._taken, self._open = ([tuple(place) for place in asked[name]] for name in ("taken", "open"))
        self._rest: Any = None
        self._is_open = False
        self._searched: set[str] = set()
        self._patches = {
            "argparse": self._argparse,
            "optparse": self._argparse,
            "jsonargparse._core": self._jsonargparse,
            "transformers.hf_argparser": self._transformers,
            "absl.flags._flagvalues": self._absl,
            **patches(self),
        }

    def find_spec(self, name: str, *_: Any) -> Any:
        """Let the usual finders find a module of a parser, and patch it after it was imported."""
        patch = self._patches.get(name)
        if patch is None or name in self._searched:
            return None
        self._searched.add(name)
        spec = self._find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec

    def on_error(self, kind: type, error: BaseException, trace: Any) -> None:
        """Record the exception that ends the script."""
        known = set()
        cause: BaseException | None = error
        while cause is not None and id(cause) not in known:
            rejection = getattr(cause, _REJECTION, None)
            if rejection is not None:
                self._end({"kind": "rejected", "message": rejection.message})
            known.add(id(cause))
            cause = cause.__cause__ or cause.__context__
        self._end(dict(described(kind, error, trace), kind="raised"))

    def on_exit(self) -> None:
        """Record that the script ended without one."""
        self._end({"kind": "ended" if self.usage is None else "rejected", "message": (self.usage or "")[:_LONGEST]})

    def reject(self, error: BaseException, message: str, is_counted: bool = True) -> None:
        """Record that a parser rejects its words, unless the script catches the exception."""

        def on_end(message: str, is_final: bool) -> None:
            if is_final or is_counted:
                self._end({"kind": "rejected" if is_final else "caught", "message": message})

        self._message = ""
        setattr(error, _REJECTION, Rejection(message[:_LONGEST], on_end))

    def _end(self, record: dict[str, Any]) -> None:
        if os.getpid() != self._process:
            return  # a child of the script
        record.update(loaded())
        write(self._result, record)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass
        os._exit(0)

    def succeeded(self, is_open: bool = False) -> None:
        """Count a parser that has read its words; ``is_open``: except for a part of them."""
        self._is_open = self._is_open or is_open
        self._parsed += 1
        if self._parsed >= self._expected:
            self._end({"kind": "parsed", "is_open": self._is_open})

    def _is_continued(self, frame: Any, found: Any) -> bool:
        """Return whether the next parser reads what this one leaves."""
        here = os.path.realpath(frame.f_code.co_filename)

        def has(places: list[Any]) -> bool:
            return any(here == path and first <= frame.f_lineno <= last for path, first, last in places)

        self._is_open = self._is_open or has(self._open)
        if not has(self._taken):
            return False
        self._rest = found[1]
        return True

    def is_of_the_script(self) -> bool:
        """Return whether the author's code called a parser, and not a module while it is imported."""
        frame: Any = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if os.path.realpath(name).startswith(self._code):
                return True
            if name.startswith("<frozen importlib"):
                return False
            frame = frame.f_back
        return False

    def is_command_line(self, words: Any) -> bool:
        """Return whether a parser that is given ``words`` reads those of the job."""
        if words is None:
            return True
        if self._rest is not None and words == self._rest:
            return True
        try:
            given = [word.replace("_", "-") for word in words]
        except (AttributeError, TypeError):
            return False
        own = [word.replace("_", "-") for word in sys.argv]
        return given in (own, own[1:]) or (bool(given) and own[-len(given) :] == given)

    def _wrap(self, owner: type, name: str) -> None:
        original = owner.__dict__.get(name)
        if original is None:
            return

        def call(parser: Any, *arguments: object, **keywords: Any) -> Any:
            words = arguments[0] if arguments else keywords.get("args")
            # These libraries call the function of the script afterwards.
            is_inner = sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] in _WITH_FUNCTIONS
            is_outer = not self._depth
            is_counted = is_outer and not is_inner and self.is_command_line(words) and self.is_of_the_script()
            self._depth += 1
            try:
                found = original(parser, *arguments, **keywords)
            except SystemExit as ended:
                if is_outer and ended.code:
                    self.reject(ended, self._message, is_counted)
                raise
            except ValueError as error:
                if is_counted and "not used by the HfArgumentParser" in str(error):
                    self.reject(error, str(error))
                raise
            finally:
                self._depth -= 1
            if is_counted and not self._is_continued(sys._getframe(1), found):
                self.succeeded()
            return found

        setattr(owner, name, call)

    def _argparse(self, module: Any) -> None:
        parser = getattr(module, "ArgumentParser", None) or module.OptionParser
        error = parser.error

        def record(owner: Any, message: str) -> None:
            self._message = self._message or str(message)
            error(owner, message)

        parser.error = record
        for name in ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"):
            self._wrap(parser, name)

    def _jsonargparse(self, module: Any) -> None:
        for name in ("parse_args", "parse_known_args"):
            self._wrap(module.ArgumentParser, name)

    def _transformers(self, module: Any) -> None:
        self._wrap(module.HfArgumentParser, "parse_args_into_dataclasses")

    def _absl(self, module: Any) -> None:
        from absl.flags._exceptions import Error  # type: ignore[import-not-found,import-untyped,unused-ignore]

        owner = module.FlagValues
        original = owner.__call__

        def call(flags: object, argv: object, known_only: bool = False) -> Any:
            try:
                found = original(flags, argv, known_only)
            except Error as error:
                self.usage = str(error)[:_LONGEST]
                raise
            if self.is_command_line(argv):
                self.succeeded()
            return found

        owner.__call__ = call


def import_module(asked: dict[str, Any]) -> None:
    """Import modules as the script would, and record what was loaded, or the exception."""
    restrict(asked["writable"])
    sys.argv[:] = asked["argv"]
    sys.path[0] = asked["place"]

    def on_error(kind: type, error: BaseException, trace: Any) -> None:
        write(asked["result"], dict(described(kind, error, trace), kind="raised", **loaded()))
        os._exit(0)

    sys.excepthook = on_error
    from importlib import import_module

    for module, name in asked.get("members", ()):
        # The message of a missing name is that of the statement.
        exec(f"from {module} import {name}", {})
    for name in asked["modules"]:
        import_module(name)
    write(asked["result"], dict(loaded(), kind="imported"))
    os._exit(0)


if __name__ == "__main__":
    import_module(json.loads(os.environ.pop(IMPORT)))
elif __name__ == "_smspec_check.starting":
    begin()
