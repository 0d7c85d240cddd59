"""The life of a job: plan → input config → code → environment → command → supervise → report.

Only here is `os.environ` read, and only here is every exception caught: a container that ends with status 0 although
the training failed is the worst that a runtime can do.
"""

import os
import sys

from .import_path import StandardLibraryOnly, standard_library_first

# The author's directories may stand in front of the import path, with a json.py or a typing.py in them.
with StandardLibraryOnly():
    from .accelerators import look_at_machine
    from .arguments import STYLES
    from .command import Command
    from .delivery import deliver
    from .environment import Entry, Machine, distribution_groups, sagemaker_variables
    from .failure import Reserve, failure_text, limited, refusal_text, write_failure, write_success
    from .hosts import wait_for_hosts
    from .input_config import InputConfig, read_input_config
    from .installation import find_installation
    from .layout import ROOT, Layout
    from .lean_typing import List, Mapping, NamedTuple, NoReturn, Optional
    from .log import log
    from .masking import masked_words, secret_values
    from .outcome import Outcome
    from .program import Program, find_program, make_executable
    from .refusal import Refused
    from .run_plan import RunPlan, decode_run_plan
    from .supervisor import GRACE, Stopped, Supervisor
    from .toolkit import launcher_options, plan_of, program_of
    from .variables import carried_hyperparameters, carried_variables, python_path

INTERNAL_ERROR = 70
MISUSE = 2
LOCAL_LEADER = "SMSPEC_LOCAL_LEADER"
"""Set by `smspec run`: every host is this machine, and launchers meet at this address and on these ports, such as
127.0.0.1:29500,29501: one for the job, one for the team and two for each host."""
STOP_GRACE = "SMSPEC_STOP_GRACE"
"""Seconds from SIGTERM to SIGKILL, where two minutes are too long: in tests and rehearsals."""
RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGEST_SHOWN = 2000
PYTHON = sys.executable or "python3"


class Report(NamedTuple):
    """What the container exits with, and why if the job failed."""

    status: int
    failure: str = ""


def main(arguments: List[str], plan_file: Optional[str] = None) -> int:
    """Run the job and return the exit status of the container. Without a plan, stand in for SageMaker's own toolkit."""
    environ = dict(os.environ)
    if not environ.get("SAGEMAKER_BASE_DIR") and not os.path.exists(ROOT):
        from .local_tree import make_local_tree  # Late: inside SageMaker there is always a tree.

        environ["SAGEMAKER_BASE_DIR"] = make_local_tree()
    layout = Layout(environ.get("SAGEMAKER_BASE_DIR") or ROOT)
    sys.path[:] = standard_library_first(sys.path, layout.code)
    supervisor = Supervisor(_grace(environ))
    reserve = Reserve(layout)
    try:
        report = _report_of(arguments, plan_file, layout, environ, supervisor, reserve)
    except Stopped as stop:
        status = 128 + stop.number
        report = Report(status, refusal_text("ClientError", "stopped before the program was started", status))
    supervisor.finish()
    if report.failure:
        write_failure(layout, reserve, report.failure)
    else:
        write_success(layout, reserve)
    return report.status


