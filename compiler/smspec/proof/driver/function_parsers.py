"""Stop a script of click, Hydra, Fire, or tyro before the function that its command line calls, or after getopt."""

from __future__ import annotations

import functools
import inspect
import sys

TYPE_CHECKING = False  # `typing` takes time to import, in every process
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_ELSEWHERE = ("--config-dir", "-cd", "--config-path", "-cp", "hydra.searchpath")
"""Words by which Hydra reads files that may be data of the job."""

_FRAME = "╭╮╰╯│─┌┐└┘ "


def patches(watch: Any) -> dict[str, Callable[[Any], None]]:
    """Return the functions that patch modules of these libraries, by the names of the modules."""
    return {
        "click.core": functools.partial(_click, watch),
        "typer._click.core": functools.partial(_click, watch),
        "typer.core": functools.partial(_typer, watch),
        "hydra._internal.utils": functools.partial(_hydra, watch),
        "fire.core": functools.partial(_fire, watch),
        "getopt": functools.partial(_getopt, watch),
        "tyro._cli": functools.partial(_tyro, watch),
    }


def _click(watch: Any, module: Any) -> None:
    UsageError = sys.modules[module.__name__.rpartition(".")[0] + ".exceptions"].UsageError  # noqa: N806
    owner = getattr(module, "BaseCommand", None)
    if owner is None or "make_context" not in owner.__dict__:
        owner = module.Command
    make_context, invoke = owner.make_context, module.Command.invoke

    def checked_context(command: Any, *arguments: object, **keywords: Any) -> Any:
        try:
            return make_context(command, *arguments, **keywords)
        except UsageError as error:
            watch.usage = error.format_message()
            raise

    def stop(command: Any, context: Any) -> Any:
        if getattr(context, "invoked_subcommand", None) is None:  # else this is its group
            watch.succeeded()
        return invoke(command, context)

    owner.make_context = checked_context
    module.Command.invoke = stop
    # The copy of click in typer has no groups.
    _check_group(watch, module.__dict__.get("MultiCommand") or module.__dict__.get("Group"), UsageError)


def _typer(watch: Any, module: Any) -> None:
    click = sys.modules.get("typer._click.exceptions")
    if click is not None:
        _check_group(watch, module.TyperGroup, click.UsageError)


def _check_group(watch: Any, group: Any, usage_error: type[Any]) -> None:
    """Record the name of a command that a group of commands rejects."""
    if group is None or "invoke" not in group.__dict__:
        return
    call = group.invoke

    def invoke(command: Any, context: Any) -> Any:
        try:
            return call(command, context)
        except usage_error as error:
            watch.usage = error.format_message()
            raise

    group.invoke = invoke


def _hydra(watch: Any, module: Any) -> None:
    run, report = module._run_hydra, module.run_and_report
    signature = inspect.signature(run)
    from hydra.errors import CompactHydraException  # type: ignore[import-not-found,unused-ignore]

    def run_hydra(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        bound.arguments["task_function"] = _stop_instead_of(bound.arguments["task_function"], watch)
        if "caller_stack_depth" in bound.arguments:
            bound.arguments["caller_stack_depth"] += 1
        return run(*bound.args, **bound.kwargs)

    def run_and_report(function: Any) -> Any:
        errors: list[BaseException | None] = []

        def keeping() -> Any:
            try:
                return function()
            finally:
                errors.append(sys.exc_info()[1])

        try:
            return report(keeping)
        except (SystemExit, CompactHydraException) as ended:
            for error in errors:
                if not isinstance(error, Exception):
                    continue
                if not isinstance(error, CompactHydraException) or _is_elsewhere(str(error)):
                    watch.on_error(type(error), error, error.__traceback__)
                cause = f" {error.__cause__}" if error.__cause__ is not None else ""
                watch.reject(ended, f"{error}{cause}")
            raise

    module._run_hydra, module.run_and_report = run_hydra, run_and_report


def _is_elsewhere(message: str) -> bool:
    return "hydra/" in message or any(word.lstrip("+~").startswith(_ELSEWHERE) for word in sys.argv[1:])


def _fire(watch: Any, module: Any) -> None:
    fire, call = module.Fire, module._CallAndUpdateTrace

    def stopped(*arguments: Any, **keywords: Any) -> Any:
        try:
            found = fire(*arguments, **keywords)
        except SystemExit as ended:
            elements = getattr(getattr(ended, "trace", None), "elements", None)
            if ended.code and elements:
                watch.reject(ended, elements[-1].ErrorAsStr())
            raise
        watch.succeeded()
        return found

    def checked(component: Any, args: Any, component_trace: Any, treatment: str = "class", target: Any = None) -> Any:
        if treatment != "class":  # a class is only created; what follows is one of its methods
            function = component.__call__ if treatment == "callable" else component
            try:
                _, _, rest, _ = module._MakeParseFn(function, module.decorators.GetMetadata(component))(args)
            except module.FireError:
                pass  # the call raises it again
            else:
                # The result of the function may read the rest.
                watch.succeeded(is_open=bool(rest))
        return call(component, args, component_trace, treatment, target)

    module.Fire, module._CallAndUpdateTrace = functools.wraps(fire)(stopped), checked


def _getopt(watch: Any, module: Any) -> None:
    def stopped(read: Any) -> Any:
        def call(args: Any, *arguments: Any, **keywords: Any) -> Any:
            is_counted = watch.is_command_line(args) and watch.is_of_the_script()
            try:
                found = read(args, *arguments, **keywords)
            except module.GetoptError as error:
                if is_counted:
                    watch.reject(error, str(error))
                raise
            if is_counted:
                watch.succeeded()
            return found

        return call

    module.getopt, module.gnu_getopt = stopped(module.getopt), stopped(module.gnu_getopt)


def _tyro(watch: Any, module: Any) -> None:
    cli = module.cli

    def stopped(f: Any, *arguments: Any, **keywords: Any) -> Any:
        if not watch.is_command_line(keywords.get("args")):
            return cli(f, *arguments, **keywords)
        target = _stop_instead_of(f, watch) if inspect.isroutine(f) else f
        with _Shown() as shown:
            try:
                found = cli(target, *arguments, **keywords)
            except SystemExit as ended:
                if ended.code:
                    watch.reject(ended, shown.message())
                raise
        watch.succeeded(is_open=bool(keywords.get("return_unknown_args")))
        return found

    module.cli = functools.wraps(cli)(stopped)


def _stop_instead_of(function: Any, watch: Any) -> Any:
    """Return a function that looks like another one, and ends the script."""

    @functools.wraps(function)
    def stop(*_: Any, **__: Any) -> None:
        watch.succeeded()

    return stop


class _Shown:
    """Keeps what is written to standard error, and passes it on."""

    def __enter__(self) -> _Shown:
        self._stream, self._kept = sys.stderr, [""]
        sys.stderr = self
        return self

    def __exit__(self, *_: Any) -> None:
        sys.stderr = self._stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._kept.append(text)
        return self._stream.write(text)

    def message(self) -> str:
        """Return the first lines without their frame."""
        lines = (line.strip(_FRAME) for line in "".join(self._kept).splitlines())
        return " ".join(_until_help(line for line in lines if line))


def _until_help(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("For full helptext"):
            return
        yield line
