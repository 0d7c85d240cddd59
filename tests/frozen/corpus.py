"""The cases whose outputs `outputs.py` records: a directory each, and commands that run there one after the other.

They are plain files, made from the working tree, so every state of the compiler gets the same. A word of a command that
contains `*` stands for the paths that match it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.git_repository import git, repository
from support.local.local_jobs import HEAD
from support.spec.key_changes import CHANGES, changed

ROOT = Path(__file__).parents[2]
EXAMPLES = [path.parent for path in sorted((ROOT / "specs").glob("*/job.yaml"))]
VALIDATED = [["--format", name] for name in ("text", "json", "sarif", "github", "junit", "mermaid", "html")]
COMPARED = [["--format", name] for name in ("text", "json", "markdown", "github")]
RENDERED = [
    *([f"--{kind}"] for kind in ("api-json", "dockerfile", "entrypoint", "spec", "ack", "step-functions", "terraform")),
    *(["--iam-policy"], ["--iam-policy=submitter"], ["--batch", "queue"], ["--spec", "--origins"]),
]
IMPORTED = {"api-json": [], "ack": [], "step-functions": [], "batch": ["queue"]}
TEMPLATES = ("script", "pipe", "torchrun", "mpi")
ENGINES = ("process", "namespace")
"""Those that need no container engine."""

WRITTEN = shutil.ignore_patterns("build", "run", "rehearsal", "__pycache__", "expected.txt", "said*.txt", "sent.json")
DATE = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
KEYS_OF_RUN = """\
source: src/
entry_point: train.py
hosts: {instance_type: ml.m5.large, count: 1, volume: 1GB}
channels: {train: {s3: "s3://data/train/", local: data/, size: 12GB}}
metrics: [{name: loss, regex: "loss=(.*?);"}]
hyperparameters: {lr: 0.1}
"""
TRAIN = """\
import os
for epoch in range(5):
    print(f"loss={1 / (epoch + 1):.3f};")
