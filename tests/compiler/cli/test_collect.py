"""`smspec collect` against a scripted SageMaker and S3, and of local runs."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading

import pytest

from smspec.collection.result_tree import ResultRefused
from smspec.collection.s3_result import Checksum, checked, checksum_of
from support.servers.hostile_s3 import BUCKET, HostileS3, error, is_list
from support.servers.hostile_server import hostile_server
from support.servers.job_server import job_server, look
from support.small_job import write_job
from support.smspec_command import environment, smspec, smspec_process

COMPLETED = look("Completed", began=60, ended=180)
FAILED = look("Failed", began=60, ended=180, reason="AlgorithmError: x")
PREFIX = "out/nightly/output/"


def archive(**files):
    """Return a .tar.gz; in names, ``__`` is a slash and ``_`` a hyphen."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_", "-") + ".csv")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


PARTS = archive(part_algo_1=b"a,b\n1,2\n", part_algo_2=b"a,b\n3,4\n")


@pytest.fixture(scope="module")
def servers():
    with hostile_server() as server, job_server() as jobs, pytest.MonkeyPatch.context() as patch:
        for name, value in {**jobs.environ, "AWS_ENDPOINT_URL_S3": f"http://{server.host}"}.items():
            patch.setenv(name, value)
        yield server, jobs


@pytest.fixture
def jobs(servers, monkeypatch, tmp_path):
    _, jobs = servers
    jobs.reset()
    jobs.jobs["nightly"] = [COMPLETED]
    model = f"s3://{BUCKET}/{PREFIX}model.tar.gz"
    jobs.request = {
        "ModelArtifacts": {"S3ModelArtifacts": model},
        "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out/"},
    }
    monkeypatch.chdir(tmp_path)
    return jobs


@pytest.fixture
def s3(servers, jobs):
    server, _ = servers
    return HostileS3(server, {f"{PREFIX}model.tar.gz": PARTS, f"{PREFIX}output.tar.gz": archive(log=b"1")})


