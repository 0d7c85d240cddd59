"""A job followed to its end: statuses and lines of all hosts, each once and in order, through every kind of failure."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.cli.job_follower import log_line
from smspec.submission.client import AccessDenied, JobRefused
from smspec.submission.following import JobLog, Recovered, Trouble, follow
from smspec.submission.job_service import JobService, host_of
from smspec.submission.training_job import LogEvent, TrainingJob, Transition
from support.servers.job_server import CREATED, job_server_of_process, look
from support.smspec_command import smspec

ENDED = look("Completed", began=60, ended=180, billable=120)


@pytest.fixture(scope="module")
def aws():
    with job_server_of_process() as running:
        running.service = JobService(None, None)
        yield running


@pytest.fixture
def server(aws):
    aws.reset()
    aws.jobs["nightly"] = [look("InProgress", "Starting"), look("InProgress", "Training", began=60), ENDED]
    return aws


def happenings(aws, **options):
    log = JobLog(aws.service, "nightly", **options)
    return [*follow(aws.service, log, "nightly", interval=0, sleep=lambda _seconds: None)]


def lines(found):
    return [f"{each.host} {each.text}" for each in found if isinstance(each, LogEvent)]


def test_statuses_and_lines_come_once_and_in_order(server):
    server.log("algo-1", 61, "a", "c", "e", "g", "i")
    server.log("algo-2", 61.5, "b", "d", "f", "h")
    found = happenings(server)
    assert lines(found) == [f"algo-{1 + number % 2} {letter}" for number, letter in enumerate("abcdefghi")]
    assert [each.status for each in found if isinstance(each, Transition)] == ["Starting", "Training", "Completed"]
    assert isinstance(found[-1], TrainingJob) and found[-1].is_completed


def test_lines_after_the_end_are_read(server):
    """CloudWatch shows the last lines of a job after SageMaker has ended it."""
    server.on_describe = lambda count: server.log("algo-1", 100 + count, f"line {count}") if count < 6 else None
    assert lines(happenings(server)) == [f"algo-1 line {count}" for count in range(1, 6)]


@pytest.mark.parametrize("count", [1, 3, 4, 99])
def test_tail_reads_the_pages_that_have_its_lines(server, count):
    server.log("algo-1", 61, *"abcdefghi")
    server.log("algo-2", 99, "x")
    log = JobLog(server.service, "nightly", tail=count)
    assert lines(log.new_events()) == [*(f"algo-1 {letter}" for letter in "abcdefghi"[-count:]), "algo-2 x"]
    assert server.asked["GetLogEvents"] <= -(-min(count, 9) // server.page) + 3
    server.log("algo-1", 90, "j", "k")
    assert lines(log.new_events()) == ["algo-1 j", "algo-1 k"]


@pytest.mark.parametrize(
    ("count", "expected"), [(1, ["y", "C"]), (2, ["x", "y", "B", "C"]), (4, ["b", "c", "x", "y", "A", "B", "C"])]
)
def test_tail_of_a_restarted_host_is_of_its_newest_streams(server, count, expected):
    for start, texts in {0: "abc", 1_000: "xy"}.items():
        server.logs[f"nightly/algo-1-{1_700_000_000 + start}"] = [(start + at, text) for at, text in enumerate(texts)]
    server.logs["nightly/algo-2-1700000000"] = [(2_000 + at, text) for at, text in enumerate("ABC")]
    log = JobLog(server.service, "nightly", tail=count)
    assert [each.text for each in log.new_events()] == expected
    server.logs["nightly/algo-1-1700000000"].append((3_000, "late"))
    assert [each.text for each in log.new_events()] == ["late"]


def test_followed_tail_has_the_later_lines_of_all_hosts(server):
    server.log("algo-1", 61, *"abcde")
    later = {2: ("algo-1", "f"), 3: ("algo-2", "first", "second", "third"), 4: ("algo-1", "g")}
    server.on_describe = lambda count: (
        server.log(later[count][0], 80 + count, *later[count][1:]) if count in later else 0
    )
    server.faults["GetLogEvents"] = [(400, "ThrottlingException")] * 2
    expected = ["algo-1 d", "algo-1 e", "algo-1 f", "algo-2 first", "algo-2 second", "algo-2 third", "algo-1 g"]
    assert lines(happenings(server, tail=2))[-7:] == expected


@pytest.mark.parametrize(
    "answer",
    [{"nextForwardToken": "same", "nextBackwardToken": "same"}, {"nextForwardToken": ""}, {}],
    ids=["one token", "an empty token", "no token"],
)
def test_server_without_pages_repeats_no_line(server, monkeypatch, answer):
    server.log("algo-1", 61, "first")
    all_lines = ["a", "a", "b"]
    events = [{"timestamp": 1_700_000_061_000, "message": line} for line in all_lines]
    shown = []

    def page(_request):
        shown.append(len(shown))
        return {"events": events[: len(shown)], **answer}

    monkeypatch.setattr(server, "events", page)
    assert lines(happenings(server)) == [f"algo-1 {line}" for line in all_lines]
    log = JobLog(server.service, "nightly")
    assert [each.text for each in log.new_events()] == all_lines and [*log.new_events()] == []
    log = JobLog(server.service, "nightly", tail=2)
    assert [each.text for each in log.new_events()] == all_lines[-2:] and [*log.new_events()] == []


@pytest.mark.parametrize("time", [0, 1, 10**17, 9 * 10**18])
def test_line_of_any_time_is_shown(server, monkeypatch, time):
    server.log("algo-1", 61, "first")
    monkeypatch.setattr(server, "events", lambda _: {"events": [{"timestamp": time, "message": "a"}]})
    (event,) = JobLog(server.service, "nightly").new_events()
    assert log_line(event, with_time=True).endswith("Z  algo-1 | a\n")


def test_server_whose_lines_always_change_ends(server, monkeypatch):
    numbers = iter(range(10**6))
    server.log("algo-1", 61, "first")

    def page(_request):
        return {"events": [{"timestamp": 1, "message": str(next(numbers))}], "nextForwardToken": "same"}

    monkeypatch.setattr(server, "events", page)
    assert len([*JobLog(server.service, "nightly").new_events()]) == 2


def test_equal_pages_with_new_tokens_are_all_shown(server, monkeypatch):
    """A program prints the same line many times in a millisecond, also more often than pages may be empty."""
    monkeypatch.setattr(server, "page", 10)
    server.logs[f"nightly/algo-1-{CREATED}"] = [*[(61, "same")] * 2_500, (62, "end")]
    assert lines(happenings(server)) == [*["algo-1 same"] * 2_500, "algo-1 end"]


ENDLESS = {
    "empty pages": ([""], 0, "200 pages without new lines"),
    "one page again": (["epoch 1"], 1_000, "1000 pages"),
    "pages in turn": (["epoch 1", "", "epoch 2"], 501, "1000 pages"),
}


@pytest.mark.parametrize(("texts", "shown", "said"), ENDLESS.values(), ids=ENDLESS)
def test_log_that_never_ends_is_reported(server, monkeypatch, texts, shown, said):
    """An end is a page with the token of the one before; here every token is new."""
    server.log("algo-1", 61, "epoch 1")
    pages = iter(range(10**9))

    def page(_request):
        number = next(pages)
        events = [{"timestamp": 1_700_000_061_000, "message": text} for text in [texts[number % len(texts)]] if text]
        return {"events": events, "nextForwardToken": f"f/{number}", "nextBackwardToken": "b"}

    monkeypatch.setattr(server, "events", page)
    done = smspec("logs", "nightly")
    assert (done.status, done.out.count("epoch 1")) == (3, shown)
    assert said in done.err


@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException", "SomethingNew"])
@pytest.mark.parametrize("operation", ["DescribeTrainingJob", "DescribeLogStreams", "GetLogEvents"])
def test_failures_in_between_lose_and_repeat_no_line(server, operation, code):
    server.log("algo-1", 61, *"abcdefgh")
    server.log("algo-2", 61, *"abcdefgh")
    calls = {"DescribeTrainingJob": 1, "DescribeLogStreams": 0, "GetLogEvents": 0}[operation]
    server.faults[operation] = [(400, code)] * 2 if not calls else []
    server.on_describe = lambda count: server.faults.update({operation: [(400, code)] * 2}) if count == calls else None
    found = happenings(server)
    assert sorted(lines(found)) == sorted(f"algo-{host} {letter}" for host in (1, 2) for letter in "abcdefgh")
    assert sum(isinstance(each, Trouble) for each in found) >= 1
    assert sum(isinstance(each, Recovered) for each in found) >= 1
    assert found[-1].is_completed


def test_denied_access_ends_the_following_and_names_the_action(server):
    server.faults["DescribeTrainingJob"] = [(400, "AccessDeniedException")]
    with pytest.raises(AccessDenied, match="AWS denies `sagemaker:DescribeTrainingJob`"):
        happenings(server)


def test_job_that_is_missing_for_a_moment_is_followed(server):
    server.faults["DescribeTrainingJob"] = [(400, "ValidationException", "Requested resource not found.")] * 3
    assert happenings(server)[-1].is_completed


def test_missing_job_ends_the_following(server):
    del server.jobs["nightly"]
    with pytest.raises(JobRefused, match="the job `nightly` in us-west-2: requested resource not found"):
        happenings(server)


def test_log_of_one_host_and_of_a_time(server):
    server.log("algo-1", 61, "a", "b", "c", "d")
    server.log("algo-2", 61, "A", "B")
    assert lines(happenings(server, host="algo-2")) == ["algo-2 A", "algo-2 B"]
    assert lines(happenings(server, since=(1_700_000_000 + 63) * 1000)) == ["algo-1 c", "algo-1 d"]


def test_restarted_host_has_a_second_stream(server):
    server.log("algo-1", 61, "first")
    server.logs["nightly/algo-1-1700000500"] = [(500, "second")]
    server.logs["nightly-2/algo-1-1700000500"] = [(500, "of a different job")]
    assert lines(happenings(server)) == ["algo-1 first", "algo-1 second"]


def test_host_of_a_stream():
    streams = ("job/algo-1-17", "job/algo-12-17", "job/odd", "job/odd-name", "algo-3-1")
    assert [host_of(stream) for stream in streams] == ["algo-1", "algo-12", "odd", "odd-name", "algo-3"]


@given(
    times=st.dictionaries(st.sampled_from(["algo-1", "algo-2", "algo-3"]), st.lists(st.integers(0, 50), max_size=9)),
    failing=st.sets(st.integers(1, 4), max_size=2),
)
@settings(deadline=None, max_examples=25)
def test_merged_log_has_every_line_in_the_order_of_its_host(aws, times, failing):
    """Whichever reads fail, the log of a job is the merge of its streams."""
    aws.reset()
    aws.jobs["nightly"] = [ENDED]
    for host, seconds in times.items():
        for number, second in enumerate(sorted(seconds)):
            aws.log(host, second, f"{number}")

    def fail(count):
        aws.faults["GetLogEvents"] = [(400, "Odd")] if count in failing else []

    aws.on_describe = fail
    events = [each for each in happenings(aws) if isinstance(each, LogEvent)]
    for host, seconds in times.items():
        assert [each.text for each in events if each.host == host] == [f"{number}" for number in range(len(seconds))]
    if not failing:
        assert [each.time for each in events] == sorted(each.time for each in events)


def test_final_metrics_without_a_number_are_shown(server):
    values = {"a": "NaN", "b": "-Infinity", "c": 0.5, "d": "1", "e": None}
    metrics = [{"MetricName": name, "Value": value, "Timestamp": CREATED} for name, value in values.items()]
    server.jobs["nightly"] = [{**ENDED, "reason": " \n", "members": {"FinalMetricDataList": metrics}}]
    shown = smspec("status", "nightly").out
    assert shown.endswith("2 min 00 s billed\nmetric a: nan\nmetric b: -inf\nmetric c: 0.5\n"), shown
    record = json.loads(smspec("status", "nightly", "--format", "json").out)
    assert record["metrics"] == {"a": None, "b": None, "c": 0.5}


@pytest.mark.parametrize("option", ["--host", "--since"])
def test_empty_options_of_logs_are_refused(server, option):
    done = smspec("logs", "nightly", option, "")
    assert done.status == 2 and f"{option}: expected " in done.err
