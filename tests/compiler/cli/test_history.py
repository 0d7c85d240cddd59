"""`smspec history`: local runs and the jobs of SageMaker, the newest first, with what changed."""

import json
import types

import pytest

from smspec.cli.past_jobs import spec_of
from support.servers.job_server import CREATED, look
from support.small_job import READY, write_job
from support.smspec_command import smspec

METRICS = [{"MetricName": "loss", "Value": 0.25, "Timestamp": CREATED}]
HOUR = 3600


@pytest.fixture
def server(sagemaker, monkeypatch, tmp_path):
    sagemaker.reset()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smspec.submission.client.time", types.SimpleNamespace(sleep=lambda _seconds: None))
    write_job(tmp_path, READY)
    (tmp_path / "smspec.toml").write_text("[prices]\n'ml.m5.large' = 0.5\n")
    return sagemaker


def ended(hours=0.0, status="Completed", **members):
    """Return the look of a job that was created so many hours after the first, and took two minutes."""
    created = CREATED + hours * HOUR
    times = {"CreationTime": created, "TrainingStartTime": created + 60, "TrainingEndTime": created + 180}
    return look(status, members={**times, "BillableTimeInSeconds": 120, **members})


def request(**members):
    made = json.loads(smspec("render", "--api-json").out)
    return {**made, **members}


def put(server, number, seen, name="small", tags=(), **members):
    """Add a job that `submit` has made."""
    known = {"smspec:digest": "sha256", "smspec:git-commit": f"{number:040x}", "smspec:git-dirty": "false"}
    words = [f"{key}={value}" for key, value in known.items()]
    return server.put(request(**members), seen, name=f"{name}-{number:010x}", tags=[*words, *tags])


def run_of(directory, job="small", **summary):
    """Write the directory of a local run."""
    directory.mkdir(parents=True)
    (directory / "run.json").write_text(json.dumps({"kind": "smspec run", "job": f"{job}-0123456789", "status": "x"}))
    known = {"job": job, "status": "Completed", "started": "2023-11-14T22:13:20Z", "seconds": 12.5}
    (directory / "summary.json").write_text(json.dumps({**known, **summary}))


def test_jobs_and_runs_are_listed_newest_first(server, tmp_path):
    put(server, 1, ended(), HyperParameters={"lr": "0.1"})
    put(server, 2, ended(1, FinalMetricDataList=METRICS), HyperParameters={"lr": "0.01"}, tags=["team=ads"])
    run_of(tmp_path / "run/small", git_commit="c" * 40, git_dirty=True, started="2023-11-14T22:30:00Z")
    done = smspec("history")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "2023-11-14T23:13:20Z  small-0000000002  Completed after 2 min 00 s",
        "    us-west-2, commit 000000000000, $0.02 of at most $12.00",
        "    metrics: loss 0.25",
        "    changed: hyperparameters.lr 0.1 → 0.01",
        "2023-11-14T22:30:00Z  small  Completed after 12.5 s",
        "    local run in run/small, commit cccccccccccc with changes",
        "2023-11-14T22:13:20Z  small-0000000001  Completed after 2 min 00 s",
        "    us-west-2, commit 000000000000, $0.02 of at most $12.00",
        "2 jobs in SageMaker (2 Completed), $0.03 of at most $24.00; 1 local run (1 Completed)",
    ]
    assert done.err == ""
    assert server.asked == {"Search": 1}


def test_without_credentials_runs_alone_are_shown(server, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    run_of(tmp_path / "run/small")
    run_of(tmp_path / "specs/deep/run/other", job="other")
    done = smspec("history")
    assert done.status == 0
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("2023")] == ["small", "other"]
    assert done.err == "SageMaker was not asked: there are no AWS credentials; only local runs are shown\n"


def test_profile_that_does_not_exist_exits_3_with_the_runs(server, tmp_path, monkeypatch):
    run_of(tmp_path / "run/small")
    monkeypatch.setenv("AWS_PROFILE", "nope")
    done = smspec("history")
    assert (done.status, "1 local run" in done.out) == (3, True)
    assert "the config profile (nope) could not be found" in done.err


