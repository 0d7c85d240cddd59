"""Libraries whose reading of the command line is not followed: fewer than one in 100 public training scripts use one.

A call that reads it is noted, and may end the script.
"""

from __future__ import annotations

from smspec.script.follow.frames import Call, Function
from smspec.script.follow.values import Value
from smspec.script.program import CommandLine, DeclaredOption, Words
from smspec.script.record import Handler, reads_arguments, record_of

PROVEN = frozenset(
    {"LightningCLI", "absl", "click", "fire", "getopt", "hydra", "jsonargparse", "optparse", "typer", "tyro"}
)
"""`smspec check` runs a script until one of these has accepted its arguments; it does not run scripts of others."""

_ENDING = frozenset({"absl", "click", "hydra", "typer"})
"""The script ends where one of these has called its function, or may end there."""

_READS = frozenset({"invoke", "main", "parse_args", "parse_known_args", "parse_object", "parse_string"})


def why_unread(library: str) -> str:
    """Return why the options of a library are not known, as the end of a sentence."""
    proof = "; `smspec check` proves them" if library in PROVEN else ""
    return f"smspec does not follow how `{library}` reads them{proof}"


class UnreadParser(Value):
    """A parser or a command of such a library, a decorator that makes one, or the function below it."""

    def __init__(self, library: str) -> None:
        self._library = library

    def call(self, call: Call) -> Value:
        """Read the command line, or decorate a function."""
        if len(call.arguments) == 1 and isinstance(call.arguments[0], Function | UnreadParser):
            return self.decorate(call.arguments[0], call)
        return _read(self._library, call)

    def decorate(self, value: Value, _: Call) -> Value:
        value.escape()
        return self

    def method(self, name: str, call: Call) -> Value:
        if name in _READS:
            return _read(self._library, call)
        call.unknown_result()
        return self


_OF_HYDRA: dict[str, Words] = {
    **dict.fromkeys(("--help -h", "--hydra-help", "--version", "--resolve", "--run -r", "--multirun -m"), 0),
    **dict.fromkeys(("--shell-completion -sc", "--info -i"), "?"),
    **dict.fromkeys(("--cfg -c", "--package -p", "--config-path -cp", "--config-name -cn", "--config-dir -cd"), 1),
    "--experimental-rerun": 1,
    "": "*",
}
"""What the parser of Hydra 1.0 to 1.3 declares, and how many words each takes; the positionals are the overrides."""


def _read(library: str, call: Call) -> Value:
    if library == "hydra" and not call.arguments and not call.keywords and reads_arguments(call, ""):
        options = tuple(
            DeclaredOption(names=tuple(names.split()), label="overrides", place=call.place, words=words)
            for names, words in _OF_HYDRA.items()
        )
        record_of(call.run).command_lines.append(CommandLine(library="Hydra", options=options, place=call.place))
    reads_arguments(call, why_unread(library))
    if library in _ENDING:
        call.run.ends()
    return call.unknown_result()


def _from_cli(call: Call) -> Value:
    return call.unknown_result() if call.argument(0, "args_list") is not None else _read("omegaconf", call)


def _reading(library: str) -> Handler:
    return lambda call: _read(library, call)


def _making(library: str) -> Handler:
    def made(call: Call) -> Value:
        call.unknown_result()
        return UnreadParser(library)

    return made


HANDLERS: dict[str, Handler] = {
    "absl.app.run": _reading("absl"),
    "fire.Fire": _reading("fire"),
    "getopt.getopt": _reading("getopt"),
    "getopt.gnu_getopt": _reading("getopt"),
    "jsonargparse.CLI": _reading("jsonargparse"),
    "jsonargparse.auto_cli": _reading("jsonargparse"),
    "lightning.pytorch.cli.LightningCLI": _reading("LightningCLI"),
    "omegaconf.OmegaConf.from_cli": _from_cli,
    "pytorch_lightning.cli.LightningCLI": _reading("LightningCLI"),
    "tensorflow.app.run": _reading("absl"),
    "tensorflow.compat.v1.app.run": _reading("absl"),
    "tyro.cli": _reading("tyro"),
    "typer.run": _reading("typer"),
    **{f"click.{name}": _making("click") for name in ("argument", "command", "group", "option")},
    "hydra.main": _making("hydra"),
    "jsonargparse.ArgumentParser": _making("jsonargparse"),
    "optparse.OptionParser": _making("optparse"),
    "typer.Typer": _making("typer"),
}
