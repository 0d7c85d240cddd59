"""`logs`, `stop`, and `collect` of a spec concern the newest of its jobs: of what exists, and is its own."""

import functools
import json
import types

import pytest

from smspec.plan import digest, training_job_name
from support.servers.job_server import CREATED, job_server, look
from support.small_job import READY, write_job
from support.smspec_command import smspec

SPEC = (
    READY + "region: us-west-2\nvars: {runs: {default: 1}}\nretries: ${{ vars.runs }}\noverlays: {prod: {retries: 3}}\n"
)


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, SPEC)
    with job_server() as running:
        for name, value in running.environ.items():
            monkeypatch.setenv(name, value)
        yield running


def request_of(*options):
    done = smspec("render", "--api-json", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)


def name_of(*options):
    return request_of(*options)["TrainingJobName"]


def training(time=0):
    return [look("InProgress", "Training", start=60, began=60, members={"CreationTime": CREATED + time})]


def test_newest_repetition_is_stopped(server):
    name = name_of()
    server.put(request_of(), look("Failed"))
    server.put(request_of(), *training(9), name=f"{name}-2")
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [f"{name}-2"]), done.err


@pytest.mark.parametrize("options", [["-O", "prod"], ["--set", "vars.runs=2"]])
def test_variant_selects_the_job(server, options):
    server.put(request_of(*options), *training())
    server.put(request_of(), *training())
    assert name_of(*options) != name_of()
    done = smspec("stop", "job.yaml", *options)
    assert (done.status, server.stopped) == (0, [name_of(*options)]), done.err


def test_log_of_a_spec(server):
    server.put(request_of(), *training())
    server.log("algo-1", 1, "epoch 1", job=name_of())
    done = smspec("logs", "job.yaml")
    assert (done.status, done.out) == (0, "algo-1 | epoch 1\n"), done.err


def test_job_of_a_spec_that_goes_on_has_no_result(server):
    server.put(request_of(), *training())
    done = smspec("collect", "./job.yaml")
    assert done.status == 1 and f"the job `{name_of()}` is InProgress" in done.err


@pytest.mark.parametrize("command", ["logs", "stop", "collect"])
def test_job_that_was_never_submitted_exits_1(server, command):
    done = smspec(command, "job.yaml")
    assert (done.status, done.out) == (1, "")
    assert f"its job `{name_of()}` does not exist in us-west-2; run `smspec submit`" in done.err


@pytest.mark.parametrize("options", [["-O", "prod"], ["--set", "vars.a=1"], ["--run-id", "x"]])
def test_options_of_a_spec_do_not_fit_a_name(server, options):
    done = smspec("stop", "nightly", *options)
    assert (done.status, server.asked) == (2, {})


def test_name_of_a_job_wins_over_a_file(server, tmp_path):
    (tmp_path / "nightly").write_text("a: [")
    server.jobs = {"nightly": training()}
    assert (smspec("stop", "nightly").status, server.stopped) == (0, ["nightly"])
    assert smspec("stop", "./nightly").status == 1


def at(seconds, status="InProgress", secondary="Training"):
    return look(status, secondary, began=60, members={"CreationTime": CREATED + seconds})


def with_run_id(server, run_id, *looks, request=None, suffix="", tags=None):
    """Put a job of a run id into SageMaker, as `submit --run-id` makes it."""
    request = request or request_of()
    identity = {name: value for name, value in request.items() if name not in ("TrainingJobName", "Tags")}
    name = training_job_name("small", {**identity, "smspec:run-id": run_id}) + suffix
    return server.put(request, *looks, name=name, tags=tags or [f"smspec:run-id={run_id}"])


def test_stop_takes_the_newest_job_of_a_run_id(server):
    """The job without an id has completed; that of tonight runs on."""
    server.put(request_of(), at(0, "Completed", "Completed"))
    name = with_run_id(server, "2026-01-31", at(90))
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [name]), done.err
    assert f"the job {name}, run id 2026-01-31, created 2023-11-14T22:14:50Z; job.yaml has 1 older job\n" in done.err


def test_older_jobs_in_progress_are_named(server):
    older = [with_run_id(server, f"n{number}", at(number)) for number in range(2)]
    newest = with_run_id(server, "n2", at(9, "Completed", "Completed"))
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, []), done.err
    assert f"the job {newest}, run id n2" in done.err and "2 older jobs, of which" in done.err
    assert all(name in done.err for name in older) and f"{newest}: Completed already" in done.err


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9])
def test_newest_of_several_pages(server, count):
    names = [with_run_id(server, f"r{number}", at((number * 7) % 11)) for number in range(count)]
    newest = max(range(count), key=lambda number: (number * 7) % 11)
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [names[newest]]), done.err