def test_other_region_than_that_of_the_spec_exits_2(server):
    assert smspec("history", "job.yaml", "--region", "eu-west-1").status == 2
    assert smspec("history", "job.yaml", "--region", "us-west-2").status == 0


def test_cost_is_that_of_the_instances_that_sagemaker_selected(server):
    put(server, 1, ended())
    known = server.search({"MaxResults": 50})["Results"][0]["TrainingJob"]
    listed = [{"InstanceType": kind, "InstanceCount": 4} for kind in ("ml.p4d.24xlarge", "ml.m5.large")]
    hosts = {"InstancePreferences": listed, "SelectedInstanceType": "ml.m5.large", "SelectedInstanceCount": 4}
    server.on_search = lambda _asked, _page: {"Results": [{"TrainingJob": {**known, "ResourceConfig": hosts}}]}
    assert ", $0.07 of at most $48.00" in smspec("history").out


def test_region_of_an_overlay_may_be_the_usual_one(server, tmp_path):
    put(server, 1, ended())
    image = "image: registry.example.com/small:1\nnetwork: {subnets: [subnet-00000001], security_groups: [sg-00000001]}"
    vpc = "api: {AlgorithmSpecification: {TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}}}\n"
    spec = READY.replace("image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1", image) + vpc
    write_job(tmp_path, spec + "overlays: {prod: {region: us-west-2}}\n")
    done = smspec("history")
    assert done.status == 0, done.err
    assert "1 job in SageMaker" in done.out


def test_local_asks_nothing(server, tmp_path):
    run_of(tmp_path / "run/small")
    done = smspec("history", "--local")
    assert (done.status, done.err, dict(server.asked)) == (0, "", {})
    assert smspec("history", "--local", "--all").status == 2


def test_spec_has_its_own_jobs_and_runs_only(server, tmp_path):
    put(server, 1, ended())
    put(server, 2, ended(1), name="small-er")
    put(server, 3, ended(2), name="other")
    server.put(request(), ended(3), name="small-00000000ff")  # without the tag of submit
    run_of(tmp_path / "run/small")
    run_of(tmp_path / "run/other", job="other")
    (tmp_path / "specs").mkdir()
    (tmp_path / "job.yaml").rename(tmp_path / "specs/small.yaml")
    out = smspec("history", "specs/small.yaml").out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("2023")] == ["small-0000000001", "small"]


def test_attempts_of_a_queue_belong_to_their_spec(server):
    attempt = "0a1b2c3d" * 4
    named = [f"AWSBatchsmall-00000000ff{number}{attempt}" for number in ("", "-2", "-37")]
    assert spec_of(f"AWSBatchlarge-language-models-3{attempt}") == "large-language-models"  # cut to 63 characters
    for second, name in enumerate((*named, f"AWSBatchother-00000000ff{attempt}")):
        server.put(request(), ended(second), name=name)
    out = smspec("history").out
    assert sorted(line.split()[1] for line in out.splitlines() if line.startswith("2023")) == sorted(named)
    assert "no jobs" in smspec("history", "--all").err


def test_directory_without_specs_has_all_jobs_of_the_region(server, tmp_path):
    put(server, 1, ended())
    put(server, 3, ended(2), name="other")
    (tmp_path / "job.yaml").unlink()
    done = smspec("history")
    assert done.status == 0
    assert "2 jobs in SageMaker (2 Completed)" in done.out
    assert done.err == "`.` has no job spec: all jobs that submit has made in the region are shown\n"
    (tmp_path / "job.yaml").write_text(READY)
    assert "2 jobs in SageMaker" in smspec("history", "--all").out
    assert "1 job in SageMaker" in smspec("history").out


