"""Stand-ins for launchers and frameworks: they start, listen, and connect where the runtime tells them to."""

from __future__ import annotations

import zipfile
from pathlib import Path

TORCHRUN = """\
import os, subprocess, sys

def main():
    words = sys.argv[1:]
    options = {}
    while words[0].startswith("--"):
        name, _, value = words.pop(0).partition("=")
        options[name] = value or ("" if name == "--standalone" else words.pop(0))
    count = int(options["--nproc_per_node"])
    places = {"MASTER_ADDR": options.get("--master_addr", ""), "MASTER_PORT": options.get("--master_port", "")}
    places["WORLD_SIZE"] = str(count * int(options.get("--nnodes", 1)))
    running = []
    for number in range(count):
        rank = {"RANK": str(count * int(options.get("--node_rank", 0)) + number), "LOCAL_RANK": str(number)}
        command = [sys.executable, "-u", *words]
        running.append(subprocess.Popen(command, env={**os.environ, **places, **rank}))
    sys.exit(max(process.wait() for process in running) and 1)
"""

MXNET = """
    import os, socket, sys
    role = os.environ["DMLC_ROLE"]
    place = os.environ["DMLC_PS_ROOT_URI"], int(os.environ["DMLC_PS_ROOT_PORT"])

    def joined():
        for _ in range(400):
            try:
                return socket.create_connection(place, 20)
            except OSError:
                import time
                time.sleep(0.05)
        raise SystemExit("no scheduler")

    if role == "scheduler":
        with socket.create_server(place) as listener:
            count = int(os.environ["DMLC_NUM_SERVER"]) + int(os.environ["DMLC_NUM_WORKER"])
            others = [listener.accept()[0] for _ in range(count)]
        said = sorted(other.recv(100).decode() for other in others)  # as each server starts, and each worker ends
        for other in others:
            other.sendall(" ".join(said).encode())
        sys.exit(0)
    if role == "server":
        with joined() as scheduler:
            scheduler.sendall(("server of " + os.environ["SM_CURRENT_HOST"]).encode())
            scheduler.recv(1000)
        sys.exit(0)
"""

TENSORFLOW = """
    import json, os, socket, sys, types

    class Resolver:
        def __init__(self):
            config = json.loads(os.environ["TF_CONFIG"])
            self.cluster, task = config["cluster"], config["task"]
            self.task_type, self.task_id = task["type"], task["index"]

        def cluster_spec(self):
            return self.cluster

    class Server:
        def __init__(self, cluster, job_name, task_index):
            self.place = cluster[job_name][task_index]
            self.name = f"{job_name} {task_index}".encode()

        def join(self):
            address, _, port = self.place.partition(":")
            with socket.create_server((address, int(port))) as listener:
                while True:
                    with listener.accept()[0] as caller:
                        if caller.recv(100) == b"die":
                            os._exit(9)
                        caller.sendall(self.name)

    resolver = types.SimpleNamespace(TFConfigClusterResolver=Resolver)
    distribute = types.SimpleNamespace(cluster_resolver=resolver, Server=Server)
"""


def write_torchrun(directory: Path) -> None:
    """Write a wheel with the program `torchrun`, which starts processes and connects none of them."""
    info = "launching-1.0.dist-info"
    files = {
        "launching.py": TORCHRUN,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: launching\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntorchrun = launching:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(directory / "launching-1.0-py3-none-any.whl", "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