def end(status: int) -> NoReturn:
    """End this process as it stands: Python's own end frees what is gone anyway, and takes as long as its start."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()  # Nothing of ours; boto3 may have warned.
        except (AttributeError, OSError, ValueError):
            pass
    os._exit(status)


def _report_of(
    arguments: List[str],
    plan_file: Optional[str],
    layout: Layout,
    environ: Mapping[str, str],
    supervisor: Supervisor,
    reserve: Reserve,
) -> Report:
    try:
        supervisor.start()
        reserve.take()
        if arguments not in ([], ["train"]):
            message = "this container trains: it takes the argument `train` or none, not "
            raise Refused(f"{message}`{' '.join(arguments)}`", exit_status=MISUSE)
        return _live(plan_file, layout, environ, supervisor)
    except Refused as refusal:
        return Report(refusal.exit_status, refusal_text(refusal.title, refusal.message, refusal.exit_status))
    except RecursionError:
        return Report(1, refusal_text("ClientError", "the input configuration is nested too deeply", 1))
    except Exception:
        import traceback  # Late: it is for our own bugs.

        text = traceback.format_exc()
        log(text)
        outcome = Outcome(INTERNAL_ERROR, output=text.encode("utf-8", "replace"))
        return Report(INTERNAL_ERROR, failure_text(outcome, ["smspec_runtime"], [], title="InternalError"))


def _live(plan_file: Optional[str], layout: Layout, environ: Mapping[str, str], supervisor: Supervisor) -> Report:
    """Take the job from its plan to its end."""
    written_plan = None if plan_file is None else _load_plan(plan_file)
    config = read_input_config(layout)
    plan = written_plan or plan_of(config, environ)
    if plan.launcher is not None:
        from .launchers import LAUNCHERS  # Late, as all that only some jobs need.

        if plan.launcher not in LAUNCHERS:
            raise Refused(f"this runtime has no launcher `{plan.launcher}`; it has {', '.join(LAUNCHERS)}")
    secrets = secret_values(config.hyperparameters.user)

    deliver(plan.delivery, layout, config, environ)
    program = find_program(plan, layout.code, PYTHON)
    make_executable(program, layout.code)
    # A framework brings the code itself, and is called where the container starts, as SageMaker's own toolkit does.
    is_framework = plan.kind == "framework"
    installation = None if is_framework else find_installation(program, layout.code, PYTHON)
    if installation is not None:
        outcome = installation.run(environ, layout.code, supervisor.prepare)
        if outcome.status:
            return Report(outcome.status, failure_text(outcome, installation.words, secrets, installation.title))

    machine = look_at_machine(config.cluster.instance_type, environ, supervisor.capture)
    entry = Entry(_entry_name(plan, config, environ), _arguments(plan, config), plan.launcher is not None)
    variables = carried_variables(
        {
            **{name: value for name, value in environ.items() if name not in (LOCAL_LEADER, STOP_GRACE)},
            **sagemaker_variables(config, layout, machine, entry, environ),
            "PYTHONPATH": python_path(environ, "" if is_framework else layout.code, RUNTIME),
        },
        entry.arguments,
    )
    several = len(config.cluster.hosts) > 1 and not _is_local(environ)
    addresses = wait_for_hosts(config.cluster.hosts) if several else {}
    command = _command(plan, config, program, entry, machine, variables, environ.get(LOCAL_LEADER), addresses)
    variables.update(command.variables)
    if command.over_ssh:
        from .team.ssh import write_ssh_environment

        write_ssh_environment(variables)
    for companion in command.companions:
        log("running beside it: " + " ".join(companion.words))
        failed = supervisor.accompany(companion, variables, layout.code)
        if failed is not None:
            raise Refused(f"the launcher `{plan.launcher}` needs {failed.error}", exit_status=failed.status)
    team = None
    if command.members:
        from .team import Team

        team = Team(command.members, command.over_ssh, command.port)
        team.gather()

    send_rest = None
    if config.hyperparameters.sagemaker.get("sagemaker_s3_output"):
        from .intermediate_output import start_sending

        send_rest = start_sending(layout, config, environ, RUNTIME, supervisor)
    log("running: " + limited(" ".join(masked_words(command.words)), LONGEST_SHOWN))
    outcome = supervisor.run(command.words, variables, "." if is_framework else layout.code)
    if team is not None:
        team.dismiss(outcome.status)
    if send_rest is not None:
        send_rest(outcome.stopped)
    return Report(outcome.status, failure_text(outcome, command.words, secrets) if outcome.status else "")


def _load_plan(path: str) -> RunPlan:
    try:
        with open(path, encoding="utf-8") as file:
            plan = decode_run_plan(file.read())
    except (OSError, ValueError) as error:
        raise Refused(f"cannot read the plan of the image: {error}") from error
    if plan.args_style not in STYLES:
        raise Refused(f"{path}: no such style of arguments: `{plan.args_style}`")
    return plan


def _entry_name(plan: RunPlan, config: InputConfig, environ: Mapping[str, str]) -> Optional[str]:
    if plan.kind == "framework":
        return program_of(config, environ) or None
    return plan.program or (plan.command[0] if plan.command else None)


def _arguments(plan: RunPlan, config: InputConfig) -> List[str]:
    """Return what stands behind the program: the words of the spec, then those made of hyperparameters."""
    style = STYLES[plan.args_style]
    return [*plan.arguments, *style(carried_hyperparameters(config.hyperparameters, style))]


def _command(
    plan: RunPlan,
    config: InputConfig,
    program: Program,
    entry: Entry,
    machine: Machine,
    variables: Mapping[str, str],
    local_leader: Optional[str],
    addresses: Mapping[str, str],
) -> Command:
    """Return what this host starts: the program, or the launcher if the host's group takes part in it."""
    cluster = config.cluster
    groups = distribution_groups(config, entry.has_launcher)
    if plan.launcher is None or cluster.instance_group not in groups:
        return Command([*program.words, *entry.arguments])
    from .launchers import LAUNCHERS, Launch

    hosts = cluster.hosts_of(groups)
    options = {**launcher_options(config), **config.settings.launcher}
    leader, _, ports = (local_leader or hosts[0]).partition(":")
    port, *local_ports = ports.split(",")
    if port:
        options["port"] = port
    names = sorted(name for name in variables if name.startswith("SM_"))
    launch = Launch(
        program,
        entry.arguments,
        cluster,
        hosts,
        machine,
        options,
        variables,
        leader,
        names,
        PYTHON,
        addresses.get(leader, "127.0.0.1"),
        local_ports,
    )
    return LAUNCHERS[plan.launcher](launch)


def _is_local(environ: Mapping[str, str]) -> bool:
    return LOCAL_LEADER in environ or environ.get("SM_STUDIO_LOCAL_MODE", "").lower() == "true"


def _grace(environ: Mapping[str, str]) -> float:
    try:
        return float(environ.get(STOP_GRACE, GRACE))
    except ValueError:
        return GRACE
