"""Exit status and stream of every outcome of a command, without tracebacks."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from smspec.cli import COMMANDS, GROUPS
from support.small_job import BUILT, READY, write_job
from support.smspec_command import environment, smspec, smspec_process


def process(*words, **options):
    """Start the command as a process that can be talked to."""
    return subprocess.Popen(
        [sys.executable, "-m", "smspec", *words], **{"stdin": subprocess.DEVNULL, "env": environment(), **options}
    )


# 0


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_and_version_go_to_stdout(words):
    done = smspec(*words)
    assert (done.status, done.err) == (0, "")
    assert done.out


def test_overview_names_every_command():
    groups = smspec("--help").out.partition("\n\n")[2].partition("\n\noptions:")[0].split("\n\n")
    shown = {group.partition(":\n")[0]: group.partition(":\n")[2].splitlines() for group in groups[-len(GROUPS) :]}
    assert {group: [line.split()[0] for line in lines if line[2] != " "] for group, lines in shown.items()} == {
        group: [*commands] for group, commands in GROUPS.items()
    }


def test_warnings_fail_only_with_strict(tmp_path):
    spec = "checks: {ignore: [{rule: SM407, because: why not}]}\n" + READY
    write_job(tmp_path, spec)
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 0
    assert done.out.startswith("warning[SM331]")
    strict = smspec("validate", "--strict", cwd=tmp_path)
    assert (strict.status, strict.out) == (1, done.out)


# 1


@pytest.mark.parametrize("words", [["build"], ["render", "--api-json"], ["render", "--spec"], ["run"]])
def test_faulty_spec_exits_1_and_writes_no_output(words, tmp_path):
    write_job(tmp_path, BUILT.replace("entry_point", "entrypoint"))
    before = sorted(os.listdir(tmp_path))
    done = smspec(*words, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[SM")
    assert "job.yaml:7:1" in done.err
    assert sorted(os.listdir(tmp_path)) == before


def test_broken_yaml_exits_1(tmp_path):
    (tmp_path / "job.yaml").write_bytes(b"\x00\xff{[")
    assert smspec("validate", cwd=tmp_path).status == 1
    assert smspec("build", cwd=tmp_path).status == 1


# 2


@pytest.mark.parametrize("words", [["validate"], ["validate", "--api-json"], ["build"], ["import"], ["lock"]])
def test_dangling_link_is_reported(tmp_path, words):
    (tmp_path / "linked.yaml").symlink_to("gone.yaml")
    done = smspec(*words, "linked.yaml", cwd=tmp_path)
    assert done == (2, "", "smspec: `linked.yaml` is a link to `gone.yaml`, which does not exist\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["vlidate"], "unknown command `vlidate`; did you mean `validate`?"),
        (["qqqqqq"], "unknown command `qqqqqq`"),
        (["--format", "json", "validate"], "unknown option `--format`; the command comes first"),
        (["validate", "--formt", "json"], "unknown option `--formt`; did you mean `--format`?"),
        (
            ["validate", "--format", "xml"],
            "argument --format: expected one of text, json, sarif, github, junit, mermaid, html, got `xml`",
        ),
        (["validate", "gone.yaml"], "cannot find `gone.yaml`"),
        (["validate", "job.yaml/x.yaml"], "cannot find `job.yaml/x.yaml`"),
        (["validate", "src"], "no job spec found in `src`"),
        (["validate", "-O", "dve"], "the spec has no overlay `dve`: did you mean `dev`?"),
        (["render", "--api-json", "src"], "no job spec found in `src`"),
        (["run", "src"], "no job spec found in `src`"),
        (["run", "-"], "pass a file, because paths in a job spec are relative to its directory"),
        (["build", "gone.yaml"], "cannot find `gone.yaml`"),
        (["run", "job.yaml", "job.yaml"], "unexpected argument `job.yaml`"),
        (["render"], "one of the arguments --api-json"),
        (["render", "--api-json", "--spec"], "not allowed with argument --api-json"),
        (["render", "--api-json", "--set", "size=1"], "expected `vars.NAME=VALUE`"),
        (["render", "--api-json", "--set", "vars.size"], "expected `vars.NAME=VALUE`"),
        (["render", "--api-json", "--set", "vars.size=1"], "the spec declares no variable `size`"),
        (["run", "--hosts", "0"], "expected a number of hosts, got `0`"),
        (["run", "--hosts", "two"], "expected a number of hosts, got `two`"),
        (["run", "--rate", "50mb"], "did you mean `50MB`?"),
        (["run", "--rate", "0MB"], "expected a rate such as `50MB/s`, got `0MB`"),
        (["run", "--data", "train"], "expected `CHANNEL=PATH`"),
        (["explain", "SM9999"], "unknown code or key `SM9999`"),
        (["explain", "s3"], "did you mean `source.s3`, `channels.*.s3`, or `output.s3`?"),
        (["explain", "hosts.instnce_type"], "did you mean `hosts.instance_type`?"),
        (
            ["init", "--template", "spark"],
            "argument --template: expected one of script, pipe, torchrun, mpi, got `spark`",
        ),
        (["rehearse", "--only", "sopt"], "unknown promise `sopt`; did you mean `spot`?"),
        (["rehearse", "--only", "spot,stop"], "unknown promise `spot,stop`; `smspec rehearse --help` lists them"),
    ],
)
def test_bad_arguments_exit_2_with_one_sentence(words, sentence, tmp_path):
    write_job(tmp_path, BUILT + "overlays: {dev: {retries: 1}}\n")
    done = smspec(*words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.splitlines()[-1].startswith("smspec: ")


@pytest.mark.parametrize("command", ["validate", "build", "run", "diff", "lock"])
def test_missing_spec_suggests_init(command, tmp_path):
    told = "smspec: cannot find `job.yaml`; pass a job spec, or create one with `smspec init`\n"
    assert smspec(command, cwd=tmp_path) == (2, "", told)


def test_missing_command_exits_2_with_the_overview():
    done = smspec()
    assert (done.status, done.out) == (2, "")
    assert done.err == smspec("--help").out


def test_control_characters_are_escaped():
    done = smspec("validate", "\x1b[2J\n\u202e.yaml")
    assert done.err == "smspec: cannot find `\\x1b[2J\\x0a\\u202e.yaml`\n"


def test_undecodable_source_name_exits_1(tmp_path):
    write_job(tmp_path)
    (tmp_path / "src" / os.fsdecode(b"\xff.py")).write_text("")
    done = smspec("build", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert "error[SM263]" in done.err
    assert not (tmp_path / "build").exists()


# 3


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no /proc here: no file that always fails to be read")
@pytest.mark.parametrize("command", ["validate", "build"])
def test_unreadable_spec_exits_3(command):
    """Nothing is mapped at the address 0, so reading there fails, even for root."""
    done = smspec(command, "/proc/self/mem")
    assert (done.status, done.out, done.err) == (3, "", "smspec: `/proc/self/mem`: input/output error\n")


@pytest.mark.parametrize("words", [["render", "--api-json"], ["validate", "--format", "json"], ["schema"], ["--help"]])
def test_full_disk_under_the_result_exits_3(words, tmp_path):
    write_job(tmp_path)
    with open("/dev/full", "w") as full:
        done = smspec_process(*words, cwd=tmp_path, stdout=full)
    assert (done.status, done.err.splitlines()[-1]) == (3, "smspec: standard output: no space left on device")


def test_closed_standard_output_exits_3(tmp_path):
    write_job(tmp_path)
    done = smspec_process("render", "--api-json", cwd=tmp_path, preexec_fn=lambda: os.close(1), stdout=None)
    assert (done.status, done.err) == (3, "smspec: standard output is closed\n")


def test_closed_stderr_keeps_the_exit_status(tmp_path):
    write_job(tmp_path, "nme: x\n" + BUILT)
    with open("/dev/full", "w") as full:
        assert smspec_process("build", cwd=tmp_path, stderr=full).status == 1
    assert smspec_process("build", cwd=tmp_path, preexec_fn=lambda: os.close(2), stderr=None).status == 1


# A reader that goes away


@pytest.mark.parametrize(("spec", "status"), [(BUILT, 0), (BUILT + "nme: x\n", 1)])
def test_closed_stdout_keeps_the_exit_status(spec, status, tmp_path):
    """``smspec render --api-json | head -0``: quiet, and the status is what was decided."""
    write_job(tmp_path, spec)
    for words in (["validate", "--format", "json"], ["render", "--api-json"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = smspec_process(*words, cwd=tmp_path, stdout=writer)
        os.close(writer)
        assert done.status == status
        assert "Broken" not in done.err
        assert "Traceback" not in done.err


# 70


def test_internal_error_exits_70_and_asks_for_a_report(tmp_path, monkeypatch):
    """A registry line that names a module which does not exist is as much a bug as any."""
    from smspec import cli

    monkeypatch.setitem(cli.COMMANDS, "broken", ("smspec.cli.broken", "is not there"))
    monkeypatch.delenv("SMSPEC_DEBUG", raising=False)
    done = smspec("broken")
    assert (done.status, done.out) == (70, "")
    assert "Traceback" not in done.err
    assert done.err.startswith("smspec: internal error: ModuleNotFoundError: ")
    assert "this is a bug in smspec: report the line above" in done.err
    monkeypatch.setenv("SMSPEC_DEBUG", "1")
    assert "Traceback (most recent call last)" in smspec("broken").err


# 130


@pytest.mark.skipif(
    not os.path.exists("/proc/self/wchan"), reason="no /proc here: nobody tells what a process waits for"
)
def test_ctrl_c_exits_130_without_output(tmp_path):
    """The spec is a pipe without a writer, so the command is waiting when the signal arrives."""
    write_job(tmp_path)
    fifo = tmp_path / "spec.yaml"
    os.mkfifo(fifo)
    before = sorted(os.listdir(tmp_path))
    command = process("build", "spec.yaml", cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer = open_when_read(fifo, command)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=30)
    os.close(writer)
    assert (command.returncode, out, err) == (130, b"", b"")
    assert sorted(os.listdir(tmp_path)) == before


def open_when_read(fifo, command, seconds=30):
    """Open a FIFO for writing as soon as the command reads it, and return when it waits for the first byte.

    CPython notices a signal that comes right before a system call only after that call.
    """
    deadline = time.monotonic() + seconds
    writer = None
    while time.monotonic() < deadline:
        try:
            writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK) if writer is None else writer
            with open(f"/proc/{command.pid}/wchan") as waiting:
                if "pipe_read" in waiting.read():
                    return writer
        except OSError:
            pass
        time.sleep(0.01)
    raise AssertionError("nobody reads the FIFO")


# 143, 129


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_interrupted_build_leaves_no_partial_output(number, tmp_path):
    """The source takes a moment to copy; a signal that comes too late or too early is sent again to another build."""
    write_job(tmp_path)
    with open(tmp_path / "src" / "large", "wb") as file:
        file.truncate(200 << 20)
    for _ in range(20):
        command = process("build", cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while command.poll() is None and not list(tmp_path.glob("build/.smspec-tmp-*/source/large")):
            time.sleep(0.001)
        command.send_signal(number)
        _, err = command.communicate(timeout=30)
        assert b"Traceback" not in err
        assert not list(tmp_path.glob("build/.smspec-tmp-*"))
        if command.returncode == 128 + number:
            assert not (tmp_path / "build").exists()
            return
        assert command.returncode == 0
        shutil.rmtree(tmp_path / "build")
    raise AssertionError("no build was ever stopped")


def test_closed_streams_keep_their_descriptors(tmp_path):
    """What another process or a library writes to standard error would go into it."""
    script = (
        "import os; from smspec.cli import main; main(['--version']);"
        "number = os.open('next', os.O_CREAT | os.O_WRONLY); os.write(number, b'%d' % number)"
    )
    command = f"exec {shlex.quote(sys.executable)} -c {shlex.quote(script)} <&- >&- 2>&-"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=30)
    assert int((tmp_path / "next").read_text()) > 2