def files(root="."):
    found = {}
    for above, _, names in os.walk(root):
        for name in names:
            path = os.path.join(above, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


MODEL = {"model/part-algo-1.csv": b"a,b\n1,2\n", "model/part-algo-2.csv": b"a,b\n3,4\n"}


def result(root="collect/nightly"):
    return {path: content for path, content in files(root).items() if path != "manifest.json"}


def test_result_is_downloaded_and_merged(s3):
    done = smspec("collect", "nightly", "--merge", "csv")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [f"collect/nightly/{path}" for path in ("model", "output", "merged/part.csv")]
    assert result() == {**MODEL, "output/log.csv": b"1", "merged/part.csv": b"a,b\n1,2\n3,4\n"}
    assert done.err == f"s3://{BUCKET}/{PREFIX}: 2 files, {len(PARTS) + len(archive(log=b'1'))} B\n"


def test_result_as_json(s3):
    record = json.loads(smspec("collect", "nightly", "--merge", "concat", "--format", "json", "-o", "here").out)
    assert record == {
        "job": "nightly",
        "status": "Completed",
        "directory": "here",
        "model": {"path": "here/model", "files": 2, "size": 16},
        "output": {"path": "here/output", "files": 1, "size": 1},
        "merged": [{"path": "here/merged/part.csv", "parts": ["part-algo-1.csv", "part-algo-2.csv"]}],
    }


@pytest.mark.parametrize("data", ["output/", "output/data/", "data/"])
def test_uncompressed_result_is_downloaded(s3, jobs, data):
    jobs.request["ModelArtifacts"] = {"S3ModelArtifacts": f"s3://{BUCKET}/{PREFIX}model/"}
    large = os.urandom(9 << 20)
    s3.objects = {
        f"{PREFIX}model/": b"",
        f"{PREFIX}model/a b/1.bin": large,
        f"{PREFIX}model/empty": b"",
        f"{PREFIX}{data}log.csv": b"1",
        f"{PREFIX}other/x": b"1",
    }
    done = smspec("collect", "nightly")
    assert done.status == 0, done.err
    assert result() == {"model/a b/1.bin": large, "model/empty": b"", "output/log.csv": b"1"}


def test_uncompressed_object_outside_is_refused(s3):
    s3.objects = {f"{PREFIX}model/../../x": b"1"}
    done = smspec("collect", "nightly")
    assert done.status == 1
    assert "`model/../../x` lies outside of its directory" in done.err
    assert files() == {}


def test_earlier_result_is_replaced(s3):
    smspec("collect", "nightly", "--merge", "csv")
    s3.objects[f"{PREFIX}model.tar.gz"] = archive(new=b"2")
    assert smspec("collect", "nightly").status == 0
    assert result() == {"model/new.csv": b"2", "output/log.csv": b"1"}
    assert os.listdir("collect") == ["nightly"]


def test_files_of_others_are_not_overwritten(s3):
    smspec("collect", "nightly")
    with open("collect/nightly/model/mine.txt", "w") as file:
        file.write("mine")
    before = files()
    done = smspec("collect", "nightly")
    assert done.status == 1
    assert "refusing to overwrite `collect/nightly/model/mine.txt`: smspec did not create it" in done.err
    assert files() == before


def test_job_that_goes_on_has_no_result(jobs):
    jobs.jobs["nightly"] = [look("InProgress", "Training")]
    done = smspec("collect", "nightly")
    assert (done.status, done.out, files()) == (1, "", {})
    assert "the job `nightly` is InProgress, so it has no result yet; `smspec logs nightly --follow` waits" in done.err


def test_missing_job_is_reported(jobs):
    done = smspec("collect", "weekly")
    assert done.status == 1
    assert "requested resource not found; `smspec status` shows the names of the jobs of specs" in done.err


def test_completed_job_shows_how_to_collect_its_result(jobs):
    assert f"{PREFIX}model.tar.gz; `smspec collect nightly` downloads it\n" in smspec("status", "nightly").out
    del jobs.request["ModelArtifacts"]
    assert f"result: s3://{BUCKET}/{PREFIX}; `smspec collect nightly` downloads it\n" in smspec("status", "nightly").out


def test_hint_has_the_region_unless_it_is_set(s3, monkeypatch):
    monkeypatch.delenv("AWS_REGION")
    shown = smspec("status", "nightly", "--region", "us-west-2").out
    assert "`smspec collect nightly --region us-west-2` downloads it" in shown
    assert smspec("collect", "nightly", "--region", "us-west-2").status == 0


def test_failed_job_leaves_its_output_and_exits_1(s3, jobs):
    jobs.jobs["nightly"] = [FAILED]
    del jobs.request["ModelArtifacts"], s3.objects[f"{PREFIX}model.tar.gz"]
    done = smspec("collect", "nightly")
    assert (done.status, done.out) == (1, "collect/nightly/output\n")
    assert done.err.endswith("the job `nightly` is Failed; `collect/nightly` has what it left\n")
    assert result() == {"output/log.csv": b"1"}


def test_job_without_a_result_exits_1(s3, jobs):
    s3.objects = {}
    done = smspec("collect", "nightly")
    assert (done.status, files()) == (1, {})
    assert f"is Completed and has no model or output in `s3://{BUCKET}/{PREFIX}`" in done.err


def test_parts_that_do_not_fit_leave_the_result(s3):
    s3.objects[f"{PREFIX}model.tar.gz"] = archive(part_algo_1=b"a,b\n1,2\n", part_algo_2=b"a,c\n3,4\n")
    done = smspec("collect", "nightly", "--merge", "csv")
    assert done.status == 1
    assert (
        "`collect/nightly` has the result, but --merge made nothing: `part-algo-2.csv` has a different header"
        in done.err
    )
    assert set(result()) == {*MODEL, "output/log.csv"}
    assert smspec("collect", "nightly").status == 0


@pytest.mark.parametrize(
    ("how", "why"), [("npy", "there are no parts to merge"), ("false", "`false` ended with status 1")]
)
def test_merge_that_makes_nothing_exits_1(s3, how, why):
    done = smspec("collect", "nightly", "--merge", how)
    assert done.status == 1 and why in done.err
    assert not os.path.exists("collect/nightly/merged")


@pytest.mark.parametrize("words", [("no/such",), ("nightly", "--merge", "'"), ("src-",), ("-x",)])
def test_bad_arguments_exit_2(jobs, words):
    os.makedirs("src-")
    assert smspec("collect", *words).status == 2


def test_damaged_archive_leaves_nothing(s3):
    s3.objects[f"{PREFIX}output.tar.gz"] = gzip.compress(b"x" * 999)
    done = smspec("collect", "nightly")
    assert (done.status, files()) == (1, {})
    assert "`output.tar.gz` is damaged: a header is malformed" in done.err


def test_object_that_differs_from_its_etag_is_refused(s3):
    s3.override = lambda asked: [wrong_tag(s3.right(asked))] if asked.method == "HEAD" else None
    done = smspec("collect", "nightly")
    assert (done.status, files()) == (1, {})
    assert "does not have the MD5 that S3 keeps of it" in done.err


def wrong_tag(head):
    at = head.index(b'"') + 1
    return head[:at] + b"0" * 32 + head[at + 32 :]


def denied(message):
    return lambda asked: (
        None
        if asked.method == "HEAD" or "list-type" in asked.target
        else [error("AccessDenied", "403 Forbidden", message)]
    )


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("No.", f"`s3:GetObject` on `arn:*:s3:::{BUCKET}/{PREFIX}model.tar.gz`; the statement `ReadResults` of"),
        (
            "User: arn:aws:iam::1:user/x is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:r:1:key/k",
            "`kms:Decrypt` on `arn:aws:kms:r:1:key/k`; the statement `ReadEncryptedResults` of",
        ),
    ],
)
def test_denied_download_names_the_permission(s3, message, sentence):
    s3.override = denied(message)
    done = smspec("collect", "nightly")
    assert (done.status, files()) == (3, {})
    assert f"AWS denies {sentence} `smspec render SPEC --iam-policy=submitter` allows it" in done.err


