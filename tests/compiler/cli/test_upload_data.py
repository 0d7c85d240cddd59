"""`smspec submit --upload-data`: a channel's prefix gets the files of its `local`, each once."""

import os

import pytest

from smspec.submission import s3_service
from support.git_repository import commit, repository
from support.servers.aws_server import BUCKET
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import LOCAL, SPEC

FILES = {"a.csv": b"1,2\n", "deep/b.csv": b"3,4\n" * 9, "empty": b""}


@pytest.fixture
def job(aws, store, tmp_path):
    """A job with three local files, and nothing in S3."""
    store.client.delete_object(Bucket=BUCKET, Key="data/part-0.csv")
    write_job(tmp_path, LOCAL)
    for name, content in FILES.items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_bytes(content)
    return aws


def uploaded(store):
    return {key.removeprefix("data/"): content for key, content in store.objects.items() if key.startswith("data/")}


def test_submission_without_data_names_the_upload(job):
    done = smspec("submit")
    assert (done.status, job.created) == (1, [])
    assert "--upload-data uploads the data at its `local`" in done.err


def test_missing_data_are_uploaded_before_the_job_is_created(job, store):
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 0, done.err
    assert uploaded(store) == FILES
    assert "3 of 3 files to upload, 40 B" in done.err and f"uploaded 3 files to s3://{BUCKET}/data/" in done.err
    assert len(job.created) == 1


def test_dry_run_counts_the_missing_files(job, store):
    store.put("data/a.csv", FILES["a.csv"])
    done = smspec("submit", "--upload-data", "--dry-run")
    assert done.status == 0, done.err
    assert "2 of 3 files to upload, 36 B" in done.err
    assert list(uploaded(store)) == ["a.csv"] and job.created == []


def test_upload_continues_after_what_is_there(job, store):
    store.put("data/a.csv", FILES["a.csv"])
    store.put("data/old.csv", b"5\n")
    before = store.client.head_object(Bucket=BUCKET, Key="data/a.csv")["LastModified"]
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 0, done.err
    assert uploaded(store) == {**FILES, "old.csv": b"5\n"}
    assert store.client.head_object(Bucket=BUCKET, Key="data/a.csv")["LastModified"] == before
    assert "`local` lacks 1 object that the job reads" in done.err


@pytest.mark.parametrize("content", [b"9,9\n", b"longer than here"], ids=["same size", "longer"])
def test_object_that_differs_is_not_overwritten(job, store, content):
    store.put("data/a.csv", content)
    done = smspec("submit", "--upload-data")
    assert done.status == 1
    assert f"channel `train`: `s3://{BUCKET}/data/a.csv` differs from `" in done.err
    assert "delete what differs, or set `channels.train.s3` to a new prefix" in done.err
    assert uploaded(store) == {"a.csv": content} and job.created == []


def test_job_that_exists_uploads_nothing(job, store, tmp_path):
    assert smspec("submit", "--upload-data", "--detach").status == 0
    (tmp_path / "data/a.csv").write_bytes(b"changed")
    (tmp_path / "data/new.csv").write_bytes(b"new")
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 0, done.err
    assert uploaded(store) == FILES and len(job.created) == 1


@pytest.mark.parametrize(
    ("channels", "sentence"),
    [
        (f"train: s3://{BUCKET}/data/", "no channel of the job has both `s3` and `local`"),
        (f"train: {{s3: s3://{BUCKET}/data/, local: none}}", "channel `train`: `local: none`: "),
        (f"train: {{s3: s3://{BUCKET}/data/, local: void}}", "channel `train`: `local: void` has no files to upload"),
        (
            f"train: {{s3: s3://{BUCKET}/data/, local: data}}, test: {{s3: s3://{BUCKET}/data/, local: src}}, "
            f"both: {{s3: s3://{BUCKET}/data/deep/, local: data}}",
            f"channels `train` and `both` upload different files to `s3://{BUCKET}/data/deep/b.csv`",
        ),
        (
            f"train: {{s3: s3://{BUCKET}/data/, local: data}}, test: s3://{BUCKET}/test/",
            "--upload-data leaves it alone: `channels.test.local` is not set",
        ),
        (
            f"train: {{s3: s3://{BUCKET}/data/, local: data}}, "
            f"test: {{s3: s3://{BUCKET}/list, s3_data_type: ManifestFile, local: data/a.csv}}",
            "--upload-data leaves it alone: it uploads no manifests, whose objects may be anywhere",
        ),
    ],
)
def test_channel_without_data_is_an_error(job, store, tmp_path, channels, sentence):
    (tmp_path / "void").mkdir()
    (tmp_path / "data/b.csv").write_text("different\n")
    write_job(tmp_path, SPEC.replace(f"channels: {{train: s3://{BUCKET}/data/}}", f"channels: {{{channels}}}"))
    done = smspec("submit", "--upload-data")
    assert done.status == 1
    assert sentence in done.err
    assert store.keys == [] and job.created == []