def test_spec_with_errors_is_named_and_the_others_are_shown(server, tmp_path):
    put(server, 1, ended())
    write_job(tmp_path / "bad", READY.replace("count: 1", "count: none"))
    done = smspec("history")
    assert (done.status, "1 job in SageMaker" in done.out) == (0, True)
    assert done.err.startswith("bad/job.yaml has errors, so its jobs in SageMaker are not listed: SM2")
    assert smspec("history", "bad/job.yaml").status == 1


def test_since_and_limit(server):
    for number in range(1, 9):
        put(server, number, ended(number), HyperParameters={"lr": str(number)})
    out = smspec("history", "--since", "2023-11-15T03:00:00Z").out
    assert [line.split()[1][-1] for line in out.splitlines() if line.startswith("2023")] == ["8", "7", "6", "5"]
    out = smspec("history", "--limit", "3").out
    assert [line.split()[1][-1] for line in out.splitlines() if line.startswith("2023")] == ["8", "7", "6"]
    assert "changed: hyperparameters.lr 5 → 6" in out  # of the last one, too
    assert out.splitlines()[-1].endswith("; there are more, pass --limit N")
    for words in (("--limit", "0"), ("--limit", "1e3"), ("--since", "soon"), ("no/such",)):
        assert smspec("history", *words).status == 2


def test_failed_job_has_its_cause(server):
    reason = "AlgorithmError: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB, exit code: 1"
    put(server, 1, ended(status="Failed", FailureReason=reason))
    put(server, 2, ended(1, status="Failed", FailureReason="something new"))
    out = smspec("history").out
    assert "    cause: the memory of a GPU is full (cuda-memory)\n" in out
    assert "    cause: unknown to smspec; something new\n" in out


def test_json_has_changes_and_sums(server, tmp_path):
    put(server, 1, ended(), HyperParameters={"api_token": "hunter2hunter2"}, tags=["team=ads"])
    nan = [{"MetricName": "loss", "Value": "NaN", "Timestamp": CREATED}]
    put(server, 2, ended(1, "Stopped", FinalMetricDataList=nan), HyperParameters={"a": "1"}, tags=["team=web"])
    done = smspec("history", "--format", "json")
    assert "hunter2" not in done.out
    found = json.loads(done.out)
    newest, oldest = found["jobs"]
    assert newest["metrics"] == {"loss": None}
    assert [(each["key"], each["new"]) for each in newest["changes"]] == [
        ("hyperparameters.a", "1"),
        ("hyperparameters.api_token", None),
    ]
    assert (oldest["changes"], oldest["tags"], oldest["ceiling_usd"]) == (None, {"team": "ads"}, 12.0)
    assert [(each["value"], each["jobs"]) for each in found["spending"]["team"]] == [("ads", 1), ("web", 1)]
    assert found["total"]["statuses"] == {"Completed": 1, "Stopped": 1}


def test_throttling_is_waited_out(server):
    put(server, 1, ended())
    server.faults["Search"] = [(400, "ThrottlingException")] * 12
    done = smspec("history")
    assert (done.status, done.err) == (0, "")
    assert "1 job in SageMaker" in done.out


def test_denied_search_shows_the_runs_and_exits_3(server, tmp_path):
    run_of(tmp_path / "run/small")
    server.faults["Search"] = [(400, "AccessDeniedException")]
    done = smspec("history")
    assert done.status == 3
    assert "1 local run" in done.out
    assert "`sagemaker:Search`" in done.err


@pytest.mark.parametrize("kind", ["same token", "new tokens, same jobs", "new tokens, no jobs"])
def test_list_without_an_end_ends(server, kind):
    put(server, 1, ended())

    def endless(_request, page):
        token = "same" if kind == "same token" else str(10_000 + server.asked["Search"])
        return {"Results": [] if kind.endswith("no jobs") else page["Results"], "NextToken": token}

    server.on_search = endless
    if kind != "new tokens, no jobs":
        number = server.search
        server.search = lambda asked: number({**asked, "NextToken": "0"})
    done = smspec("history")
    server.__dict__.pop("search", None)
    assert done.status == 3
    assert "without an end" in done.err
    assert ("1 job in SageMaker" in done.out) == (kind != "new tokens, no jobs")
    assert server.asked["Search"] < 30


