"""Sources, kinds, and requirements of the training script."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

import pytest

from support.runtime.code_archives import archive
from support.runtime.container import RUNTIME, SHOW, Container, wait_until


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def submitted(container, location, **environ):
    container.configure({"sagemaker_submit_directory": str(location), "sagemaker_program": "train.py"})
    return container.run(environ=environ)


def test_python_script_runs(any_python, tmp_path):
    """`python -- train.py`: the name as it was given, the code directory as current directory and first in the path."""
    container = Container(tmp_path / "ml", any_python)
    container.configure({"sagemaker_program": "pkg/train.py"})
    container.write("code/pkg/train.py", SHOW)
    shown = container.run().shown
    assert shown["argv"] == ["pkg/train.py"]
    assert shown["cwd"] == str(container.base / "code")
    assert shown["path"][0].endswith("pkg")
    assert str(container.base / "code") in shown["path"]
    assert shown["environ"]["SM_MODULE_NAME"] == "pkg/train"


def test_environment_overrides_the_hyperparameter(container):
    """SAGEMAKER_PROGRAM before sagemaker_program."""
    container.configure({"sagemaker_program": "other.py"})
    assert container.run_script("print('train')").stdout == b"train\n"


@pytest.mark.parametrize("shebang", ["#!/bin/sh\n", ""])
def test_shell_script_runs(container, shebang):
    """With or without a first line that names the shell; it is made executable, for nobody to write."""
    path = container.write("code/run.sh", f'{shebang}echo "$0 $PWD"\n', 0o640)
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert done.stdout.decode() == f"./run.sh {container.base}/code\n"
    assert path.stat().st_mode & 0o777 == 0o750


def test_shell_script_from_windows_runs(container):
    """The carriage return belongs to the name of the interpreter: not found."""
    container.write("code/run.sh", "#!/bin/sh\r\necho ran\r\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert (done.status, done.stdout) == (127, b"")


def test_other_executables_run(container):
    """Anything that is neither .py nor .sh is run as it is."""
    container.write("code/bin/train", "#!/usr/bin/env python3\nimport sys; print(sys.argv)\n", 0o755)
    assert container.run(environ={"SAGEMAKER_PROGRAM": "bin/train"}).stdout == b"['./bin/train']\n"


def test_command_of_the_plan_runs(container):
    """Found on PATH, or a file of the code directory."""
    container.write("code/train", "#!/bin/sh\necho own $1\n", 0o755)
    plan = {"kind": "command", "command": ["./train", "--fast"], "args_style": "none"}
    assert container.run(plan=plan).stdout == b"own --fast\n"
    plan = {"kind": "command", "command": ["echo", "found"], "args_style": "none"}
    assert container.run(plan=plan).stdout == b"found\n"


def test_function_is_called_with_the_job(any_python, tmp_path):
    """`module: "ctr.training:main"`."""
    container = Container(tmp_path / "ml", any_python)
    container.configure({"lr": "0.5"})
    container.write("code/ctr/training.py", "def main(job):\n    print(job.hyperparameters['lr'], job.host)\n")
    container.write("code/ctr/__init__.py", "")
    plan = {"kind": "module", "program": "ctr.training:main", "args_style": "none"}
    done = container.run(plan=plan, options=["-I"])
    assert (done.status, done.stdout) == (0, b"0.5 algo-1\n"), done.stderr


def test_framework_function_is_called(container):
    """SAGEMAKER_TRAINING_MODULE is called without arguments; SystemExit in it is not a success."""
    container.write("lib/framework.py", "import sys\ndef main():\n    print('framework')\n    sys.exit(5)\n")
    environ = {"SAGEMAKER_TRAINING_MODULE": "framework:main"}
    environ["PYTHONPATH"] = f"{container.environ()['PYTHONPATH']}:{container.base}/lib"
    done = container.run(environ=environ)
    assert (done.status, done.stdout) == (5, b"framework\n"), done.stderr
    assert done.failure is not None


def test_framework_function_ignores_modules_of_the_code(container):
    """It brings the code itself; until then no module of the author's is taken for one of its own."""
    script = "import os, random, sys\ndef main():\n    print(os.getcwd(), [p for p in sys.path if 'code' in p])\n"
    container.write("lib/framework.py", script)
    container.write("code/random.py", "raise SystemExit('the author s')")
    container.write("code/requirements.txt", "for-the-framework-to-install\n")
    environ = {"SAGEMAKER_TRAINING_MODULE": "framework:main"}
    environ["PYTHONPATH"] = f"{container.environ()['PYTHONPATH']}:{container.base}/lib"
    done = container.run(environ=environ, cwd="/usr")
    assert (done.status, done.stdout) == (0, b"/usr []\n"), done.stderr


