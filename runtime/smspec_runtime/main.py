"""The life of a job. Only this module reads `os.environ` and catches every exception."""

import os
import sys

from .import_path import StandardLibraryOnly, standard_library_first

# The author's directories may have a json.py.
with StandardLibraryOnly():
    from .accelerators import look_at_machine
    from .arguments import STYLES, arguments_of
    from .cluster import MASTER_PORT, wait_for_hosts
    from .command import Command
    from .contacts import contacted_hosts
    from .delivery import deliver
    from .environment import sagemaker_variables
    from .failure import Report, failure_text, limited, reason_in, refusal_text
    from .input_config import read_input_config
    from .layout import ROOT, Layout
    from .lean_typing import Dict, List, NoReturn, Optional, Tuple
    from .log import log
    from .masking import fetched_values, masked_command, secret_arguments, secret_values, secret_variables
    from .outcome import Outcome
    from .program import PYTHON, find_program, install, make_executable
    from .refusal import Refused
    from .run_plan import RunPlan, decode_run_plan
    from .supervisor import GRACE, Stopped, Supervisor
    from .toolkit import PYTORCH, distribution_groups, is_of_sagemaker, launcher_options, program_of
    from .variables import carried_variables, python_path

LOCAL_LEADER = "SMSPEC_LOCAL_LEADER"
"""Of `smspec run`: an address, and ports for the job, the team and two for each host; or `:`."""
STOP_GRACE = "SMSPEC_STOP_GRACE"  # Seconds, in tests and rehearsals.


def main(arguments: List[str], plan_file: Optional[str] = None) -> int:
    """Return the container's exit status. Without a plan, act as the toolkit."""
    environ = dict(os.environ)
    if not environ.get("SAGEMAKER_BASE_DIR") and not os.path.exists(ROOT):
        from .local_tree import make_local_tree  # Late: SageMaker creates a tree.

        environ["SAGEMAKER_BASE_DIR"] = make_local_tree()
    layout = Layout(environ.get("SAGEMAKER_BASE_DIR") or ROOT)
    sys.path[:] = standard_library_first(sys.path, layout.code)
    try:
        grace = float(environ.pop(STOP_GRACE, GRACE))
    except ValueError:
        grace = GRACE
    supervisor = Supervisor(grace)
    report = Report(layout)
    report.prepare()  # While signals are held: an old failure file is not this job's.
    try:
        try:
            supervisor.start()
            words = " ".join(word for word in arguments if word != "train")
            if words:  # Twice is right: SageMaker appends it.
                raise Refused(f"this container takes the argument `train` or none, not `{words}`", exit_status=2)
            status, failure = _live(plan_file, layout, environ, supervisor)
        except Refused as refusal:
            status, failure = refusal.exit_status, refusal_text(refusal)
        except RecursionError:
            status, failure = 1, refusal_text(Refused("the input configuration is nested too deeply"))
        except Exception:
            from traceback import format_exc  # Late: only for bugs.

            log(format_exc())
            outcome = Outcome(70, output=format_exc().encode("utf-8", "replace"))
            status, failure = 70, failure_text(outcome, ["smspec_runtime"], [], "InternalError")
    except Stopped as stop:
        status = 128 + stop.args[0]
        failure = refusal_text(Refused("stopped before the program was started", exit_status=status))
    supervisor.finish()
    if failure:
        report.fail(failure)
    else:
        report.succeed()
    return status