def test_page_beyond_the_limits_is_read_in_parts(server):
    for number in range(1, 60):
        put(server, number, ended(number), HyperParameters={f"h{each}": "1" for each in range(100)})
    many = [{"MetricName": f"m{each}", "Value": 1.0, "Timestamp": CREATED} for each in range(200)]
    server.request = {"FinalMetricDataList": many}
    done = smspec("history", "--limit", "59")
    assert (done.status, done.err) == (0, "")
    assert "59 jobs in SageMaker" in done.out
    assert "and 92 more" in done.out


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e::error::\n##vso[task.complete]"


def test_hostile_texts_are_shown_safely(server, tmp_path):
    bad = {
        "FailureReason": HOSTILE,
        "FinalMetricDataList": [{"MetricName": HOSTILE, "Value": "Infinity", "Timestamp": 1}],
    }
    put(server, 1, ended(status="Failed", **bad), HyperParameters={HOSTILE: HOSTILE}, tags=[f"{HOSTILE}={HOSTILE}"])
    put(server, 2, look("Exploding", "Odd", members={"CreationTime": CREATED + 1}), HyperParameters={HOSTILE: "1"})
    run_of(tmp_path / "run/small", metrics=[{"name": HOSTILE, "last": "nan"}, 3], failure_reason=HOSTILE, seconds="x")
    run_of(tmp_path / "run/odd", job=HOSTILE, status=[], request=[], metrics={}, started=7, git_commit=HOSTILE)
    (tmp_path / "run/cut").mkdir()
    (tmp_path / "run/cut/run.json").write_text('{"kind": "smspec run", "job": 5}')
    for form in ("text", "json", "html"):
        done = smspec("history", "--format", form)
        assert done.status == 0, done.err
        assert "\x1b" not in done.out and "\u202e" not in done.out
        assert not [line for line in done.out.splitlines() if line.lstrip().startswith(("::", "##vso"))]
        if form == "html":
            assert "<script>alert" not in done.out
        else:
            assert "Exploding" in done.out


def test_members_of_the_wrong_kind_do_not_stop_the_list(server):
    put(server, 1, ended())
    odd = {
        "Results": [
            {"TrainingJob": {}},
            {},
            {"TrainingJob": {"TrainingJobName": "n", "Tags": [{"Key": "smspec:digest", "Value": "x"}]}},
        ]
    }
    server.on_search = lambda _request, page: {"Results": [*odd["Results"], *page["Results"]]}
    done = smspec("history", "--all")
    assert (done.status, done.err) == (0, "")
    assert "2 jobs in SageMaker (1 Completed, 1 other)" in done.out


def test_many_jobs_take_a_call_for_each_fifty(server):
    """Pages are made as they are asked for; 20 specs, each job with another learning rate than the one before."""
    one = put(server, 1, ended(), tags=["team=ads"])
    known = server.search({"MaxResults": 50})["Results"][0]["TrainingJob"]
    server.jobs.pop(one)

    def page(asked, _page):
        start = int(asked.get("NextToken", 0))
        jobs = [
            {
                **known,
                "TrainingJobName": f"small{number % 20}-{number:010x}",
                "TrainingJobArn": f"arn:aws:sagemaker:us-west-2:123456789012:training-job/{number}",
                "CreationTime": CREATED - number,
                "HyperParameters": {"lr": str(number)},
            }
            for number in range(start, start + asked["MaxResults"])
        ]
        return {"Results": [{"TrainingJob": job} for job in jobs], "NextToken": str(start + len(jobs))}

    server.on_search = page
    shown = smspec("history", "--all", "--limit", "500", "--format", "html").out
    assert "500 jobs (500 Completed)" in shown
    assert shown.count("hyperparameters.lr ") == 200
    assert "300 more are counted above." in shown and "there is more: these are the newest" in shown
    assert server.asked["Search"] <= 12
