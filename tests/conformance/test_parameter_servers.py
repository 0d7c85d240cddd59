"""Parameter servers of two hosts on one machine: start, connections, and end.

The frameworks are stand-ins that really listen and connect where they are told to. With the interpreters that
SMSPEC_MXNET_PYTHON and SMSPEC_TENSORFLOW_PYTHON name, the frameworks themselves train.
"""

import os
import time

import pytest

from support.local.local_jobs import IMAGE, LocalJob
from support.local.stand_in_frameworks import MXNET, TENSORFLOW

SPEC = """
    source: src/
    entry_point: train.py
    distribution: {{parameter_server: {{framework: {framework}}}}}
    hosts: {{instance_type: ml.m5.large, count: 2, volume: 1GB}}
    hyperparameters: {{ending: {ending}}}
"""

MXNET_SCRIPT = """
    import os, sys, time
    import mxnet
    here, ending = os.environ["SM_CURRENT_HOST"], sys.argv[2]
    if ending == "fail" and here == "algo-2":
        sys.exit(3)
    with mxnet.joined() as scheduler:
        scheduler.sendall(("worker of " + here).encode())
        print("TOGETHER", scheduler.recv(1000).decode(), flush=True)
"""

TENSORFLOW_SCRIPT = """
    import json, os, signal, socket, sys, time
    config = json.loads(os.environ["TF_CONFIG"])
    task, ending = config["task"]["type"], sys.argv[2]

    def ask(place, word=b"who"):
        address, _, port = place.partition(":")
        for _ in range(400):
            try:
                with socket.create_connection((address, int(port)), 20) as server:
                    server.sendall(word)
                    return server.recv(100).decode()
            except OSError:
                time.sleep(0.05)
        raise SystemExit("no server")

    print("FOUND", task, [ask(place) for place in config["cluster"]["ps"]], flush=True)
    flag = os.path.join(os.path.dirname(os.environ["SM_MODEL_DIR"]), "..", "..", "..", "worker-has-ended")
    if task == "worker":
        open(flag, "w").close()
        if ending == "worker":
            sys.exit(4)
        if ending == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        sys.exit(0)
    while not os.path.exists(flag):
        time.sleep(0.05)
    time.sleep(1)
    if ending == "server":
        ask(config["cluster"]["ps"][0], b"die")
        time.sleep(60)
    if ending in ("worker", "killed"):
        time.sleep(60)
    print("STILL", [ask(place) for place in config["cluster"]["ps"]], flush=True)
    if ending == "master":
        raise ValueError("no loss")
"""


@pytest.fixture
def job(tmp_path):
    return LocalJob(tmp_path)


def prepared(job, framework, ending):
    job.spec(SPEC.format(framework=framework, ending=ending))
    job.write("src/train.py", {"mxnet": MXNET_SCRIPT, "tensorflow": TENSORFLOW_SCRIPT}[framework])
    job.write(f"src/{framework}.py", {"mxnet": MXNET, "tensorflow": TENSORFLOW}[framework])
    return job


def test_mxnet_processes_connect(job):
    ended = prepared(job, "mxnet", "well").run()
    assert ended.returncode == 0, ended.stderr
    together = "TOGETHER server of algo-1 server of algo-2 worker of algo-1 worker of algo-2\n"
    assert all(together in job.log(host) for host in ("algo-1", "algo-2"))


def test_failing_mxnet_worker_fails_the_job(job):
    """The scheduler waits for that worker and must be ended."""
    began = time.monotonic()
    ended = prepared(job, "mxnet", "fail").run()
    assert ended.returncode == 1
    assert "ExitCode 3" in job.summary()["failure_reason"]
    assert time.monotonic() - began < 30


def test_tensorflow_servers_run_until_the_master_ends(job):
    """The worker ends first; its host's server is still asked by the master."""
    ended = prepared(job, "tensorflow", "well").run()
    assert ended.returncode == 0, ended.stderr
    assert "FOUND master ['ps 0', 'ps 1']" in job.log("algo-1")
    assert "FOUND worker ['ps 0', 'ps 1']" in job.log("algo-2")
    assert "STILL ['ps 0', 'ps 1']" in job.log("algo-1")


@pytest.mark.parametrize(
    ("ending", "reason", "host"),
    [
        ("master", "ValueError: no loss\nExitCode 1", "algo-1"),
        ("worker", "ExitCode 4", "algo-2"),
        ("killed", "ExitCode 137", "algo-2"),
        ("server", "which runs beside the program, ended with exit status 9\nExitCode 9", "algo-1"),
    ],
)
def test_failure_of_any_process_fails_the_job(job, ending, reason, host):
    ended = prepared(job, "tensorflow", ending).run()
    assert ended.returncode == 1
    assert reason in (job.host(host) / "output/failure").read_text()


REAL = {
    "mxnet": """
        import os, mxnet as mx
        store = mx.kv.create("dist_sync")
        store.init(3, mx.nd.zeros((2,)))
        store.push(3, mx.nd.ones((2,)) * (store.rank + 1))
        value = mx.nd.zeros((2,))
        store.pull(3, out=value)
        print("SUM", store.num_workers, value.asnumpy().tolist(), flush=True)
    """,
    "tensorflow": """
        import json, os
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        config = json.loads(os.environ["TF_CONFIG"])
        task = config["task"]
        server = tf.train.Server(config["cluster"], job_name=task["type"], task_index=task["index"])
        parts = []
        for number in range(2):
            with tf.device(f"/job:ps/task:{number}"):
                parts.append(tf.get_variable(f"part{number}", initializer=tf.constant(float(number + 1))))
        seen = tf.ConfigProto(device_filters=["/job:ps", "/job:" + task["type"]])
        with tf.Session(server.target, config=seen) as session:
            if task["type"] == "master":
                session.run(tf.global_variables_initializer())
            while session.run(tf.report_uninitialized_variables()).size:
                pass
            print("SUM", session.run(parts[0] + parts[1]), flush=True)
    """,
}


@pytest.mark.parametrize(("framework", "said"), [("mxnet", "SUM 2 [3.0, 3.0]"), ("tensorflow", "SUM 3.0")])
def test_real_framework_trains(job, framework, said):
    python = os.environ.get(f"SMSPEC_{framework.upper()}_PYTHON")
    if not python:
        pytest.skip(f"SMSPEC_{framework.upper()}_PYTHON names no Python with {framework}")
    image = f'    image: {{base: "{IMAGE}", python_packages: [{framework}]}}\n'
    job.spec(SPEC.format(framework=framework, ending="well") + image)
    job.write("src/train.py", REAL[framework])
    ended = job.run({"SMSPEC_STOP_GRACE": "20"}, python=python)
    assert ended.returncode == 0, ended.stderr
    assert all(said in job.log(host) for host in ("algo-1", "algo-2"))
