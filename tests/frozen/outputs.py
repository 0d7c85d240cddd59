"""Records what smspec prints and writes, and compares two states of the tree: ``make frozen REV=main``.

``python tests/frozen/outputs.py write DIR`` records the working tree; ``compare REV`` also records the revision, and
prints what differs. ``--only REGEX`` chooses cases of `corpus`. There is no network, and an empty cache.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import hashlib
import importlib
import json
import os
import re
import runpy
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import traceback
from glob import glob
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("compiler", "runtime", "schemas")
LOADS_MOST = "specs/script-mode"
SECONDS = 120
"""Then SIGALRM ends a command, and that is its status."""
MOST_LINES = 24
MOST_BYTES = 1 << 22

SURROUNDINGS = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull),
    "AWS_EC2_METADATA_DISABLED": "true",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}

MASKS = [
    # cases, what varies, what is recorded
    (r"", r"{place}/tmp/[\w.-]+", "TEMPORARY"),
    (r"", r"{place}", "PLACE"),
    (r"", r"{root}(?!/\.venv)", "ROOT"),
    (r"", r"(?m)^waiting for AWS credentials\n", ""),
    (r"^run/", r'(?<="identity": ")[0-9a-f]+', "0"),
    (r"^run/", r"\d+(?:[.:,]\d+)*", "0"),
    (r"^run/", r"(?<=[ >])-(?=[\n<])", "0"),
    (r"^run/", r"  +", "  "),
]
"""Directories of the recording; a wait of over a second; in runs, times, sizes, identifiers, and widths of columns."""


DIGESTS = re.compile(r"\b[0-9a-f]{64}\b|(?<=-)[0-9a-f]{10}\b|\b[0-9a-f]{12}\b")
"""They change with the runtime and the modules that `render/templates_digest.py` reads; --mask-digests ignores that."""


def start(root: Path, cases: Path, directory: Path, workers: int) -> list[subprocess.Popen[bytes]]:
    """Start the processes that record the outputs of one state of the tree to a directory."""
    started = []
    for number in range(workers):
        place = Path(f"{cases.parent}/{number}-{directory.name.ljust(9, '-')}")
        for name in ("home", "tmp", "cache"):
            (place / name).mkdir(parents=True)
        paths = [*(root / name for name in PACKAGES), ROOT / "tests"]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "HOME": f"{place}/home",
            "TMPDIR": f"{place}/tmp",
            "SMSPEC_CACHE_DIR": f"{place}/cache",
            **SURROUNDINGS,
        }
        words = ["record", root, cases, directory, place, number, workers]
        worker = [sys.executable, __file__, *map(str, words)]
        started.append(subprocess.Popen(worker, env=environment, stdin=subprocess.DEVNULL))
    return started


class Recorder:
    """Runs commands in forks of this process, which has loaded the package, and writes what each leaves."""

    def __init__(self, root: Path, directory: Path, place: Path) -> None:
        self._root, self._directory, self._place = root, directory, place
        self._work = place / "work"

    def record(self, cases: Path, number: int, workers: int) -> None:
        """Record this worker's share of the cases."""
        commands = json.loads((cases / "commands.json").read_text())
        if LOADS_MOST in commands:
            self._enter(cases, LOADS_MOST)
            self._fork(lambda: self._list_modules(commands[LOADS_MOST]))
            for name in (self._place / "modules").read_text().split():
                importlib.import_module(name)
            gc.collect()
            gc.freeze()
        for name in [*commands][number::workers]:
            self._enter(cases, name)
            status = self._fork(lambda name=name: self._record(name, commands[name]))
            if status:
                self._write(name, "ended.txt", f"ended with status {status}\n")

    def _record(self, case: str, commands: list[list[str]]) -> None:
        if os.path.exists("make.py"):
            runpy.run_path("make.py")
        before = self._files()
        for at, words in enumerate(commands):
            status, *streams = self._ended(words)
            command = " ".join(words)
            title = f"{at:03} {re.sub(r'[^.=A-Za-z0-9-]+', '_', command)}"
            text = "$ smspec {}\nexit status {}\n-- stdout\n{}\n-- stderr\n{}\n".format(command, status, *streams)
            self._write(case, f"{title}.txt", text)
            after = self._files()
            for path in sorted(path for path in before | after if before.get(path) != after.get(path)):
                self._write(case, f"{title}/{path}", self._content(path, after))
            before = after

    def _enter(self, cases: Path, name: str) -> None:
        os.chdir(self._place)
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(cases / name, self._work, symlinks=True)
        os.chdir(self._work)

    def _fork(self, action) -> int:
        """Return how a fork of this process ends that does something, with what only it has cached."""
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        status = 70
        try:
            signal.alarm(SECONDS)
            action()
            status = 0
        finally:
            if status:
                traceback.print_exc()
            os._exit(status)

    def _ended(self, words: list[str]) -> tuple[int, str, str]:
        """Run a command with files as its streams, and return its exit status and what it printed."""
        paths = [self._place / name for name in ("out", "err")]
        for number, path in enumerate(paths, start=1):
            stream = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(stream, number)
            os.close(stream)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        try:
            status = self._run(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = (path.read_text("utf-8", "replace") for path in paths)
        return status, out, err

    def _run(self, words: list[str]) -> int:
        if words[0:1] == ["page"]:
            print(runpy.run_path(str(self._root / words[1]))["page"]())
            return 0
        from smspec.cli import main

        sys.argv[1:] = [path for word in words for path in (sorted(glob(word)) or [word] if "*" in word else [word])]
        return main(sys.argv[1:])

    def _list_modules(self, commands: list[list[str]]) -> None:
        for words in commands:
            self._ended(words)
        (self._place / "modules").write_text("\n".join(name for name in sys.modules if name.startswith("smspec")))

    def _files(self) -> dict[str, tuple[int, ...]]:
        """Return the state of each file by its path, except for those of git."""
        found = {}
        for where, directories, names in os.walk("."):
            directories[:] = [name for name in directories if name != ".git"]
            for path in (os.path.join(where, name) for name in names):
                state = os.lstat(path)
                found[os.fsencode(path).decode("utf-8", "replace")[2:]] = (
                    *(state.st_mode, state.st_size),
                    *(state.st_mtime_ns, state.st_ino),
                )
        return found

    def _content(self, path: str, files: dict[str, tuple[int, ...]]) -> str:
        if path not in files:
            return "removed\n"
        mode, size, *_ = files[path]
        if not stat.S_ISREG(mode) or size > MOST_BYTES:
            return f"{stat.filemode(mode)} {size}\n"
        content = Path(path).read_bytes()
        try:
            return f"{stat.filemode(mode)}\n{content.decode()}"
        except UnicodeDecodeError:
            return f"{stat.filemode(mode)} sha256 {hashlib.sha256(content).hexdigest()}\n"

    def _write(self, case: str, name: str, text: str) -> None:
        for cases, pattern, mask in MASKS:
            if re.search(cases, case):
                pattern = pattern.format(place=re.escape(str(self._place)), root=re.escape(str(self._root)))
                text = re.sub(pattern, mask, text)
        path = self._directory / case / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def outputs(directory: Path) -> dict[str, str]:
    """Return the recorded outputs by their names."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes().decode() for path in paths}


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return what differs, as short unified diffs; equal ones are one, with the names of all outputs."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(name for name in old | new if old.get(name) != new.get(name)):
        texts = [state.get(name, "(no output)\n").splitlines() for state in (old, new)]
        lines = [*difflib.unified_diff(*texts, n=1, lineterm="")][2:]
        changes = tuple(line for line in lines if line[0] in "+-")
        found.setdefault(changes, []).append("\n".join([name, *lines[:MOST_LINES], *["…"] * (len(lines) > MOST_LINES)]))
    same = "\nthe same in {} more outputs, such as {}"
    return [
        first + (same.format(len(more), more[-1].partition("\n")[0]) if more else "") for first, *more in found.values()
    ]


def recorded(roots: dict[Path, Path], only: str) -> None:
    """Record several states of the tree at the same time, each to its directory."""
    sys.path.insert(0, str(ROOT / "tests"))
    from frozen.corpus import make

    with tempfile.TemporaryDirectory(prefix="smspec-frozen-") as temporary:
        cases = Path(temporary).resolve() / "cases"
        cases.mkdir()
        (cases / "commands.json").write_text(json.dumps(make(cases, only)))
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = max(1, cores // len(roots))
        started = [each for root, directory in roots.items() for each in start(root, cases, directory, workers)]
        statuses = [each.wait() for each in started]
        if any(statuses):
            raise SystemExit("a worker failed")


def compared(revision: str, only: str, is_tag_masked: bool) -> int:
    """Print what differs from a revision, and return the exit status."""
    with tempfile.TemporaryDirectory(prefix="smspec-frozen-") as temporary:
        old, new, tree = (Path(temporary).resolve() / name for name in ("old", "new", "tree"))
        tree.mkdir()
        archive = subprocess.run(["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
        recorded({tree: old, ROOT: new}, only)
        before, after = outputs(old), outputs(new)
    if is_tag_masked:
        before, after = ({name: DIGESTS.sub("DIGEST", text) for name, text in each.items()} for each in (before, after))
    found = differences(before, after)
    print("\n\n".join(found) if found else f"{len(after)} outputs are equal")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        root, cases, directory, place, *numbers = sys.argv[2:]
        Recorder(Path(root), Path(directory), Path(place)).record(Path(cases), *map(int, numbers))
        sys.exit()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("where", metavar="DIR|REV")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--mask-digests", action="store_true", help="ignore tags and names of jobs")
    arguments = parser.parse_args()
    if arguments.action == "compare":
        sys.exit(compared(arguments.where, arguments.only, arguments.mask_digests))
    recorded({ROOT: Path(arguments.where).absolute()}, arguments.only)
