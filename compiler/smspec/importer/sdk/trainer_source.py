"""The code of a `ModelTrainer` and how it starts, as keys of a spec."""

from __future__ import annotations

from smspec.importer.imported import NotImported
from smspec.importer.sdk.launchers import Launch
from smspec.importer.sdk.script_source import ScriptSource, script_source
from smspec.importer.sdk.values import Instance, Value
from smspec.importer.sdk.variables import NotResolved, Variables

_NOT_KNOWN = "its value is known only when the program runs"
_REQUIREMENTS = (None, "auto", "requirements.txt", "./requirements.txt")


def trainer_source(code: Value, variables: Variables) -> tuple[ScriptSource | None, list[NotImported]]:
    """Return the directory and the script of SourceCode; None if there is no script. Also what is not imported."""
    if code is None:
        return None, []
    if not isinstance(code, Instance) or not code.is_known or code.positional:
        return None, [NotImported(("source_code",), _NOT_KNOWN)]
    given = code.arguments
    lost = []
    if given.get("requirements") not in _REQUIREMENTS:
        lost.append(NotImported(("source_code", "requirements"), "smspec installs `requirements.txt` only; rename it"))
    if given.get("args") is not None:
        lost.append(NotImported(("source_code", "args"), "smspec passes hyperparameters only; add them there"))
    if given.get("entry_script") is None:
        why = "smspec starts a script; put the command into one, and set `source` and `entry_point`"
        return None, [*lost, NotImported(("source_code", "command"), why)]
    if given.get("command") is not None:
        lost.append(NotImported(("source_code", "command"), "the SDK starts it instead of the script"))
    try:
        script = variables.json(given["entry_script"], "entry_point")
        found = script_source(script, variables.json(given.get("source_dir"), "source_dir"))
    except NotResolved as why_not:
        return None, [*lost, NotImported(("source_code",), str(why_not))]
    if found is None or found.archive is not None or found.directory.endswith(".tar.gz"):
        return None, [*lost, NotImported(("source_code", "source_dir"), "copy its files next to the spec")]
    return found, lost


def trainer_launch(distributed: Value, variables: Variables) -> tuple[Launch, list[NotImported]]:
    """Return how the processes start, and what is not imported."""
    if distributed is None:
        return Launch(), []
    kind = distributed.kind.rpartition(".")[2] if isinstance(distributed, Instance) else ""
    if not isinstance(distributed, Instance) or not distributed.is_known or kind not in ("Torchrun", "MPI"):
        return Launch(), [NotImported(("distributed",), "it is neither `Torchrun` nor `MPI`, or not known")]
    given = distributed.arguments
    lost = []
    if given.get("smp") is not None:
        lost.append(NotImported(("distributed", "smp"), "set `mp_parameters` in `hyperparameters`"))
    key: dict[str, object] = {}
    try:
        if given.get("process_count_per_node") is not None:
            key["processes_per_host"] = variables.json(given["process_count_per_node"], "processes_per_host")
        if kind == "MPI" and given.get("mpi_additional_options") is not None:
            key["options"] = variables.json(given["mpi_additional_options"], "options")
    except NotResolved as why:
        lost.append(NotImported(("distributed",), str(why)))
    name = "mpi" if kind == "MPI" else "torchrun"
    return Launch(key={name: key} if key else name, is_mpi=kind == "MPI"), lost