def test_repetition_of_a_run_id_is_found(server):
    with_run_id(server, "a", at(0, "Failed", "Failed"))
    name = with_run_id(server, "a", at(5), suffix="-2")
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [name]), done.err
    server.stopped.clear()
    assert (smspec("stop", "job.yaml", "--run-id", "a").status, server.stopped) == (0, [name])


def test_jobs_that_only_have_such_names_are_left(server, tmp_path):
    """Of `small-linear`, of a colleague's `small`, of an earlier text of the spec, and with a tag that was copied."""
    own = server.put(request_of(), at(0))
    other = {**request_of(), "HyperParameters": {"lr": "9"}}
    server.put(request_of(), at(50), name="small-linear-0123456789", tags=["smspec:run-id=x"])
    server.put(request_of(), at(51), name="a-small-0123456789", tags=["smspec:run-id=x"])
    server.put(other, at(52), name="small-0123456789", tags=["smspec:digest=" + "d" * 64])
    server.put(request_of(), at(53), name="small-abcdef0123", tags=["smspec:run-id=x"])
    server.put(request_of(), at(54), name="small-abcdef0124", tags=["smspec:run-id=a b"])
    with_run_id(server, "y", at(55), request=other)
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [own]), done.err
    assert "older job" not in done.err


@pytest.mark.parametrize("command", ["stop", "logs", "collect", "submit"])
@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"RoleArn": "arn:aws:iam::111122223333:role/Admin"}, id="role"),
        pytest.param({"HyperParameters": {"lr": "9"}}, id="hyperparameters"),
        pytest.param({"AlgorithmSpecification": {"TrainingImage": "evil", "TrainingInputMode": "File"}}, id="image"),
        pytest.param({"Environment": {"LD_PRELOAD": "/tmp/x.so"}}, id="environment"),
    ],
)
def test_different_job_with_the_name_is_left_alone(server, command, members):
    """Also with the right digest as a tag, which anyone can copy."""
    request = request_of()
    identity = {name: value for name, value in request.items() if name not in ("TrainingJobName", "Tags")}
    name = server.put({**request, **members}, at(0), tags=[f"smspec:digest={digest(identity)}"])
    done = smspec(command, "job.yaml")
    assert (done.status, done.out) == (1, ""), done.err
    assert f"a different job is named `{name}` in us-west-2: `{next(iter(members))}" in done.err
    assert (server.stopped, server.asked["AddTags"], server.created) == ([], 0, [])


def test_run_id_whose_job_is_a_different_one(server):
    own = server.put(request_of(), at(0))
    other = {**request_of(), "RoleArn": "arn:aws:iam::111122223333:role/Admin"}
    identity = {name: value for name, value in request_of().items() if name not in ("TrainingJobName", "Tags")}
    name = training_job_name("small", {**identity, "smspec:run-id": "z"})
    server.put(other, at(9), name=name, tags=["smspec:run-id=z"])
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [own]) and f"not of the spec, and left alone: {name}\n" in done.err


def test_status_shows_the_newest_job_of_a_run_id(server):
    server.put(request_of(), at(0, "Completed", "Completed"))
    name = with_run_id(server, "tonight", at(90))
    shown = smspec("status", "job.yaml")
    assert shown.status == 0, shown.err
    assert "job.yaml (run id tonight)" in shown.out and name in shown.out
    records = json.loads(smspec("status", "job.yaml", "--format", "json").out)
    assert [each["run_id"] for each in records] == [None, "tonight", None]
    assert smspec("status", name).out.splitlines()[1] == "run id: tonight"


def test_status_of_a_spec_whose_name_a_different_job_has(server):
    server.put({**request_of(), "RoleArn": "arn:aws:iam::111122223333:role/Admin"}, at(0))
    shown = smspec("status", "job.yaml")
    assert shown.status == 0 and "a different job" in shown.out and "InProgress" not in shown.out


def test_listing_is_throttled_for_a_while(server, monkeypatch):
    monkeypatch.setattr("smspec.submission.client.time", types.SimpleNamespace(sleep=lambda seconds: None))
    name = with_run_id(server, "a", at(0))
    server.faults["ListTrainingJobs"] = [(400, "ThrottlingException")] * 2
    server.faults["ListTags"] = [(400, "ThrottlingException")] * 2
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [name]), done.err


@pytest.mark.parametrize("operation", ["ListTrainingJobs", "ListTags"])
def test_denied_listing_exits_3(server, operation):
    with_run_id(server, "a", at(0))
    server.faults[operation] = [(400, "AccessDeniedException")] * 9
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (3, []) and f"AWS denies `sagemaker:{operation}`" in done.err


