"""The training job as scripts see it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

RUNTIME = str(Path(__file__).parents[2] / "runtime")


def write_config(base, hosts=("algo-1",), current="algo-1", channels=None, hyperparameters=None):
    config = base / "input/config"
    config.mkdir(parents=True)
    (config / "resourceconfig.json").write_text(json.dumps({"current_host": current, "hosts": list(hosts)}))
    (config / "inputdataconfig.json").write_text(json.dumps(channels or {}))
    (config / "hyperparameters.json").write_text(json.dumps(hyperparameters or {}))


def ask(python, expression, cwd, base=None):
    """Return what an expression about ``job`` is, in a new process."""
    script = f"import json, smspec_runtime\njob = smspec_runtime.job()\nprint(json.dumps({expression}))"
    environ = {**os.environ, "PYTHONPATH": RUNTIME, "PYTHONDONTWRITEBYTECODE": "1"}
    environ.pop("SAGEMAKER_BASE_DIR", None)
    if base is not None:
        environ["SAGEMAKER_BASE_DIR"] = str(base)
    done = subprocess.run([python, "-c", script], cwd=cwd, env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_script_gets_its_host_channels_and_typed_hyperparameters(any_python, tmp_path):
    write_config(
        tmp_path,
        hosts=["algo-1", "algo-2", "algo-3"],
        current="algo-2",
        channels={"train": {"TrainingInputMode": "Pipe"}, "test": {"TrainingInputMode": "File"}, "smspec": {}},
        hyperparameters={"lr": "1e-3", "layers": "[256, 64]", "name": "x", "sagemaker_program": "train.py"},
    )
    answer = ask(
        any_python,
        "[job.host, job.host_rank, job.hosts, job.is_leader, list(job.rows(10)), job.shard('abcdef'), "
        "job.hyperparameters, {name: [c.mode, c.path, c.config] for name, c in job.channels.items()}, "
        "job.model_dir, job.output_dir, job.checkpoint_dir]",
        tmp_path,
        base=tmp_path,
    )
    base = str(tmp_path)
    assert answer == [
        "algo-2",
        1,
        ["algo-1", "algo-2", "algo-3"],
        False,
        [3, 4, 5],
        "cd",
        {"lr": 0.001, "layers": [256, 64], "name": "x"},
        {
            "train": ["Pipe", f"{base}/input/data/train", {"TrainingInputMode": "Pipe"}],
            "test": ["File", f"{base}/input/data/test", {"TrainingInputMode": "File"}],
        },
        f"{base}/model",
        f"{base}/output/data",
        f"{base}/checkpoints",
    ]


def test_slices_of_all_hosts_are_disjoint_and_complete(tmp_path):
    hosts = [f"algo-{number}" for number in range(1, 8)]
    for total in (0, 1, 6, 7, 100):
        seen = []
        for host in hosts:
            base = tmp_path / f"{total}-{host}"
            write_config(base, hosts=hosts, current=host)
            seen += ask(sys.executable, f"list(job.rows({total}))", tmp_path, base=base)
        assert seen == list(range(total))


def test_settings_reach_the_script_outside_hyperparameters(tmp_path):
    text = json.dumps({"epochs": 3, "read": {"train": "csv"}, "checkpoints": "/opt/ml/ckpt", "prefetch": 1024})
    write_config(tmp_path, hyperparameters={"sagemaker_smspec": text[:10], "sagemaker_smspec_1": text[10:], "a": "1"})
    answer = ask(
        sys.executable,
        "[job.settings.epochs, job.settings.read, job.settings.prefetch, job.checkpoint_dir, job.hyperparameters]",
        tmp_path,
        base=tmp_path,
    )
    assert answer == [3, {"train": "csv"}, 1024, f"{tmp_path}/ckpt", {"a": 1}]


def test_current_directory_serves_outside_sagemaker(tmp_path):
    if os.path.isdir("/opt/ml/input/config"):
        pytest.skip("this machine has /opt/ml/input/config")
    answer = ask(
        sys.executable,
        "[job.hosts, job.host_rank, job.hyperparameters, job.channels, job.channel('train').path, "
        "job.channel('train').mode, job.model_dir, list(job.rows(2)), job.is_local]",
        tmp_path,
    )
    here = os.path.realpath(tmp_path)
    assert answer == [["localhost"], 0, {}, {}, f"{here}/input/data/train", "File", f"{here}/model", [0, 1], True]


def test_unknown_channel_lists_the_known_ones(tmp_path):
    write_config(tmp_path, channels={"train": {}, "test": {}})
    script = "import smspec_runtime; smspec_runtime.job().channel('tran')"
    environ = {**os.environ, "PYTHONPATH": RUNTIME, "SAGEMAKER_BASE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, timeout=60)
    assert "no channel `tran`; the job has test, train" in done.stderr


def test_sigterm_is_seen_by_a_script_that_asks(any_python, tmp_path):
    write_config(tmp_path)
    script = (
        "import time, smspec_runtime\njob = smspec_runtime.job()\nassert not job.stopping\nprint('ready', flush=True)\n"
        "while not smspec_runtime.job().stopping: time.sleep(0.01)\nprint('saved')"
    )
    environ = {**os.environ, "PYTHONPATH": RUNTIME, "SAGEMAKER_BASE_DIR": str(tmp_path)}
    with subprocess.Popen([any_python, "-c", script], env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[0] == "saved\n"
        assert process.returncode == 0


def test_sigterm_ends_other_scripts(tmp_path):
    write_config(tmp_path)
    script = "import time, smspec_runtime\njob = smspec_runtime.job()\nprint('ready', flush=True)\ntime.sleep(60)"
    environ = {**os.environ, "PYTHONPATH": RUNTIME, "SAGEMAKER_BASE_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == -signal.SIGTERM


def test_importing_the_package_loads_no_other_module(any_python):
    script = "import sys; before = set(sys.modules); import smspec_runtime; print(sorted(set(sys.modules) - before))"
    environ = {**os.environ, "PYTHONPATH": RUNTIME}
    done = subprocess.run([any_python, "-S", "-c", script], env=environ, capture_output=True, text=True, timeout=60)
    assert done.stdout == "['smspec_runtime']\n"


def test_forked_worker_can_be_terminated_by_sigterm(any_python, tmp_path):
    """Process.terminate() sends SIGTERM; a worker that inherited the handler would swallow it."""
    script = (
        "import os, signal, time, smspec_runtime\n"
        "assert not smspec_runtime.job().stopping\n"
        "ready, born = os.pipe()\n"
        "worker = os.fork()\n"
        "if worker == 0:\n"
        "    os.write(born, b'.')  # CPython drops signals that arrive before a forked child runs\n"
        "    [time.sleep(0.01) for _ in range(1000)]\n"
        "    os._exit(7)\n"
        "os.read(ready, 1)\n"
        "os.kill(worker, signal.SIGTERM)\n"
        "print(os.waitpid(worker, 0)[1])\n"
    )
    environ = {**os.environ, "PYTHONPATH": RUNTIME, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([any_python, "-c", script], cwd=tmp_path, env=environ, capture_output=True, timeout=60)
    assert int(done.stdout) == signal.SIGTERM, done.stderr


def test_pipe_is_importable_by_attribute(any_python, tmp_path):
    (tmp_path / "records").write_bytes(b"one\ntwo\n")
    answer = ask(any_python, "[len(l) for l in smspec_runtime.pipe.open('records').lines()]", tmp_path)
    assert answer == [4, 4]