def test_denied_list_names_the_permission(s3):
    s3.override = lambda asked: [error("AccessDenied", "403 Forbidden")] if "list-type" in asked.target else None
    done = smspec("collect", "nightly")
    assert done.status == 3
    assert f"AWS denies `s3:ListBucket` on `arn:*:s3:::{BUCKET}`; the statement `ListBucket" in done.err


def test_missing_credentials_exit_3(s3, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    done = smspec("collect", "nightly")
    assert done.status == 3 and "no AWS credentials" in done.err


def test_full_disk_exits_3_and_leaves_nothing(s3, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, *[16385] * 8)))
    s3.objects[f"{PREFIX}model.tar.gz"] = archive(zeros=bytes(9000))
    done = smspec("collect", "nightly")
    assert (done.status, files()) == (3, {})
    assert "cannot write `collect/nightly`: no room for 9,000 more bytes" in done.err


@pytest.mark.process
@pytest.mark.parametrize(("name", "status"), [("KILL", -9), ("INT", 130), ("TERM", 143)])
def test_ended_command_leaves_no_half_result(s3, servers, name, status, tmp_path):
    """The command of --merge ends smspec when everything is unpacked."""
    server, jobs = servers
    variables = environment(**jobs.environ, AWS_ENDPOINT_URL_S3=f"http://{server.host}")
    merge = f"sh -c 'kill -{name} $PPID; sleep 0.2'"
    done = smspec_process("collect", "nightly", "--merge", merge, cwd=tmp_path, env=variables)
    assert done.status == status, done.err
    assert not os.path.exists("collect/nightly")
    assert bool(files()) == (name == "KILL")
    assert smspec("collect", "nightly").status == 0
    assert os.listdir("collect") == ["nightly"] and set(result()) == {*MODEL, "output/log.csv"}