@pytest.mark.parametrize("options", [(), ("--run-id", "a")], ids=["spec", "run-id"])
@pytest.mark.parametrize(
    ("existing", "newest"),
    [
        pytest.param({"-2": "InProgress"}, "-2", id="first-deleted"),
        pytest.param({"": "Failed", "-3": "InProgress"}, "-3", id="second-deleted"),
        pytest.param({"-4": "Failed", "-7": "InProgress"}, "-7", id="several-deleted"),
        pytest.param({"-3": "Failed", "-2": "InProgress"}, "-2", id="second-made-after-the-third"),
    ],
)
def test_repetition_after_a_gap_is_the_newest(server, options, existing, newest):
    """A job of a chain that was deleted hides none of the others, and nothing is created while one runs."""
    base = server.put(request_of(), at(0))
    if options:
        base = with_run_id(server, "a", at(0))
    request, tags = server.requests[base], [f"{tag['Key']}={tag['Value']}" for tag in server.requests[base]["Tags"]]
    server.jobs.clear()
    for time, (suffix, status) in enumerate(existing.items()):
        server.put(request, at(time, status, status), name=f"{base}{suffix}", tags=tags)
    for again in ((), ("--again",)):
        done = smspec("submit", "job.yaml", "--detach", *options, *again)
        assert (done.status, done.out) == (0, f"{base}{newest}\n"), done.err
    done = smspec("stop", "job.yaml", *options)
    assert (done.status, server.stopped, server.created) == (0, [f"{base}{newest}"], []), done.err


EVIL = {"Environment": {"LD_PRELOAD": "/x.so"}}


@pytest.mark.parametrize("chosen", [False, True], ids=["derived", "job-name"])
@pytest.mark.parametrize(
    ("own", "foreign", "next_one"),
    [
        pytest.param("", ("-2",), "-3", id="second"),
        pytest.param("", ("-2", "-3", "-5"), "-4", id="several"),
        pytest.param("-2", ("",), "-3", id="first"),
        pytest.param("-3", ("", "-2"), "-4", id="first-two"),
        pytest.param("-3", ("",), "-2", id="first-and-the-second-is-deleted"),
    ],
)
def test_foreign_jobs_hide_no_own_job(server, tmp_path, chosen, own, foreign, next_one):
    """Jobs with names of the spec that are not its own: `--again` takes the next free name, and says why."""
    if chosen:
        write_job(tmp_path, SPEC + "job_name: nightly\n")
    sent = request_of()
    left = {"Tags"} if chosen else {"TrainingJobName", "Tags"}
    identity = {name: value for name, value in sent.items() if name not in left}
    tags, name = [f"smspec:digest={digest(identity)}"], sent["TrainingJobName"]
    for suffix in foreign:
        server.put({**sent, **EVIL}, at(50), name=f"{name}{suffix}", tags=tags)
    server.put(sent, at(0), name=f"{name}{own}", tags=tags)
    stopped = smspec("stop", "job.yaml")
    assert (stopped.status, server.stopped) == (0, [f"{name}{own}"]), stopped.err
    assert f"not of the spec, and left alone: {', '.join(f'{name}{each}' for each in foreign)}\n" in stopped.err
    shown = smspec("status", "job.yaml")
    assert shown.status == 0 and f" {name}{own} " in shown.out.splitlines()[1], shown.out
    server.put(sent, at(0, "Failed", "Failed"), name=f"{name}{own}", tags=tags)
    ended = smspec("submit", "--detach")
    assert (ended.status, server.created) == (1, []) and f"the job `{name}{own}` is Failed" in ended.err, ended.err
    again = smspec("submit", "--detach", "--again")
    assert (again.status, again.out) == (0, f"{name}{next_one}\n"), again.err
    for suffix in foreign:
        assert f"a different job is named `{name}{suffix}` in us-west-2: `Environment" in again.err
    assert again.err.count("smspec skips its name") == len(foreign) and server.asked["AddTags"] == 0


def test_name_of_a_foreign_job_alone_is_an_error_with_again(server):
    name = server.put({**request_of(), **EVIL}, at(0, "Failed", "Failed"))
    done = smspec("submit", "--detach", "--again")
    assert (done.status, server.created) == (1, []) and f"a different job is named `{name}`" in done.err


@pytest.mark.parametrize("command", ["stop", "logs", "collect"])
def test_job_that_is_being_deleted_is_not_over(server, command):
    """SageMaker deletes the job of the spec; a job of a run id goes on."""
    server.put(request_of(), at(90, "Deleting", "Deleting"))
    done = smspec(command, "job.yaml")
    assert done.status == 1 and "does not exist in us-west-2" in done.err
    name = with_run_id(server, "a", at(0))
    assert f"the job {name}, run id a" in smspec(command, "job.yaml").err