open(os.path.join(os.environ["SM_MODEL_DIR"], "model-" + os.environ["SM_CURRENT_HOST"]), "w").close()
"""


class Case(NamedTuple):
    """A name, commands, and what the directory contains: a copy of a different one, and files."""

    name: str
    commands: list[list[str]]
    copied: Path | None = None
    files: dict[str, str] = {}


def make(directory: Path, chosen: str) -> dict[str, list[list[str]]]:
    """Write the directories of the cases that match a regex, and return their commands."""
    commands = {}
    for case in _cases():
        if not re.search(chosen, case.name):
            continue
        commands[case.name] = case.commands
        place = directory / case.name
        if case.copied:
            shutil.copytree(case.copied, place, symlinks=True, ignore=WRITTEN)
        place.mkdir(parents=True, exist_ok=True)
        for name, text in case.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        if case.name == "repository":
            git(repository(place), "add", "-A")
            git(place, "commit", "-q", "-m", "x", **DATE)
            for spec in place.glob("*/job.yaml"):
                spec.write_text(_mutations(spec.read_text())["numbers"])
    return commands


def _cases() -> Iterator[Case]:
    yield from _runs()
    yield from _examples()
    yield from _rejected()
    yield from _imports()
    yield from _differences()
    yield from _words()


def _runs() -> Iterator[Case]:
    for engine in ENGINES:
        run = ["run", "--engine", engine, "--python", "python3"]
        head = "".join(f"{line}\n" for line in HEAD.splitlines() if not line.startswith("hosts:"))
        files = {"job.yaml": head + KEYS_OF_RUN, "src/train.py": TRAIN, "data/a.csv": "1,2\n" * 100}
        yield Case(f"run/{engine}", [run, [*run, "--format", "json"], ["collect", "run/job"]], files=files)


def _examples() -> Iterator[Case]:
    for example in [*EXAMPLES, ROOT / "tests/support/locked"]:
        text = (example / "job.yaml").read_text()
        commands = [["validate", *form] for form in [*VALIDATED, ["-v", "--strict"]]]
        commands += [["fmt", "--check"], ["build", "-v"], ["build", "--check", "--format", "json"]]
        for name in re.findall(r"^  ([\w-]+):", text.partition("\noverlays:")[2], re.MULTILINE):
            commands += [["build", "-O", name], *(["render", *kind, "-O", name] for kind in RENDERED)]
        commands += [["render", *kind] for kind in RENDERED]
        for kind, more in IMPORTED.items():
            commands += [["render", f"--{kind}", *more, "-o", kind], ["import", f"{kind}/*"]]
        commands += [["diff", *form, "api-json/*", "job.yaml"] for form in COMPARED]
        yield Case(f"specs/{example.name}", commands, example)
        copies = _mutations(text)
        commands = [["diff", *form, "job.yaml", f"{name}.yaml"] for name in copies for form in COMPARED]
        files = {f"{name}.yaml": mutated for name, mutated in copies.items()}
        yield Case(f"mutated/{example.name}", commands, example, files)

    commands = [["validate", *form, "."] for form in [*VALIDATED, ["--changed", "HEAD", "-v"]]]
    commands += [["diff", "--base", "HEAD", *form] for form in [*COMPARED, ["--fail-on", "security,cost>20%"]]]
    commands += [["render", "--api-json", "-o", "requests", "."], ["build", "."], ["fmt", "."]]
    yield Case("repository", commands, ROOT / "specs")


def _mutations(spec: str) -> dict[str, str]:
    """Return copies of a spec: each without one of its keys, and one with different numbers."""
    parts = re.split(r"(?m)^(?=\w)", spec)
    copies = {part.partition(":")[0]: spec.replace(part, "") for part in parts[1:]}
    return {**copies, "numbers": re.sub(r"(?<=[ :])[1-8](?=[,}\n]|GB)", lambda digit: str(int(digit[0]) + 1), spec)}


def _rejected() -> Iterator[Case]:
    for case in sorted(path for path in (ROOT / "tests/rejected").iterdir() if (path / "expected.txt").exists()):
        if (case / "command.txt").exists():
            words = (case / "command.txt").read_text().split()
        else:
            words = (
                ["validate", "job.yaml"] if (case / "job.yaml").exists() else ["validate", "--api-json", "request.json"]
            )
        forms = VALIDATED if words[0] == "validate" else [[]]
        more = [["render", "--api-json"], ["validate", "--fix"], ["fmt"]] if words == ["validate", "job.yaml"] else []
        yield Case(f"rejected/{case.name}", [*([*words, *form] for form in forms), *more], case)


def _imports() -> Iterator[Case]:
    for source in sorted((ROOT / "tests/imported").glob("**/source.*")):
        options = [[], ["-o", "imported"], ["--job", "1"], ["--job", "2"]]
        files = {source.name: source.read_text()}
        yield Case(f"imported/{source.parent.name}", [["import", source.name, *each] for each in options], files=files)


def _differences() -> Iterator[Case]:
    names = ("src/train.py", "src/other.py", "src/a.py", "src/reader.py", "other/train.py", "requirements.txt")
    sources = {
        name: "" if name == "requirements.txt" else "class Trainer: pass\nb = c = Other = Trainer\n" for name in names
    }
    for key, (spec, value) in CHANGES.items():
        old = {name: there for name, there in spec.items() if there is not None}
        specs = {"old.yaml": json.dumps(old, indent=1), "new.yaml": json.dumps(changed(spec, key, value), indent=1)}
        yield Case(f"diff/{key}", [["diff", *form, *specs] for form in COMPARED], files={**sources, **specs})


def _words() -> Iterator[Case]:
    """Yield what depends on no job: help, misuse, explanations, and new jobs."""

    def printed(word: str) -> str:
        return subprocess.run([sys.executable, "-m", "smspec", word], capture_output=True, text=True).stdout

    names = re.findall(r"^  ([a-z]+)  ", printed("--help"), re.MULTILINE)
    plain = [[], ["--help"], ["--version"], ["nonsense"], ["schema"], ["explain"], ["explain", "SM999"]]
    plain += [["--completion", shell] for shell in ("bash", "zsh", "fish")]
    yield Case("words", plain + [[name, word] for name in names for word in ("--help", "--nonsense", "missing.yaml")])
    explained = re.findall(r"^\s*(SM\d+|[a-z][\w.*]+)(?=:|$)", printed("explain"), re.MULTILINE)
    yield Case("explain", [["explain", name] for name in explained])
    new = [["init", "--template", name, name] for name in TEMPLATES]
    yield Case("init", [*new, *(["validate", "-v", name] for name in TEMPLATES), ["init", "script"]])
    yield Case("docs", [["page", f"docs/{path.name}"] for path in sorted((ROOT / "docs").glob("*.py"))])
    scripts = {f"src/{path.name}": path.read_text() for path in (ROOT / "specs/script-mode/src").glob("*.py")}
    yield Case("init-from", [["init", "--from", "src/train.py"], ["validate"]], files=scripts)