def end(status: int) -> NoReturn:
    """Skip Python's shutdown, which is as slow as its start."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()  # boto3 may have warned.
        except (AttributeError, OSError, ValueError):
            pass
    os._exit(status)


def _live(plan_file: Optional[str], layout: Layout, environ: Dict[str, str], supervisor: Supervisor) -> Tuple[int, str]:
    local_leader = environ.pop(LOCAL_LEADER, "")
    config = read_input_config(layout)
    cluster = config.cluster
    if plan_file is None:
        from .image_plan import plan_of  # Late: smspec sends it to no job.

        plan = plan_of(config, environ)
    else:
        plan = _load_plan(plan_file)
    if plan.launcher is not None:
        from .launchers import LAUNCHERS, Launch
        from .launchers import launcher as launcher_of

        if plan.launcher not in LAUNCHERS:
            raise Refused(f"this runtime has no launcher `{plan.launcher}`; it has {', '.join(LAUNCHERS)}")
    secrets = [*secret_values(config.hyperparameters.user), *secret_variables(environ)]
    secrets += secret_arguments([*plan.command, *plan.arguments])
    references = config.settings.secrets
    if references and not local_leader:  # `smspec run` has set the variables.
        from .secret_fetching import fetch_secrets  # Late: TLS is slow to load.

        environ.update(fetch_secrets(references, environ))
    secrets += fetched_values([environ.get(name, "") for name in references])

    layout = deliver(plan.delivery, layout, config, environ)
    program = find_program(plan, layout.code)
    make_executable(program, layout.code)
    # A framework copies the code itself, and is called in the initial directory.
    is_framework = plan.kind == "framework"
    if not is_framework:
        outcome, words, title = install(program, layout.code, environ, supervisor.prepare)
        if outcome.status:
            return outcome.status, failure_text(outcome, words, secrets, title)

    machine = look_at_machine(cluster.instance_type, environ, supervisor.capture)
    arguments = [*plan.arguments, *arguments_of(config.hyperparameters, plan.args_style)]
    name = program_of(config, environ) if is_framework else plan.program or "".join(plan.command[:1])
    groups = distribution_groups(config, plan.launcher is not None)
    own_variables = sagemaker_variables(config, layout, machine, name or None, arguments, groups, environ)
    path = python_path(environ, "" if is_framework else layout.code)
    variables = carried_variables({**environ, **own_variables, "PYTHONPATH": path})
    launcher = plan.launcher if cluster.instance_group in groups else None
    hosts = cluster.hosts if launcher is None else cluster.hosts_of(groups)
    leader, _, ports = local_leader.partition(":")
    leader = leader or hosts[0]
    is_local = ports or environ.get("SM_STUDIO_LOCAL_MODE", "").lower() == "true"
    port, *own = ports.split(",")
    module = environ.get("SAGEMAKER_TRAINING_MODULE", "")
    # A framework waits for hosts itself.
    addresses = wait_for_hosts([] if is_local or is_framework else contacted_hosts(launcher, hosts, layout.code))

    command = Command([*program.words, *arguments])
    if launcher is not None:
        options = {**launcher_options(config), **config.settings.launcher, **({"port": port} if port else {})}
        ip = addresses.get(leader, "127.0.0.1")
        command = launcher_of(launcher)(
            Launch(program, arguments, cluster, hosts, machine, options, variables, leader, PYTHON, ip, own)
        )
    elif plan.launcher is None and not is_framework and (len(hosts) > 1 or module.startswith(PYTORCH)):
        found = cluster.torch_variables(leader, port or MASTER_PORT, environ)
        command = command._replace(variables={name: found[name] for name in found if name not in environ})
    variables.update(command.variables)
    keys = None
    if command.over_ssh:
        from .peers.keys import DIRECTORY, Keys
        from .peers.ssh import write_ssh_environment

        keys = Keys(DIRECTORY)
        keys.make(bool(command.members), environ, supervisor.capture)
        write_ssh_environment(variables)
    for companion in command.companions:
        log("running beside it: " + " ".join(companion.words))
        failed = supervisor.accompany(companion, variables, layout.code)
        if failed:
            raise Refused(f"the launcher `{plan.launcher}` needs {failed.error}", exit_status=failed.status)
    team = None
    if command.members:
        from .peers.leader import Team

        team = Team(command.members, keys, command.port, cluster.current_host)
        team.gather()

    send_rest = None
    if config.hyperparameters.sagemaker.get("sagemaker_s3_output"):
        from .intermediate_output import start_sending

        send_rest = start_sending(layout, config, environ, supervisor)
    log("running: " + limited(masked_command(command.words, secrets), 2000))
    outcome = supervisor.run(command.words, variables, "." if is_framework else layout.code)
    failure = failure_text(outcome, command.words, secrets) if outcome.status else ""
    if team:
        team.dismiss(outcome.status, reason_in(failure))
    if send_rest:
        send_rest(outcome.stopped)
    return outcome.status, failure


def _load_plan(path: str) -> RunPlan:
    try:
        with open(path, encoding="utf-8") as file:
            plan = decode_run_plan(file.read())
        if plan.args_style not in STYLES:
            raise ValueError(f"no such style of arguments: `{plan.args_style}`")
        if plan.kind == "module" and is_of_sagemaker(plan.program):
            return plan._replace(kind="framework")  # It starts the program itself.
        return plan
    except (OSError, ValueError) as error:
        raise Refused(f"cannot read the plan of the image: {error}") from error