def test_name_of_a_job_that_is_being_deleted(server):
    server.jobs["nightly"] = [look("Deleting")]
    assert smspec("stop", "nightly").err == "nightly: Deleting already\n"
    done = smspec("collect", "nightly")
    assert done.status == 1 and "is Deleting" in done.err
    assert server.stopped == []


def test_spec_with_alternatives_and_a_run_id(server, tmp_path):
    hosts = "{instance_type: ml.m5.large, count: 1, volume: 10GB}"
    assert hosts in SPEC
    kinds = ("ml.g5.xlarge", "ml.g6.xlarge")
    items = ", ".join(f"{{instance_type: {kind}}}" for kind in kinds)
    write_job(tmp_path, SPEC.replace(hosts, f"{{count: 1, any_of: [{items}]}}"))
    first = request_of()
    second = {**first, "ResourceConfig": {**first["ResourceConfig"], "InstanceType": kinds[1]}}
    name = with_run_id(server, "a", at(9), request=second)
    with_run_id(server, "a", at(0, "Failed", "Failed"), request=first)
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [name]), done.err
    assert "1 older job" in done.err


def test_longest_name_of_a_spec(server, tmp_path):
    stem = "a" * 48
    write_job(tmp_path, SPEC.replace("name: small\n", f"name: {stem}\n"))
    request = request_of()
    identity = {name: value for name, value in request.items() if name not in ("TrainingJobName", "Tags")}
    first = training_job_name(stem, {**identity, "smspec:run-id": "a"})
    server.put(request, at(0, "Failed", "Failed"), name=first, tags=["smspec:run-id=a"])
    server.put(request, at(5), name=f"{first}-2", tags=["smspec:run-id=a"])
    assert (smspec("stop", "job.yaml").status, server.stopped) == (0, [f"{first}-2"])


def test_endless_listing_ends(server, monkeypatch):
    """A server whose pages never end, with jobs that are not of the spec."""
    page = [
        {
            "TrainingJobName": f"small-{number:010x}",
            "TrainingJobArn": f"arn:aws:sagemaker:us-west-2:123456789012:training-job/small-{number:010x}",
            "CreationTime": CREATED,
            "TrainingJobStatus": "InProgress",
        }
        for number in range(100)
    ]
    tokens = iter(range(10**6))

    def listed(request):
        if request["NameContains"] != "small-":
            return {"TrainingJobSummaries": []}
        return {"TrainingJobSummaries": page, "NextToken": str(next(tokens))}

    monkeypatch.setattr(server, "listed", listed)
    done = smspec("stop", "job.yaml")
    assert (done.status, done.out) == (1, "")
    assert "are not of the spec as it is now; pass --run-id, or the name of a job" in done.err
    assert server.asked["ListTags"] <= 501


@pytest.mark.parametrize("kind", ["run", "spec", "directory", "request", "link"])
@pytest.mark.parametrize(
    "command", [("collect",), ("status",), ("logs",), ("stop",), ("import",), ("import", "-o", "new")], ids="".join
)
def test_word_is_the_job_whatever_a_pull_request_adds(server, tmp_path, command, kind):
    """A file of that name cannot answer for the job, with a result of its own and exit status 0."""
    planted = tmp_path / "nightly"
    if kind in ("run", "directory"):
        (planted / "model").mkdir(parents=True)
        (planted / "model" / "model.txt").write_text("planted")
        write_job(planted, SPEC)
        marker = {"kind": "smspec run", "job": "nightly", "status": "Completed"}
        (planted / "run.json").write_text(json.dumps(marker if kind == "run" else {}))
    elif kind == "link":
        planted.symlink_to("job.yaml")
    else:
        planted.write_text(SPEC if kind == "spec" else json.dumps(request_of()))
    done = smspec(command[0], "nightly", *command[1:])
    assert done.status == 1 and done.out == "", done.err
    assert server.asked["DescribeTrainingJob"] == 1
    assert "`nightly` is the name of a job here; for the file or directory, pass `./nightly`\n" in done.err


def test_path_has_a_slash_or_a_dot(server, tmp_path):
    write_job(tmp_path / "nightly", SPEC)
    (tmp_path / "request").write_text(json.dumps(request_of()))
    for path in ("./nightly", "nightly/", "nightly/job.yaml"):
        assert "nightly/job.yaml" in smspec("status", path).out
    assert smspec("import", "./request").status == 0


def test_thousands_of_old_jobs_hide_no_newer_one(server, monkeypatch):
    monkeypatch.setattr(server, "listed", functools.partial(server.listed, size=100))
    server.jobs = {f"small-2020-{number}": [at(-9)] for number in range(10_100)}
    name = with_run_id(server, "a", at(90))
    done = smspec("stop", "job.yaml")
    assert (done.status, server.stopped) == (0, [name]), done.err
    assert server.asked["ListTrainingJobs"] < 50
