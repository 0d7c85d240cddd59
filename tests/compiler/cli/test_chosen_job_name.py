"""A job whose name the author chose: its spec, its repetitions, and the jobs that only have similar names."""

import json

import pytest

from smspec.plan import digest
from support.servers.job_server import CREATED, job_server, look
from support.small_job import READY, write_job
from support.smspec_command import smspec

SPEC = f"{READY}region: us-west-2\n"


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with job_server() as running:
        for name, value in running.environ.items():
            monkeypatch.setenv(name, value)
        yield running


def request_of():
    done = smspec("render", "--api-json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def training(time=0):
    return [look("InProgress", "Training", start=60, began=60, members={"CreationTime": CREATED + time})]


def smspec_digest():
    """Return the digest of the spec with a chosen name, which its tag contains."""
    request = request_of()
    return digest({name: value for name, value in request.items() if name != "Tags"})


@pytest.mark.parametrize("existing", [{"train-2": "InProgress"}, {"train": "Failed", "train-3": "InProgress"}], ids=len)
@pytest.mark.parametrize("command", ["stop", "logs", "submit --detach", "submit --detach --again"])
def test_jobs_with_longer_names_hide_no_repetition(server, tmp_path, monkeypatch, existing, command):
    """A list of SageMaker has every job whose name contains that of the spec, such as `pretrain-7` for `train`."""
    write_job(tmp_path, SPEC + "job_name: train\n")
    tag = f"smspec:digest={smspec_digest()}"
    for name, status in existing.items():
        time = CREATED + len(name)
        server.put(request_of(), look(status, began=60, members={"CreationTime": time}), name=name, tags=[tag])
    for number in range(1100):
        server.put({}, look("Completed", members={"CreationTime": CREATED + 9}), name=f"pretrain-{number}")
    listed = server.listed
    monkeypatch.setattr(server, "listed", lambda request: listed(request, 100))
    done = smspec(*command.split(), "job.yaml")
    assert done.status == 0, done.err
    newest = list(existing)[-1]
    assert not server.created and server.stopped == ([newest] if command == "stop" else [])
    assert newest in done.err + done.out


@pytest.mark.parametrize("command", ["stop", "submit --detach", "submit --detach --again"])
@pytest.mark.parametrize("same", [True, False], ids=["one token", "many tokens"])
def test_list_without_an_end_is_refused(server, tmp_path, monkeypatch, command, same):
    write_job(tmp_path, SPEC + "job_name: train\n")
    page = [
        {
            "TrainingJobName": f"pretrain-{number}",
            "TrainingJobArn": f"arn:aws:sagemaker:us-west-2:123456789012:training-job/pretrain-{number}",
            "CreationTime": CREATED,
            "TrainingJobStatus": "Completed",
        }
        for number in range(100)
    ]
    tokens = iter(range(10**6))
    token = (lambda: "same") if same else (lambda: str(next(tokens)))
    monkeypatch.setattr(server, "listed", lambda _: {"TrainingJobSummaries": page, "NextToken": token()})
    done = smspec(*command.split(), "job.yaml")
    assert (done.status, done.out, server.created, server.stopped) == (3, "", [], []), done.err
    assert ("SageMaker lists more than 10,000 jobs whose names contain `train`" in done.err) == (not same)
    assert ("SageMaker lists the jobs named `train…` in us-west-2 without an end" in done.err) == same
    assert server.asked["ListTrainingJobs"] <= 100


@pytest.mark.parametrize("command", ["stop", "logs", "collect", "submit --detach", "submit --detach --again"])
def test_equal_specs_with_two_names_are_two_jobs(server, tmp_path, command):
    """`train-2` may be a repetition of `train`, or the job of a spec with that name."""
    write_job(tmp_path, SPEC + "job_name: train-2\n")
    twin, theirs = request_of(), smspec_digest()
    write_job(tmp_path, SPEC + "job_name: train\n")
    assert theirs != smspec_digest()
    server.put(request_of(), look("Completed"), tags=[f"smspec:digest={smspec_digest()}"])
    server.put(twin, *training(9), tags=[f"smspec:digest={theirs}"])
    done = smspec(*command.split(), "job.yaml")
    assert not server.stopped and not server.created, done.err
    assert "the job train-2" not in done.err and "train-2" not in done.out
    assert "the job train," in done.err or "there is already the job train\n" in done.err


def test_chosen_name_is_looked_up_exactly(server, tmp_path):
    write_job(tmp_path, SPEC + "job_name: nightly\n")
    request = request_of()
    server.put(request, *training(), tags=[f"smspec:digest={smspec_digest()}"])
    server.put(request, *training(9), name="nightly-linear")
    assert (smspec("stop", "job.yaml").status, server.stopped) == (0, ["nightly"])
    server.requests["nightly"]["Tags"] = []
    refused = smspec("stop", "job.yaml")
    assert refused.status == 1 and "its tag `smspec:digest` is not that of the spec" in refused.err


@pytest.mark.parametrize("command", ["stop", "logs", "submit --detach", "submit --dry-run"])
@pytest.mark.parametrize("name", ["train", "train-2"])
def test_job_of_an_earlier_version_is_its_own(server, tmp_path, command, name):
    """Its digest lacks the chosen name, so it only counts for that name; `train-2` may be another spec's."""
    write_job(tmp_path, SPEC + "job_name: train\n")
    request = request_of()
    earlier = digest({key: value for key, value in request.items() if key not in ("TrainingJobName", "Tags")})
    if name != "train":
        server.put(request, *training(), tags=[f"smspec:digest={smspec_digest()}"])
    server.put(request, *training(9), name=name, tags=[f"smspec:digest={earlier}"])
    done = smspec(*command.split(), "job.yaml")
    assert (done.status, server.created) == (0, []), done.err
    assert server.stopped == (["train"] if command == "stop" else [])
    changed = {**request, "RoleArn": "arn:aws:iam::123456789012:role/Other"}
    server.put(changed, *training(9), name="train", tags=[f"smspec:digest={earlier}"])
    refused = smspec("stop", "job.yaml")
    assert refused.status == 1 and "`RoleArn` differs from the spec" in refused.err


@pytest.mark.parametrize("key", ["smspec:git-commit", "smspec:run-id", "smspec:digest", "SMSpec:any"])
@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--again"]], ids=len)
def test_tags_that_smspec_sets_are_not_those_of_a_spec(server, tmp_path, key, options):
    """`status` shows them as where the spec comes from."""
    write_job(tmp_path, SPEC + f'tags: {{"{key}": forged}}\n')
    done = smspec("submit", *options)
    assert (done.status, done.out, server.created) == (1, "", [])
    assert f"tag `{key}` begins with `smspec:`, which smspec reserves" in done.err


def test_import_leaves_the_tags_of_submission(server, tmp_path):
    write_job(tmp_path, SPEC)
    server.put(request_of(), look("Completed"), name="train", tags=["smspec:git-commit=abc", "smspec:digest=1", "a=b"])
    done = smspec("import", "train")
    assert "tags:" in done.out and "a: b" in done.out and "smspec:git" not in done.out and "smspec:d" not in done.out, (
        done.out
    )
