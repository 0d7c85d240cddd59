"""Runs of one job on different engines, and what differs between them."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

from support.local.local_jobs import LocalJob

PROGRAM = """\
import hashlib, json, os, resource, socket, sys, time
import smspec_runtime

here, end = os.environ["SM_CURRENT_HOST"], json.loads(os.environ["SM_HPS"])["end"]
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("RANK") or "0"


def base():
    return os.path.dirname(os.environ["SM_INPUT_DIR"])


def tried(action, *arguments):
    try:
        action(*arguments)
    except OSError as fault:
        return fault.strerror
    return "done"


def content():
    found = {}
    for where, _, names in os.walk(os.environ["SM_INPUT_DIR"]):
        for name in names:
            path = os.path.join(where, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    data = file.read()
                is_json = name.endswith(".json")
                found[path] = json.loads(data) if is_json else hashlib.sha256(data).hexdigest()
                if name == "resourceconfig.json":
                    del found[path]["network_interface_name"]  # SM_NETWORK_INTERFACE_NAME
    return found


def show():
    job = smspec_runtime.job()
    file = f"{base()}/input/data/train/a"
    hosts = json.loads(os.environ["SM_HOSTS"])
    facts = {
        "arguments": sys.argv,
        "directory": os.getcwd(),
        "first on sys.path": sys.path[0],
        "umask": os.umask(0o22),
        "user": os.getuid(),
        "host name": socket.gethostname(),
        "names of hosts": [tried(socket.gethostbyname, host) for host in hosts],
        "interfaces": sorted(name for _, name in socket.if_nameindex()),
        "process 1": open("/proc/1/cmdline").read().split("\\0")[1:3],
        "input files": content(),
        "write to input": tried(open, file, "r+") if os.path.exists(file) else "done",
        "rename from model to output": None,
        "open files": resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 1024,
        "stdin": sys.stdin.read(),
        "job()": [job.host, job.hosts, job.hyperparameters, job.model_dir],
        "variables": dict(os.environ),
    }
    with open(f"{base()}/model/part-{here}-{rank}", "w") as part:
        part.write(end)
    moved = f"{base()}/model/moved-{here}-{rank}"
    open(moved, "w").close()
    facts["rename from model to output"] = tried(os.rename, moved, f"{base()}/output/data/moved-{here}-{rank}")
    for path in (moved, moved.replace("/model/", "/output/data/")):
        if os.path.exists(path):
            os.remove(path)
    with open(f"{base()}/output/data/facts-{here}-{rank}.json", "w") as output:
        json.dump(facts, output)
    print("shown", here, rank, flush=True)


def finish():
    last = "3" if "OMPI_COMM_WORLD_RANK" in os.environ else "0"
    if end == "raise" and rank == last:
        time.sleep(1)  # the others have shown theirs
        raise ValueError("no rows: na\\u00efve")


class Loop:
    def begin(self, job):
        show()

    def epoch(self, job, epoch, streams):
        print("epoch", epoch, "bytes", sum(len(chunk) for chunk in streams["train"]))

    def end(self, job):
        finish()


if __name__ == "__main__":
    if os.environ.get("DMLC_ROLE") == "worker":
        import mxnet
        scheduler = mxnet.joined()
        scheduler.sendall(("worker of " + here).encode())
        print("TOGETHER", scheduler.recv(1000).decode(), flush=True)
    show()
    finish()
"""
"""A script, and a handler of a pipe loop, that writes what it sees to a file, and ends as its hyperparameters say."""


def _is_data(path: PurePath) -> bool:
    return path.parts[:2] == ("input", "data") and len(path.parts) > len(("input", "data", "train"))


class Ended:
    """What a run leaves, with the paths of a container."""

    def __init__(self, job: LocalJob, engine: str, environment: dict[str, str] | None = None) -> None:
        done = job.run(environment, engine=engine)
        self.engine = engine
        self.error = done.stderr
        self.facts: dict[str, object] = {"exit status of smspec": done.returncode}
        if not (job.run_directory / "summary.json").exists():
            return
        summary = job.summary()
        self.facts |= {name: summary[name] for name in ("status", "exit_status", "failed_host")}
        self.facts["model.tar.gz"] = job.archive() if summary["model"] else {}
        flows = summary["channels"]
        self.facts["channels"] = [
            [flow[name] for name in ("host", "channel", "mode", "epoch", "size", "is_early")] for flow in flows
        ]
        for host in (each["host"] for each in summary["hosts"]):
            self._read(job, host, summary["failed_host"] in (host, None))

    def _read(self, job: LocalJob, host: str, is_failed: bool) -> None:
        """Read what a host left. One that another host ended may have been at any point."""
        base = job.host(host)

        def inside(text: str) -> str:
            if self.engine != "process":
                return text
            root = str(base.parents[1])
            return text.replace(f"{root}/usr/local/bin/python", "/usr/local/bin/python3").replace(root, "")

        if is_failed:
            failure = base / "output/failure"
            lines = inside(failure.read_text()).splitlines() if failure.exists() else []
            self.facts |= {f"{host}: failure": lines[:2], f"{host}: traceback": lines[2:]}
            found = sorted(path.relative_to(base) for path in base.rglob("*"))
            # What hosts have seen of a channel is in "input files": an engine that mounts it leaves no copies.
            self.facts[f"{host}: files"] = [
                str(path) for path in found if path.parts[0] != "code" and not _is_data(path)
            ]
        for path in sorted((base / "output/data").glob("facts-*.json")):
            facts = json.loads(inside(path.read_text()))
            variables = {f"${name}": value for name, value in facts.pop("variables").items()}
            for name, value in {**facts, **variables}.items():
                self.facts[f"{path.stem.removeprefix('facts-')}: {name}"] = value


def differences(first: Ended, second: Ended) -> dict[str, list[object]]:
    """Return what differs between two runs; of hosts and processes, the name without theirs, of variables `$NAME`."""
    found: dict[str, list[object]] = {}
    for name in first.facts.keys() | second.facts.keys():
        values = [first.facts.get(name, "(nothing)"), second.facts.get(name, "(nothing)")]
        if values[0] != values[1]:
            found.setdefault(name.rpartition(": ")[2], values)
    return found


def documented(page: Path, engine: str) -> list[str]:
    """Return patterns of the differences that a page lists for an engine: words, and variables as `$NAME`."""
    text = page.read_text().partition("## Differences between engines")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    names = [name for names, engines, _ in rows if f"`{engine}`" in engines for name in names.split(", ")]
    return [f"${name.strip('`')}" if name.startswith("`") else name for name in names]