@pytest.mark.process
def test_interrupted_download_ends_at_once(s3, servers, tmp_path):
    server, jobs = servers
    is_asked, may_end = threading.Event(), threading.Event()

    def silent(asked):
        if asked.method == "HEAD" or is_list(asked):
            return None
        is_asked.set()
        may_end.wait(60)
        return [b""]

    s3.override = silent
    variables = environment(**jobs.environ, AWS_ENDPOINT_URL_S3=f"http://{server.host}")
    words = [sys.executable, "-m", "smspec", "collect", "nightly"]
    process = subprocess.Popen(words, cwd=tmp_path, env=variables)
    try:
        assert is_asked.wait(30)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        may_end.set()
    assert os.listdir(".") == []


def run_directory(root, status="Completed", hosts=2, **contents):
    os.makedirs(root)
    for name, content in {
        "run.json": json.dumps({"kind": "smspec run", "job": "small-1", "status": status}).encode(),
        "summary.json": json.dumps({"hosts": [{}] * hosts}).encode(),
        **contents,
    }.items():
        with open(os.path.join(root, name), "wb") as file:
            file.write(content)


def test_run_is_collected(jobs):
    run_directory("run/small", **{"model.tar.gz": PARTS})
    done = smspec("collect", "run/small/", "--merge", "csv")
    assert (done.status, done.out) == (0, "collect/small/model\ncollect/small/merged/part.csv\n")
    assert result("collect/small") == {**MODEL, "merged/part.csv": b"a,b\n1,2\n3,4\n"}
    assert jobs.asked == {}


def test_directory_without_a_run_is_refused(jobs, tmp_path):
    (tmp_path / "specs").mkdir()
    done = smspec("collect", "specs/")
    assert done.status == 2
    assert "`specs/` was not written by a run, and has no job spec" in done.err


def test_specs_in_a_collected_result_are_no_jobs(jobs, tmp_path):
    write_job(tmp_path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.add("job.yaml", "nested/job.yaml")
    run_directory("run/small", **{"model.tar.gz": buffer.getvalue()})
    assert smspec("collect", "run/small").status == 0
    assert "nested/job.yaml" in "".join(files("collect"))
    assert smspec("validate", ".").err.startswith("checked 1 job: no problems found\n")


def test_run_with_a_missing_part_is_not_merged(jobs):
    run_directory("run/small", hosts=3, **{"model.tar.gz": PARTS})
    done = smspec("collect", "run/small", "--merge", "csv")
    assert done.status == 1 and "no part of algo-3 belongs to `part-algo-1.csv`" in done.err


@pytest.mark.parametrize(("status", "word"), [("Running", "has not ended"), ("Failed", "is Failed")])
def test_run_that_did_not_complete_exits_1(jobs, status, word):
    run_directory("run/small", status, **{"output.tar.gz": PARTS})
    done = smspec("collect", "run/small")
    assert done.status == 1 and word in done.err


@pytest.mark.parametrize(
    ("head", "checksum"),
    [
        ({"ETag": '"d41d8cd98f00b204e9800998ecf8427e"'}, "md5"),
        ({"ETag": '"d41d8cd98f00b204e9800998ecf8427e"', "ServerSideEncryption": "aws:kms"}, None),
        ({"ETag": '"d41d8cd98f00b204e9800998ecf8427e-2"'}, None),
        ({"ChecksumSHA256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}, "sha256"),
        ({"ChecksumSHA256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=-3"}, None),
        ({"ChecksumSHA1": "2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "ChecksumType": "COMPOSITE"}, None),
        ({"ChecksumCRC32": "AAAAAA==", "ChecksumType": "FULL_OBJECT"}, "crc32"),
    ],
)
def test_checksum_is_the_one_of_the_object(head, checksum):
    found = checksum_of(head)
    assert (found and found.algorithm) == checksum
    if found is not None:
        assert list(checked("s3://b/k", iter([b""]), found)) == [b""]
        with pytest.raises(ResultRefused):
            list(checked("s3://b/k", iter([b"x"]), found))
        assert isinstance(found, Checksum)