@pytest.mark.parametrize(
    "name", ["", "../train.py", "/etc/passwd", "a b.py", "./train.py", "-c", "a/../train.py", "x;y"]
)
def test_malformed_entry_points_are_rejected(container, name):
    """A plain relative path below the code directory, nothing that an interpreter or a shell could read otherwise."""
    done = container.run(environ={"SAGEMAKER_PROGRAM": name})
    assert done.status == 1
    assert done.failure.startswith("ClientError: ")
    assert "entry point" in done.failure


def test_entry_point_linked_outside_is_rejected(container):
    os.symlink("/bin/true", container.base / "code/run.sh")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert done.status == 1
    assert "lies outside" in done.failure


def test_missing_script_is_named(container):
    """The message comes from the interpreter."""
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"})
    assert done.status == 2
    assert "train.py" in done.failure.splitlines()[0]


def test_submitted_directory_is_copied(container):
    """`sagemaker_submit_directory` as a local path."""
    container.write("sent/train.py", "import os; print('sent', os.getcwd())")
    done = submitted(container, container.base / "sent")
    assert done.stdout.decode() == f"sent {container.base}/code\n"


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_submitted_archive_is_extracted(any_python, tmp_path, scheme):
    """`sourcedir.tar.gz`, where network isolation puts it."""
    container = Container(tmp_path / "ml", any_python)
    path = container.write("input/data/code/sourcedir.tar.gz", archive({"train.py": b"print('sent')"}))
    done = submitted(container, f"{scheme}{path}")
    assert (done.status, done.stdout) == (0, b"sent\n"), done.stderr


def test_submitted_code_replaces_that_of_the_image(container):
    """The toolkit silently runs what is baked into the image."""
    container.write("code/train.py", "print('baked')")
    container.write("code/left.py", "")
    container.write("sent/train.py", "import os; print('sent', os.listdir())")
    done = submitted(container, container.base / "sent")
    assert done.stdout == b"sent ['train.py']\n"
    assert b"in the place of what the image holds" in done.stderr
    assert sorted(os.listdir(container.base)) == ["code", "input", "model", "output", "sent"]


def test_submit_directory_may_be_the_code_directory(container):
    """A local job names it; nothing is to be done."""
    container.write("code/train.py", "print('here')")
    assert submitted(container, container.base / "code").stdout == b"here\n"


@pytest.mark.parametrize("location", ["/", "..", "{base}", "{base}/../", "file://{base}", "{base}/link"])
def test_submit_directory_around_the_code_is_rejected(container, location):
    """It would copy the whole image."""
    os.symlink(container.base, container.base / "link")
    container.write("code/train.py", "print('baked')")
    container.configure({"sagemaker_submit_directory": location.format(base=container.base)})
    done = container.run(environ={"SAGEMAKER_PROGRAM": "train.py"}, cwd=container.base / "code")
    assert (done.status, done.stdout) == (1, b"")
    assert f"the code directory itself, {container.base}/code, lies in it" in done.failure
    assert sorted(os.listdir(container.base)) == ["code", "input", "link", "model", "output"]


def test_submit_directory_may_prefix_the_code_directory(container):
    container.write("co/train.py", "print('sent')")
    assert submitted(container, container.base / "co").stdout == b"sent\n"


@pytest.mark.parametrize("location", ["/no/such/place", "https://example.com/x.tar.gz", "s3://bucket"])
def test_missing_submit_directory_is_reported(container, location):
    container.write("code/train.py", "print('baked')")
    done = submitted(container, location)
    assert (done.status, done.stdout) == (1, b"")
    assert location in done.failure