def test_file_is_uploaded_to_the_key_of_its_name(job, store, tmp_path):
    write_job(tmp_path, LOCAL.replace("/data/, local: data", "/data/a.csv, local: data/a.csv"))
    assert smspec("submit", "--upload-data", "--detach").status == 0
    assert uploaded(store) == {"a.csv": FILES["a.csv"]}


def test_unusual_names_are_keys(job, store, tmp_path):
    names = ["a b.csv", "ü/ß.csv", "%41+&?#", ".hidden", "quote'\"", "a;b\\c", "tab\t"]
    for name in names:
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_text(name)
    (tmp_path / "data/loop").symlink_to(tmp_path / "data")
    os.mkfifo(tmp_path / "data/fifo")
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 0, done.err
    assert uploaded(store) == {**FILES, **{name: name.encode() for name in names}}
    assert f"has {len(names) + 3} files" in smspec("submit", "--upload-data", "--dry-run", "--run-id", "2").err


@pytest.mark.parametrize(
    ("name", "sentence"),
    [(b"\xff", "is not UTF-8, as a key must be"), (b"/".join([b"x" * 250] * 5), "1,024 bytes")],
    ids=["not UTF-8", "too long"],
)
def test_name_that_cannot_be_a_key_is_rejected(job, store, tmp_path, name, sentence):
    path = tmp_path / "data" / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    done = smspec("submit", "--upload-data")
    assert done.status == 1
    assert sentence in done.err and store.keys == []


@pytest.mark.slow
def test_large_file_is_uploaded_in_parts_and_recognized(job, store, tmp_path, monkeypatch):
    part = 5 << 20  # the least that S3 accepts
    monkeypatch.setattr(s3_service, "_PART", part)
    content = bytes(range(256)) * (part // 256) + b"end"
    (tmp_path / "data/large").write_bytes(content)
    assert smspec("submit", "--upload-data", "--detach").status == 0
    assert uploaded(store)["large"] == content
    assert store.client.head_object(Bucket=BUCKET, Key="data/large")["ETag"].endswith('-2"')
    assert store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []
    done = smspec("submit", "--upload-data", "--dry-run", "--run-id", "2")
    assert "has 4 files" in done.err


LINKS = {
    "file": ("data/z", "outside/keys", "data/z"),
    "directory": ("data/dir", "outside", "data/dir"),
    "link in a chain": ("data/z", "inner", "data/z"),
    "data themselves": ("data", "outside", "data"),
    "git's own files": ("data/z", ".git/config", "data/z"),
}


@pytest.fixture
def outside(job, tmp_path):
    """A directory next to the repository of the job."""
    project = tmp_path / "project"
    repository(project)
    for name in ("job.yaml", "src", "data"):
        (tmp_path / name).rename(project / name)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "keys").write_text("secret")
    os.chdir(project)
    return project


@pytest.mark.parametrize("command", [("--detach",), ("--dry-run",)], ids="".join)
@pytest.mark.parametrize("name", LINKS)
def test_link_of_a_pull_request_is_not_uploaded(job, store, outside, name, command):
    """The rule of `smspec run`, whose data are the same."""
    path, target, named = LINKS[name]
    if path == "data":
        (outside / "data").rename(outside / "old")
    (outside / "inner").symlink_to("../outside/keys")
    (outside / path).symlink_to(outside / target if target[0] in ".i" else outside.parent / target)
    commit(outside)
    done = smspec("submit", "--upload-data", *command)
    assert done.status == 1
    assert f"channel `train`: `local: data`: `{named}` leads to `" in done.err and "outside the project" in done.err
    assert store.objects == {} and job.created == []


def test_link_in_a_submodule_is_not_uploaded(job, store, outside):
    """The index of the project does not have it, and a pull request can change the commit of the submodule."""
    nested = repository(outside / "data/nested")
    (nested / "z").symlink_to(outside.parent / "outside/keys")
    commit(nested)
    commit(outside)
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 1 and store.objects == {} and job.created == []
    assert "`data/nested/z` leads to `" in done.err


@pytest.mark.parametrize("target", ["inner", "over/keys"])
def test_link_over_one_that_git_tracks_is_not_uploaded(job, store, outside, target):
    (outside / "inner").symlink_to("../outside/keys")
    (outside / "over").symlink_to("../outside")
    commit(outside)
    (outside / "data/mine").symlink_to(f"../{target}")
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 1 and store.objects == {} and job.created == []
    assert f"`{target.partition('/')[0]}` leads to `" in done.err


def test_link_of_the_author_is_named_and_uploaded(job, store, outside):
    commit(outside)
    (outside / "data/mine").symlink_to(outside.parent / "outside/keys")
    (outside / "data/own").symlink_to("a.csv")
    done = smspec("submit", "--upload-data", "--detach")
    assert done.status == 0, done.err
    place = os.path.realpath(outside.parent / "outside/keys")
    assert f"channel train uploads what is outside the project: `{place}`\n" in done.err
    assert uploaded(store) == {**FILES, "mine": b"secret", "own": FILES["a.csv"]}
