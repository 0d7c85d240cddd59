"""A package index whose page never ends: what `lock` and `run` start ends with them, and within a limit of memory."""

import io
import os
import resource
import signal
import subprocess
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from smspec.workspace.process_guard import LARGEST_FILE
from support.installed_program import installed
from support.small_job import BUILT, write_job

SPEC = BUILT.replace('bookworm"}', 'bookworm", python_requirements: requirements.txt}')
DIGEST = "sha256:" + "0" * 64
SECONDS = 30
LOCK = ("lock", f"--digest=python:3.12-slim-bookworm={DIGEST}")
RUN = ("run", "--engine", "process", "-o", "out")


class Endless(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.server.asked.set()
        try:
            while not self.server.over.is_set():
                self.wfile.write(b'<a href="x">x</a>\n' * 4096)
        except OSError:
            self.server.left.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def index():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    server.asked, server.left, server.over = threading.Event(), threading.Event(), threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=["uv", "pip"])
def start(tmp_path, index, request):
    repository, temporary = tmp_path / "repository", tmp_path / "temporary"
    write_job(repository, SPEC, **{"requirements.txt": "numpy\n"})
    (repository / ".git").mkdir()
    temporary.mkdir()
    path = tmp_path / "programs"
    path.mkdir()
    if request.param == "uv":
        if installed("uv") is None:
            pytest.skip("uv is not installed")
        (path / "uv").symlink_to(installed("uv"))
    variables = {
        **os.environ,
        "PIP_INDEX_URL": f"http://127.0.0.1:{index.server_port}/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PATH": f"{path}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "SMSPEC_CACHE_DIR": str(tmp_path / "cache"),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "TMPDIR": str(temporary),
    }
    started = []

    def start(*words, **more):
        process = subprocess.Popen(
            [sys.executable, "-m", "smspec", *words],
            cwd=repository,
            env={**variables, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=limited,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def limited():
    """The limit of installers is that of smspec where that is lower: the machine of the test has less memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))


@pytest.mark.parametrize("words", [LOCK, RUN], ids=["lock", "run"])
def test_killed_command_leaves_no_installer(start, index, tmp_path, words):
    process = start(*words)
    assert index.asked.wait(SECONDS)
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)
    assert index.left.wait(SECONDS)
    left = set(Path(tmp_path, "temporary").iterdir())
    assert left
    index.over.set()
    start(*words).wait(SECONDS)
    assert not left & set(Path(tmp_path, "temporary").iterdir())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits all data of a process")
@pytest.mark.parametrize("words", [LOCK, RUN], ids=["lock", "run"])
def test_endless_page_is_an_error_within_the_limit_of_memory(start, index, words):
    process = start(*words)
    output, _ = process.communicate(timeout=2 * SECONDS)
    assert process.returncode == 3, output
    assert "of memory" in output
    assert index.left.wait(SECONDS)


BACKEND = """
import os, tempfile
def build_wheel(*_):
    found = []
    for size in (LARGEST, LARGEST + 1):
        with tempfile.TemporaryFile() as file:
            try:
                os.truncate(file.fileno(), size)  # it needs no room on the disk
                found.append("made")
            except OSError:
                found.append("refused")
    with open("RESULT", "w") as file:
        file.write(" ".join(found))
    raise SystemExit(1)
"""


def test_code_of_a_package_writes_no_file_above_the_limit(start, tmp_path):
    """What pip or uv starts to build it inherits their limit."""
    files = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "numpy"\nversion = "1.0"\n',
        "backend.py": BACKEND.replace("LARGEST", str(LARGEST_FILE)).replace("RESULT", str(tmp_path / "result")),
    }
    (tmp_path / "packages").mkdir()
    with tarfile.open(tmp_path / "packages/numpy-1.0.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"numpy-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    process = start(*RUN, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "packages"))
    output, _ = process.communicate(timeout=2 * SECONDS)
    assert process.returncode != 0
    assert (tmp_path / "result").exists(), output
    assert (tmp_path / "result").read_text() == "made refused"