def test_damaged_archive_is_rejected(container):
    """Cut off, with a wrong checksum, or not compressed: nothing of it is run, the image's code is left alone."""
    whole = archive({"train.py": b"print('sent')" * 1000})
    wrong = whole[:-8] + b"\0\0\0\0" + whole[-4:]
    for content in (whole[: len(whole) // 2], wrong, archive({"train.py": b""}, "w"), b"", b"\x1f\x8b"):
        container.write("code/train.py", "print('baked')")
        path = container.write("sent.tar.gz", content)
        done = submitted(container, path)
        assert (done.status, done.stdout) == (1, b""), content[:20]
        assert str(path) in done.failure
        assert (container.base / "code/train.py").read_text() == "print('baked')"
        (container.base / "output/failure").unlink()


def test_archive_of_a_different_job_is_rejected(container):
    """The settings carry the digest of what was packed; another archive under the same name is not run."""
    path = container.write("sent.tar.gz", archive({"train.py": b"print('sent')"}))
    content = hashlib.sha256(b"print('sent')").hexdigest()
    right = hashlib.sha256(f"train.py\0-\0{content}\n".encode()).hexdigest()
    hyperparameters = {"sagemaker_submit_directory": str(path), "sagemaker_program": "train.py"}
    container.configure({**hyperparameters, "sagemaker_smspec": json.dumps({"source": right})})
    assert container.run().stdout == b"sent\n"
    container.write("sent.tar.gz", archive({"train.py": b"print('else')"}))
    done = container.run()
    assert (done.status, done.stdout) == (1, b"")
    assert "does not hold the code that the job was made with" in done.failure
    assert (container.base / "code/train.py").read_bytes() == b"print('sent')"


@pytest.mark.parametrize("is_link", [False, True])
def test_code_directory_must_be_a_directory(container, is_link):
    """A file in its place, or a link to nowhere, is named; nothing is run."""
    path = container.write("sent.tar.gz", archive({"train.py": b"print('sent')"}))
    (container.base / "code").rmdir()
    if is_link:
        os.symlink("/no/such/place", container.base / "code")
    else:
        container.write("code", "a file")
    done = submitted(container, path)
    assert (done.status, done.stdout) == (1, b""), done.stderr
    assert f"ClientError: {container.base}/code: File exists" in done.failure


def test_submitted_file_is_rejected(container):
    """A file that is not an archive keeps its name, as with the toolkit."""
    path = container.write("sent/train.py", "print('alone')")
    container.write("sent/other.py", "")
    assert submitted(container, path).stdout == b"alone\n"
    assert os.listdir(container.base / "code") == ["train.py"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_container_stopped_while_extracting_keeps_the_code(container, number):
    """The code directory is what it was: the new code comes into its place whole or not at all."""
    files = {f"{n}.bin": os.urandom(1 << 20) for n in range(80)}  # they stay as large, and level 9 takes seconds
    sent = container.write("sent.tar.gz", archive(files, compresslevel=0))
    container.write("code/train.py", "print('baked')")
    container.configure({"sagemaker_submit_directory": str(sent), "sagemaker_program": "train.py"})
    with container.start() as process:
        staged = container.base / f"code.{process.pid}"
        wait_until(lambda: (staged / "code").exists() and len(os.listdir(staged / "code")) > 3)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == (143 if number == signal.SIGTERM else -number)
    assert os.listdir(container.base / "code") == ["train.py"]
    assert staged.exists() is (number == signal.SIGKILL)


def test_container_killed_while_extracting_can_restart(container):
    """What the first start left half-unpacked is not in the way of the second, which has the same process id."""
    path = container.write("sent.tar.gz", archive({"train.py": b"print('sent')"}))
    container.configure({"sagemaker_submit_directory": str(path), "sagemaker_program": "train.py"})
    command = ["unshare", "--pid", "--fork", "--mount-proc"]
    if os.geteuid() != 0 or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("process 1 needs root and unshare --pid")
    for _ in range(2):
        container.write("code.1/code/half.py", "")
        container.write("code.1/code.tar.gz", "")
        done = container.run(prefix=command)
        assert (done.status, done.stdout) == (0, b"sent\n"), done.stderr
        assert os.listdir(container.base / "code") == ["train.py"]


def test_code_is_read_from_a_channel(container):
    """Delivery by channel: the files themselves, or one archive."""
    plan = {"kind": "script", "program": "run.sh", "delivery": "channel", "args_style": "none"}
    container.configure({}, {"code": {"TrainingInputMode": "File"}})
    container.write("input/data/code/run.sh", "echo files\n")
    container.write("input/data/code/lib/x.txt", "x")
    assert container.run(plan=plan).stdout == b"files\n"
    assert (container.base / "code/lib/x.txt").read_text() == "x"
    (container.base / "input/data/code/run.sh").unlink()
    (container.base / "input/data/code/lib/x.txt").unlink()
    (container.base / "input/data/code/lib").rmdir()
    container.write("input/data/code/sourcedir.tar.gz", archive({"run.sh": b"echo archive\n"}))
    assert container.run(plan=plan).stdout == b"archive\n"


def test_submit_directory_may_be_a_variable(container, tmp_path):
    """The toolkit reads it and overwrites it. The job's hyperparameter wins: an image may set the variable."""
    for name in ("variable", "parameter"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(f"import os; print('{name}', os.environ['SM_MODULE_DIR'])")
    environ = {"SAGEMAKER_SUBMIT_DIRECTORY": str(tmp_path / "variable")}
    done = container.run_script("print('image')", environ=environ)
    assert done.stdout.decode() == f"variable {tmp_path / 'variable'}\n", done.stderr
    container.configure({"sagemaker_submit_directory": str(tmp_path / "parameter")})
    assert container.run_script("print('image')", environ=environ).stdout.startswith(b"parameter ")
    container.configure()
    environ = {"SAGEMAKER_SUBMIT_DIRECTORY": str(container.base / "code")}
    assert container.run_script("print('image')", environ=environ).stdout == b"image\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="another user needs root")
@pytest.mark.parametrize("held", [None, {}, {"old.py": "print('image')"}], ids=["missing", "empty", "image"])
@pytest.mark.parametrize("form", ["archive", "files", "image"])
def test_user_without_write_access_to_the_code_runs(held, form):
    """SageMaker Distribution has a user of its own: the code runs from a directory that this user can write to."""
    with tempfile.TemporaryDirectory(prefix="smspec-test-") as root:
        os.chmod(root, 0o755)
        shutil.copytree(RUNTIME / "smspec_runtime", f"{root}/lib/smspec_runtime")
        container = Container(f"{root}/ml", "/usr/bin/python3")
        os.rmdir(container.base / "code") if held is None else None
        for name, text in (held or {}).items():
            container.write(f"code/{name}", text)
        (container.base / "output").chmod(0o777)
        script = "import os; print('ran', os.getcwd()); open('made', 'w')"
        sent = container.base / "sent"
        environ = {"SAGEMAKER_PROGRAM": "train.py", "PYTHONPATH": f"{root}/lib", "HOME": "/", "TMPDIR": "/tmp"}
        if form == "image":
            environ["SAGEMAKER_PROGRAM"] = "old.py"
        else:
            container.configure({"sagemaker_submit_directory": str(sent)})
            if form == "archive":
                container.write("sent", archive({"train.py": script.encode()}))
            else:
                container.write("sent/train.py", script)
        done = container.run(environ=environ, prefix=["setpriv", "--reuid=65534", "--clear-groups"])
        if form == "image":
            assert (done.stdout == b"image\n") == bool(held), done.stderr
            return
        assert done.status == 0, done.stderr
        directory = done.stdout.decode().split()[1]
        assert directory.startswith("/tmp/smspec-code-")
        assert f"cannot write to {container.base}/code; the code runs from {directory}" in done.stderr.decode()
        shutil.rmtree(directory)


def test_missing_code_channel_is_reported(container):
    plan = {"kind": "script", "program": "run.sh", "delivery": "channel"}
    done = container.run(plan=plan)
    assert done.status == 1
    assert "channel `code`: No such file or directory" in done.failure


def test_s3_without_boto3_suggests_a_fix(container):
    """The runtime contains no S3 client."""
    plan = {"kind": "script", "program": "train.py", "delivery": "s3"}
    container.configure({"sagemaker_submit_directory": "s3://bucket/key/sourcedir.tar.gz"})
    done = container.run(plan=plan, options=["-I", "-S"])
    assert done.status == 1
    assert "the image has no boto3" in done.failure


def test_requirements_are_installed_for_scripts_and_shells(container):
    """The toolkit ignores them where the entry point is a shell script."""
    container.write("code/requirements.txt", "# nothing\n")
    container.write("code/run.sh", "echo ran\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert done.status == 0, done.stderr
    assert b"-m pip install -r requirements.txt" in done.stderr
    assert done.stdout.endswith(b"ran\n")


def test_failed_installation_is_reported(container):
    """The reason is pip's own last word, and the program does not start."""
    container.write("code/requirements.txt", "smspec-no-such-package==1\n")
    environ = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = container.run_script("print('ran')", environ=environ)
    assert done.status == 1
    assert b"ran\n" not in done.stdout
    assert done.failure.startswith("InstallRequirementsError: Could not find a version that satisfies")


def test_image_without_pip_is_reported(container):
    """`No module named pip`, and nothing else is tried."""
    container.write("code/requirements.txt", "numpy\n")
    container.write("empty/pip.py", "raise SystemExit('No module named pip')")
    environ = {"PYTHONPATH": f"{container.base}/empty:{container.environ()['PYTHONPATH']}"}
    done = container.run_script("print('ran')", environ=environ)
    assert (done.status, done.stdout) == (1, b"")
    assert done.failure.startswith("InstallRequirementsError: No module named pip\nExitCode 1\n")


def test_package_is_installed_and_run_as_a_module(container):
    """setup.py is next to the entry point; `pkg/train.py` is the module pkg.train, unlike in the toolkit."""
    container.write("code/setup.py", "raise SystemExit('pip does the rest')")
    container.write("code/pkg/train.py", SHOW)
    container.write("code/pkg/__init__.py", "")
    container.write("stub/pip.py", "import json, sys; print(json.dumps(sys.argv[1:]))")
    environ = {"PYTHONPATH": f"{container.base}/stub:{container.environ()['PYTHONPATH']}"}
    done = container.run(environ={**environ, "SAGEMAKER_PROGRAM": "pkg/train.py"})
    installed, shown = done.stdout.splitlines()
    assert installed == b'["install", "."]'
    assert done.status == 0
    assert f'"{container.base}/code/pkg/train.py"'.encode() in shown
