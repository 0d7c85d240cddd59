"""Any content of /opt/ml/input/config runs or fails with a reason, without hangs or false successes."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.runtime.container import SHOW, Container, refused
from support.runtime.input_config_strategies import FILES, any_bytes, channels, hyperparameters, resource_configs

LOOKUP = "import socket; socket.gethostbyname('algo-1')"


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "`hosts` is not a list of host names"),
        ({"hosts": [], "current_host": "algo-1"}, "`hosts` is not a list of host names"),
        ({"hosts": ["a", 1], "current_host": "a"}, "`hosts` is not a list of host names"),
        ({"hosts": ["algo-1"]}, "`current_host` is missing"),
        ({"hosts": ["algo-1"], "current_host": "algo-2"}, "current_host `algo-2` is not one of the hosts algo-1"),
        ({"hosts": ["algo-1", "algo-1"], "current_host": "algo-1"}, "`hosts` has a host twice"),
        ({"hosts": ["a"], "current_host": "a", "instance_groups": {}}, "`instance_groups` is not a list"),
        ({"hosts": ["a"], "current_host": "a", "instance_groups": [{}]}, "no `instance_group_name`"),
    ],
)
def test_malformed_resource_config_is_rejected(container, config, message):
    container.write("input/config/resourceconfig.json", json.dumps(config))
    refused(container, message)


@pytest.mark.parametrize("channels", [{"train": []}, {"a/b": {}}, {"..": {}}, {"": {}}])
def test_malformed_channels_are_rejected(container, channels):
    container.configure({}, channels)
    refused(container, "inputdataconfig.json")


@pytest.mark.parametrize("text", ["x", "[]", '{"unknown": 1}', '{"launcher": null}', '{"epochs": "2"}'])
def test_settings_of_another_version_are_rejected(container, text):
    container.configure({"sagemaker_smspec": text})
    refused(container, "hyperparameters.json: settings of smspec")


@pytest.mark.parametrize("groups", ['"all"', "5", "null", "{}"])
def test_malformed_instance_groups_are_rejected(container, groups):
    container.configure({"sagemaker_distribution_instance_groups": groups, "sagemaker_torch_distributed_enabled": "1"})
    refused(container, "`sagemaker_distribution_instance_groups` is not a list")


def test_deeply_nested_values_stay_text(container):
    container.configure({"deep": "[" * 2400})
    done = container.run_script("import sys; print(len(sys.argv[2]))")
    assert (done.status, done.stdout) == (0, b"2400\n"), done.stderr


def test_wait_for_unresolved_hosts_is_logged(container):
    """SIGTERM ends the wait."""
    container.configure(hosts=["algo-1", "no-such-host.invalid"])
    with container.start_script(LOOKUP) as process:
        line = process.stderr.readline()
        process.terminate()
        stdout, _ = process.communicate(timeout=60)
    assert b"waiting for host" in line
    assert (process.returncode, stdout) == (143, b"")


@pytest.mark.parametrize("host", ["a" * 64, "algo..1", ".", "a\0b", "\ud800"])
def test_hosts_without_an_address_are_not_awaited(container, host):
    container.configure(hosts=["localhost", host], current="localhost")
    refused(container, "cannot be the name of a host", LOOKUP)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 64])
def test_hosts_the_script_does_not_contact_are_not_awaited(container, host):
    """They may have finished already, and their names with them."""
    container.configure(hosts=["localhost", host], current="localhost")
    done = container.run_script("import json, os; print(json.loads(os.environ['SM_HOSTS'])[1])")
    assert (done.status, done.stdout.decode()) == (0, f"{host}\n"), done.stderr
    assert b"waiting" not in done.stderr


def test_two_thousand_hosts_are_supported(container):
    """As many as a job may have, each of them found; the list is longer than one variable may be only with more."""
    hosts = [f"127.0.{number // 250}.{number % 250 + 1}" for number in range(2000)]
    container.configure(hosts=hosts, current=hosts[1234])
    done = container.run_script(
        "import json, os, smspec_runtime\njob = smspec_runtime.job()\n"
        "print(len(json.loads(os.environ['SM_HOSTS'])), job.host_rank, list(job.rows(4000)))"
    )
    assert (done.status, done.stdout) == (0, b"2000 1234 [2468, 2469]\n"), done.stderr


def test_channel_name_that_is_a_path_is_rejected(container):
    """The API knows no such name; a program would look anywhere for it."""
    for name in ("../model", "/etc", "a/b", "a\0b"):
        container.configure({}, {name: {"TrainingInputMode": "File"}})
        refused(container, "cannot be the name of a channel")
        (container.base / "output/failure").unlink()


@pytest.mark.parametrize(
    ("hyperparameters", "left_out"),
    [
        ({"a=b": "1"}, ["'SM_HP_A=B' is left out of the environment"]),
        ({"a\nb": "1\n2", "é": "日本", "": "empty"}, []),
    ],
)
def test_impossible_hyperparameters_are_rejected(container, hyperparameters, left_out):
    """The program starts without the variable; its argument, and what is in the files, stays, and the log says so."""
    container.configure({**hyperparameters, "lr": "0.1"})
    done = container.run_script(
        SHOW + "import smspec_runtime\nassert smspec_runtime.job().hyperparameters['lr'] == 0.1"
    )
    assert done.status == 0, done.stderr
    assert "--lr" in done.shown["argv"]
    assert done.shown["environ"]["SM_HP_LR"] == "0.1"
    log = done.stderr.decode()
    assert log.count("is left out of") == len(left_out)
    for words in left_out:
        assert words in log


UNCARRIED = {
    "NUL in a name": ({"a\0b": "1"}, "'a\\x00b'", "it holds a NUL"),
    "NUL": ({"a": "x\0y"}, "'a'", "it holds a NUL"),
    "NUL in JSON": ({"a": '"x\\u0000y"'}, "'a'", "it holds a NUL"),
    "surrogate": ({"a": "\ud800"}, "'a'", "it holds a character that has no encoding"),
    "surrogate in a name": ({"\udfff": "1"}, "'\\udfff'", "it holds a character that has no encoding"),
    "length": ({"x": "a" * 131_072}, "'x'", "it is longer than 131072 bytes"),
    "length in bytes": ({"x": "é" * 65_536}, "'x'", "it is longer than 131072 bytes"),
    "length of a name": ({"x" * 131_070: "1"}, "'xxx", "it is longer than 131072 bytes"),
}


@pytest.mark.parametrize(("hyperparameters", "name", "obstacle"), UNCARRIED.values(), ids=UNCARRIED)
def test_hyperparameters_unfit_as_arguments_are_rejected(container, hyperparameters, name, obstacle):
    """A program that is started without an argument trains something else, and succeeds."""
    container.configure({**hyperparameters, "lr": "0.1"})
    refused(container, f"hyperparameter {name}")
    assert f"cannot become an argument of the program: {obstacle}" in container.failure


@pytest.mark.parametrize("hyperparameters", [hyperparameters for hyperparameters, *_ in UNCARRIED.values()])
def test_hyperparameters_unfit_as_arguments_are_in_files(container, hyperparameters):
    container.configure({**hyperparameters, "lr": "0.1"})
    container.write("code/train.py", "import smspec_runtime; print(len(smspec_runtime.job().hyperparameters))")
    done = container.run(plan={"kind": "script", "program": "train.py", "args_style": "none"})
    assert (done.status, done.stdout) == (0, b"2\n"), done.stderr


@pytest.mark.parametrize(
    ("hyperparameters", "arguments"),
    [
        ({"x": "a" * 131_071}, 4),
        ({f"k{number:02}": "c" * 2500 for number in range(100)}, 202),  # As much as the API lets through.
    ],
    ids=["one", "api"],
)
def test_hyperparameters_of_any_size_start_the_script(container, hyperparameters, arguments):
    """The toolkit ends with `Argument list too long`, for what the API lets through already."""
    container.configure({**hyperparameters, "lr": "0.1"})
    script = (
        "import os, sys, smspec_runtime\n"
        "print(len(sys.argv) - 1, os.environ['SM_HP_LR'], sum(map(len, map(str, smspec_runtime.job().hyperparameters"
        ".values()))))"
    )
    done = container.run_script(script)
    assert done.status == 0, done.stderr[-2000:]
    passed, lr, size = done.stdout.split()
    assert int(passed) == arguments
    assert (lr, int(size)) == (b"0.1", sum(map(len, hyperparameters.values())) + 3)
    assert b"'SM_HPS' is left out of the environment" in done.stderr


def test_too_many_arguments_are_reported(container):
    """Beyond the limits of the API, and where `ulimit -s` leaves little room, the system has the last word."""
    container.configure({f"k{number:02}": "c" * 2500 for number in range(100)})
    prefix = ["sh", "-c", 'ulimit -s 512 && exec "$@"', "sh"]
    done = container.run_script("print('ran')", prefix=prefix)
    assert (done.status, done.stdout) == (126, b"")
    assert "Argument list too long" in done.failure.splitlines()[0]


def test_unreadable_plan_is_reported(container):
    for content in (None, "{", "[]", '{"kind": "script", "color": "red"}'):
        plan = container.base / "plan.json"
        if content is not None:
            plan.write_text(content)
        script = f"import sys; from smspec_runtime.main import main; sys.exit(main([], {str(plan)!r}))"
        done = subprocess.run(
            [container.python, "-c", script], env=container.environ(), capture_output=True, timeout=60
        )
        assert done.returncode == 1
        assert container.failure.startswith("ClientError: cannot read the plan of the image: ")
        (container.base / "output/failure").unlink()


def test_unknown_launcher_is_reported(container):
    done = container.run(plan={"kind": "script", "program": "train.py", "launcher": "teleport"})
    assert done.status == 1
    assert "this runtime has no launcher `teleport`" in done.failure


def outside_sagemaker(container, home, prefix=(), cwd="/"):
    """Run where there is no /opt/ml and no SAGEMAKER_BASE_DIR."""
    environ = container.environ(SAGEMAKER_TRAINING_MODULE="framework:main")
    del environ["SAGEMAKER_BASE_DIR"], environ["HOME"]
    environ["PYTHONPATH"] += f":{container.base}/lib"
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro tmpfs /opt && exec "$@"', "sh", *prefix]
    if os.geteuid() != 0 or subprocess.run([*hidden, container.python, "-c", ""], capture_output=True).returncode:
        pytest.skip("an empty /opt needs root, unshare --mount and a Python elsewhere")
    container.write("lib/framework.py", SHOW + "def main():\n    pass\n")
    environ.update({} if home is None else {"HOME": str(home)})
    return subprocess.run([*hidden, *container.command()], env=environ, cwd=cwd, capture_output=True, timeout=60)


def test_runtime_outside_sagemaker_creates_a_tree_at_home(container, tmp_path):
    """A tree is made below the home directory, as the toolkit does: one host, no channels, no hyperparameters."""
    done = outside_sagemaker(container, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["environ"]
    (job,) = (tmp_path / "home/sagemaker_local/jobs").iterdir()
    assert float(job.name) > 0
    base = str(job / "opt/ml")
    assert f"smspec: /opt/ml is not there, so the job is in {base}\n".encode() in done.stderr
    assert found["SAGEMAKER_BASE_DIR"] == base
    assert found["SM_MODEL_DIR"] == f"{base}/model"
    assert json.loads(found["SM_HOSTS"]) == [found["SM_CURRENT_HOST"]] == [socket.gethostname()]
    assert found["SM_INSTANCE_GROUPS"] == '["homogeneousCluster"]'
    assert sorted(path.name for path in (job / "opt/ml").iterdir()) == ["code", "input", "model", "output"]
    assert (job / "opt/ml/output/success").exists()


def test_runtime_without_a_writable_home_fails(container):
    done = outside_sagemaker(container, "/proc/nobody")
    assert done.returncode == 1
    assert b"/opt/ml/input/config/resourceconfig.json: No such file or directory" in done.stderr


@pytest.mark.xdist_group("sagemaker_local")
@pytest.mark.parametrize("home", [None, "~", "somewhere", "/"])
def test_relative_home_is_ignored(container, tmp_path, home):
    """Nobody knows the user: no HOME, or `/` as Docker has it. The tree is not made where the container starts."""
    here = tmp_path / "here"
    here.mkdir(mode=0o777)
    here.chmod(0o777)
    nobody = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    nobody += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    done = outside_sagemaker(container, home, nobody, here)
    assert done.returncode == 0, done.stderr
    job = Path(json.loads(done.stdout)["environ"]["SAGEMAKER_BASE_DIR"]).parents[1]
    shutil.rmtree(job)
    if not os.listdir(job.parent):
        os.removedirs(job.parent)
    assert job.parent == Path("/tmp/sagemaker_local/jobs")
    assert os.listdir(here) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 2), content=any_bytes)
def test_any_bytes_run_or_have_a_reason(container, number, content):
    """Exit status 0 means that the program ran to its end; anything else leaves a failure file within the limit."""
    container.configure()
    container.write(f"input/config/{FILES[number]}", content)
    check(container)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(resource=resource_configs, channels=channels, hyperparameters=hyperparameters)
def test_any_members_run_or_have_a_reason(container, resource, channels, hyperparameters):
    if resource.get("hosts") != [resource.get("current_host")]:  # Launchers wait for the other hosts.
        hyperparameters = {name: value for name, value in hyperparameters.items() if not name.endswith("_enabled")}
    for name, content in zip(FILES, (resource, channels, hyperparameters), strict=True):
        container.write(f"input/config/{name}", json.dumps(content))
    check(container)


def check(container):
    for name in ("success", "failure"):
        (container.base / "output" / name).unlink(missing_ok=True)
    done = container.run_script("print('ran')", environ={"SM_STUDIO_LOCAL_MODE": "true"})
    if done.status == 0:
        assert (done.stdout, done.failure, done.succeeded) == (b"ran\n", None, True)
    else:
        assert done.stdout == b""
        assert done.status in (1, 126, 127), done.stderr  # Refused, or a launcher that is not there.
        assert 0 < len(done.failure.encode()) <= 1024
        assert not done.succeeded
        assert b"Traceback" not in done.stderr
