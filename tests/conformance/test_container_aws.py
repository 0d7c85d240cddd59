"""AWS calls of a container with the boto3 of its image: code, packages, and output."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from support.runtime.code_archives import archive
from support.runtime.container import Container, wait_until
from support.servers.aws_server import BUCKET, TOKEN, package_server, s3_server


@pytest.fixture(scope="module")
def server():
    with s3_server() as started:
        yield started


@pytest.fixture
def s3(server):
    server.clear()
    return server


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.mark.parametrize("key", ["source/sourcedir.tar.gz", "a key/with blanks & more+é#1?.tar.gz"])
def test_code_is_fetched_from_s3(container, s3, key):
    """HEAD and GET with the region of AWS_REGION, at S3_ENDPOINT_URL where that is set."""
    s3.put(key, archive({"train.py": b"print('sent')"}))
    container.write("code/train.py", "print('baked')")
    container.configure({"sagemaker_submit_directory": f"s3://{BUCKET}/{key}", "sagemaker_program": "train.py"})
    done = container.run(environ=s3.environ)
    assert (done.status, done.stdout) == (0, b"sent\n"), done.stderr
    assert b"in the place of what the image holds" in done.stderr
    assert sorted(os.listdir(container.base)) == ["code", "input", "model", "output"]


def test_region_may_be_a_hyperparameter(container, s3):
    s3.put("x.tar.gz", archive({"train.py": b"print('sent')"}))
    submitted = {"sagemaker_submit_directory": f"s3://{BUCKET}/x.tar.gz", "sagemaker_program": "train.py"}
    container.configure({**submitted, "sagemaker_region": '"us-west-2"'})
    environ = {name: value for name, value in s3.environ.items() if name != "AWS_REGION"}
    assert container.run(environ=environ).stdout == b"sent\n"


@pytest.mark.parametrize("location", [f"s3://{BUCKET}/missing.tar.gz", "s3://no-such-bucket-here/x.tar.gz"])
def test_missing_code_in_s3_is_reported(container, s3, location):
    """The program of the image is not run in its place."""
    container.write("code/train.py", "print('baked')")
    container.configure({"sagemaker_submit_directory": location, "sagemaker_program": "train.py"})
    done = container.run(environ=s3.environ)
    assert (done.status, done.stdout) == (1, b"")
    assert done.failure.startswith(f"ClientError: cannot fetch {location}: ")
    assert sorted(os.listdir(container.base)) == ["code", "input", "model", "output"]


ARN = "arn:aws:codeartifact:us-west-2:111122223333:repository/own/mine"


def test_packages_come_from_a_private_index(container, tmp_path):
    """CA_REPOSITORY_ARN: pip asks CodeArtifact; the token is on no command line and in no line of the log."""
    container.write("code/requirements.txt", "greeting\n")
    script = "import os, greeting; print(greeting.WORD, [n for n, v in os.environ.items() if 'a-token' in v])"
    path = os.pathsep.join([container.environ()["PYTHONPATH"], str(tmp_path / "packages")])
    own = {"CA_REPOSITORY_ARN": ARN, "PIP_TARGET": str(tmp_path / "packages"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with package_server() as server:
        done = container.run_script(script, environ={**server.environ, **own, "PYTHONPATH": path})
    assert done.status == 0, done.stderr
    assert done.stdout.endswith(b"hello []\n")
    assert server.asked[0].startswith("POST /v1/authorization-token?domain=own&domain-owner=111122223333")
    assert "repository=mine&format=pypi" in server.asked[1]
    assert not server.seen
    assert TOKEN.encode() not in done.stderr + done.stdout


def test_package_missing_from_the_private_index_is_reported(container):
    container.write("code/requirements.txt", "farewell\n")
    with package_server() as server:
        environ = {**server.environ, "CA_REPOSITORY_ARN": ARN, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        done = container.run_script("print('ran')", environ=environ)
    assert done.status == 1
    assert done.failure.startswith(
        "InstallRequirementsError: Could not find a version that satisfies the requirement farewell"
    )
    assert TOKEN not in done.failure
    assert TOKEN.encode() not in done.stderr + done.stdout


def test_unavailable_private_index_is_reported(container):
    container.write("code/requirements.txt", "greeting\n")
    own = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_MAX_ATTEMPTS": "1"}
    closed = {"AWS_ENDPOINT_URL_CODEARTIFACT": "http://127.0.0.1:9", "CA_REPOSITORY_ARN": ARN}
    done = container.run_script("print('ran')", environ={**own, **closed})
    assert (done.status, done.stdout) == (1, b"")
    assert done.failure.startswith("ClientError: CodeArtifact: ")


WRITE = """
import os, sys, time
place = os.environ["SM_OUTPUT_INTERMEDIATE_DIR"]
def write(name, text):
    path = os.path.join(place, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
"""


def sending(container, target=f"s3://{BUCKET}/jobs/"):
    container.configure({"sagemaker_s3_output": target})


def test_intermediate_output_is_sent_during_the_run(container, s3, tmp_path):
    """Also what is deleted a second later, what is changed, and what is written right before the end."""
    sending(container)
    script = f"""{WRITE}
write("early.txt", "early")
write("a/b/c d.txt", "deep")
write("gone.txt", "gone")
os.symlink("/no/such/file", os.path.join(place, "dangling"))
os.mkfifo(os.path.join(place, "fifo"))
while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
os.unlink(os.path.join(place, "gone.txt"))
write("early.txt", "changed")
write("last.txt", "last")
"""
    with container.start_script(script, environ={**s3.environ, "TRAINING_JOB_NAME": "job-1"}) as process:
        prefix = "jobs/job-1/output/intermediate/"
        wait_until(lambda: len(s3.objects) == 3)
        first = {prefix + "early.txt": b"early", prefix + "a/b/c d.txt": b"deep", prefix + "gone.txt": b"gone"}
        assert s3.objects == first
        (tmp_path / "go").touch()
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert s3.objects == {**first, prefix + "early.txt": b"changed", prefix + "last.txt": b"last"}
    assert (container.base / "output/intermediate/last.txt").exists()
    assert sorted(os.listdir(container.base / "output")) == ["data", "intermediate", "success"]
    assert b"intermediate output goes to s3://bucket/jobs/job-1/output/intermediate/" in stderr


def test_only_files_of_the_directory_are_sent(container, s3, tmp_path):
    """A link to an adjacent file is sent; a link to a file outside is not."""
    sending(container)
    (tmp_path / "secret").write_text("secret")
    script = f"""{WRITE}
write("a/step-1.txt", "one")
os.symlink("step-1.txt", os.path.join(place, "a/latest.txt"))
os.symlink({str(tmp_path / "secret")!r}, os.path.join(place, "out.txt"))
os.symlink({str(tmp_path)!r}, os.path.join(place, "directory"))
"""
    done = container.run_script(script, environ=s3.environ)
    assert done.status == 0, done.stderr
    assert s3.objects == {
        "jobs/output/intermediate/a/step-1.txt": b"one",
        "jobs/output/intermediate/a/latest.txt": b"one",
    }
    assert b"cannot send 'out.txt': out.txt is not a file in " in done.stderr


def test_exchanged_directory_is_not_sent(container, s3, tmp_path):
    sending(container)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/x.txt").write_text("secret")
    script = f"""{WRITE}
os.rmdir(place)
os.symlink({str(tmp_path / "secrets")!r}, place)
"""
    done = container.run_script(script, environ=s3.environ)
    assert done.status == 0, done.stderr
    assert s3.objects == {}
    assert b"cannot send 'x.txt': x.txt is not a file in " in done.stderr


@pytest.mark.parametrize("how", ["symlink", "link"])
def test_notes_do_not_follow_links(container, s3, tmp_path, how):
    """`output/.intermediate` lists what was sent; the program can put a link there."""
    sending(container)
    own = container.write("own.txt", "own")
    script = f"""{WRITE}
notes = os.path.join(os.path.dirname(place), ".intermediate")
while not os.path.exists(notes): time.sleep(0.01)
os.unlink(notes)
os.{how}({str(own)!r}, notes)
write("x.txt", "x")
"""
    done = container.run_script(script, environ=s3.environ)
    assert done.status == 0, done.stderr
    assert own.read_text() == "own"
    assert b"intermediate output is not sent: " in done.stderr


def test_output_of_a_failing_script_is_sent(container, s3):
    sending(container, f"s3://{BUCKET}")
    done = container.run_script(f"{WRITE}\nwrite('x.txt', 'x')\nsys.exit(3)", environ=s3.environ)
    assert done.status == 3
    assert s3.objects == {"output/intermediate/x.txt": b"x"}


def test_output_of_a_stopped_script_is_sent(container, s3):
    sending(container)
    script = f"""{WRITE}
import signal
signal.signal(signal.SIGTERM, lambda *_: (write("state.txt", "saved"), sys.exit(0)))
print("ready", flush=True)
while True:
    time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
"""
    with container.start_script(script, environ={**s3.environ, "TRAINING_JOB_NAME": "job-2"}) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert s3.objects == {"jobs/job-2/output/intermediate/state.txt": b"saved"}


def test_framework_function_that_exits_does_not_hang(container, s3):
    """The toolkit waits for ever where neither success nor failure is written."""
    sending(container)
    container.write("lib/framework.py", "import sys\ndef main():\n    sys.exit(5)\n")
    path = f"{container.environ()['PYTHONPATH']}:{container.base}/lib"
    done = container.run(environ={**s3.environ, "SAGEMAKER_TRAINING_MODULE": "framework:main", "PYTHONPATH": path})
    assert done.status == 5


def test_rejected_output_upload_does_not_fail_the_job(container, s3):
    """One line for each file that cannot be sent; the end is not waited for longer than it may take."""
    sending(container, "s3://no-such-bucket-here/x")
    done = container.run_script(f"{WRITE}\nwrite('x.txt', 'x')", environ=s3.environ)
    assert done.status == 0
    assert b"intermediate output: cannot send 'x.txt': " in done.stderr


def test_unresponsive_s3_does_not_delay_the_end(container):
    """The last process has a limit; a stopped job has a shorter one, which this test uses."""
    sending(container)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environ = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "S3_ENDPOINT_URL": endpoint}
        script = f"{WRITE}\nwrite('x.txt', 'x')\nprint('ready', flush=True)\ntime.sleep(60)"
        with container.start_script(script, environ={**environ, "AWS_REGION": "us-west-2"}) as process:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=60)
    assert process.returncode == 143
    assert b"intermediate output: not all of it was sent within 5 s" in stderr


def test_image_without_boto3_logs_it_once_and_trains(container, tmp_path):
    sending(container)
    plain = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(plain)], check=True)
    bare = Container(tmp_path / "bare", str(plain / "bin/python"))
    sending(bare)
    done = bare.run_script(f"{WRITE}\nwrite('x.txt', 'x')\ntime.sleep(0.5)\nprint('ran')")
    assert (done.status, done.stdout) == (0, b"ran\n"), done.stderr
    assert done.stderr.count(b"the image has no boto3") == 1


def test_existing_directory_is_left_to_sagemaker(container, s3):
    sending(container)
    (container.base / "output/intermediate").mkdir()
    assert container.run_script(f"{WRITE}\nwrite('x.txt', 'x')", environ=s3.environ).status == 0
    assert s3.objects == {}


def test_local_target_only_creates_the_directory(container):
    sending(container, "file:///tmp/somewhere")
    done = container.run_script("import os; print(os.listdir(os.environ['SM_OUTPUT_INTERMEDIATE_DIR']))")
    assert (done.status, done.stdout) == (0, b"[]\n")


def test_unsupported_target_is_rejected(container):
    sending(container, "tcp://somewhere/x")
    done = container.run_script("print('ran')")
    assert (done.status, done.stdout) == (1, b"")
    assert "`tcp://somewhere/x` is neither an s3:// nor a file:// URL" in done.failure


def test_hostile_code_directory_does_not_reach_the_sender(container, s3):
    sending(container)
    for name in ("json.py", "boto3.py", "time.py"):
        container.write(f"code/{name}", "raise SystemExit('imported')")
    container.write("code/run.sh", 'echo x > "$SM_OUTPUT_INTERMEDIATE_DIR/x.txt"\n')
    environ = {**s3.environ, "SAGEMAKER_PROGRAM": "run.sh", "TRAINING_JOB_NAME": "job"}
    environ["PYTHONPATH"] = f"{container.base}/code:{container.environ()['PYTHONPATH']}"
    done = container.run(environ=environ)
    assert done.status == 0, done.stderr
    assert s3.objects == {"jobs/job/output/intermediate/x.txt": b"x\n"}
