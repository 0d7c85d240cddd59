"""Where, and as whom, a job of a spec is created: the spec decides, or what decides is compiled, judged, and named."""

import json

import pytest

from support.servers.job_server import COMPLETED
from support.service.api_samples import small_request
from support.small_job import READY, write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

OPEN = (
    "smspec: v1\n"
    "name: small\n"
    "role: arn:aws:iam::111122223333:role/SageMakerTraining\n"
    "output: s3://bucket/small/\n"
    "hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}\n"
    "api: {AlgorithmSpecification: {AlgorithmName: mine}}\n"
)
"""It leaves its region open: neither `region` nor an image in Amazon ECR decides it."""

COMMANDS = ("submit", "stop", "logs", "collect", "status")


def names_in(region):
    done = smspec("submit", "--detach", "--region", region)
    assert done.status == 0, done.err
    return done.out.strip()


@pytest.mark.parametrize("spec", [SPEC, READY.replace("s3://models", "s3://bucket")], ids=["region", "image"])
@pytest.mark.parametrize("command", COMMANDS)
def test_option_that_contradicts_the_spec_exits_2(aws, tmp_path, command, spec):
    write_job(tmp_path, spec)
    done = smspec(command, "job.yaml", "--region", "eu-west-1")
    assert (done.status, done.out) == (2, ""), done.err
    assert "--region is eu-west-1, but" in done.err and "in job.yaml is in us-west-2; remove --region" in done.err
    assert not aws.asked


@pytest.mark.parametrize("words", [["--dry-run"], ["--detach"], ["--run-id", "a"], ["--upload-data"], ["--again"]])
def test_no_other_option_lets_the_contradiction_pass(aws, words):
    assert smspec("submit", *words, "--region", "eu-west-1").status == 2
    assert not aws.asked


@pytest.mark.parametrize("command", ["submit", "stop", "logs", "status"])
def test_option_that_repeats_the_spec_is_accepted(aws, command):
    smspec("submit", "--detach")
    assert smspec(command, "job.yaml", "--region", "us-west-2").status == 0
    assert aws.regions == {"us-west-2"}


@pytest.mark.parametrize("spec", [SPEC, READY.replace("s3://models", "s3://bucket")], ids=["region", "image"])
@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_environment_does_not_move_the_job_of_a_spec(aws, tmp_path, monkeypatch, name, spec):
    write_job(tmp_path, spec)
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv(name, "eu-west-1")
    done = smspec("submit", "--detach")
    assert done.status == 0, done.err
    assert "region us-west-2, from " in done.err
    assert smspec("stop", "job.yaml").status == 0 and smspec("status", "job.yaml").status == 0
    assert aws.regions == {"us-west-2"}


SOURCES = ["option", "AWS_REGION", "AWS_DEFAULT_REGION", "profile"]


def with_region(source, region, monkeypatch, tmp_path):
    """Set a region outside of the spec, and return the words for it."""
    monkeypatch.delenv("AWS_REGION", raising=False)
    if source == "option":
        return ["--region", region]
    if source == "profile":
        keys = "aws_access_key_id = testing\naws_secret_access_key = testing\n"
        (tmp_path / "config").write_text(f"[profile there]\nregion = {region}\n{keys}")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
        return ["--profile", "there"]
    monkeypatch.setenv(source, region)
    return []


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("command", ["submit", "stop", "logs", "collect"])
def test_region_from_outside_is_judged_by_the_policy(aws, tmp_path, monkeypatch, source, command):
    write_job(tmp_path, OPEN)
    (tmp_path / "smspec.toml").write_text('allowed_regions = ["us-west-2"]\n')
    words = with_region(source, "eu-west-1", monkeypatch, tmp_path)
    done = smspec(command, "job.yaml", *words)
    assert (done.status, done.out) == (1, ""), done.err
    assert "error[SM742]" in done.err and "does not allow the region `eu-west-1`" in done.err
    assert not aws.asked
    allowed = smspec("submit", "--detach", *with_region(source, "us-west-2", monkeypatch, tmp_path))
    assert allowed.status == 0, allowed.err
    origin = {"option": "--region", "profile": "the profile"}.get(source, source)
    assert f"region us-west-2, from {origin}, at http://127.0.0.1:" in allowed.err
    assert aws.regions == {"us-west-2"}


def test_region_from_outside_is_checked_like_the_key(aws, tmp_path):
    write_job(tmp_path, OPEN)
    done = smspec("submit", "--region", "us-west-22x")
    assert done.status == 1 and "`region`" in done.err
    assert not aws.asked


@pytest.mark.parametrize("region", ["fips-us-west-2", "us-fips-west-2"])
@pytest.mark.parametrize("source", [*SOURCES, "spec"])
def test_pseudo_region_is_not_judged_as_a_region(aws, tmp_path, monkeypatch, source, region):
    """Botocore calls us-west-2 then, which no rule, price, or policy has seen."""
    write_job(tmp_path, OPEN if source != "spec" else f"{OPEN}region: {region}\n")
    words = with_region(source, region, monkeypatch, tmp_path) if source != "spec" else []
    for command in ("submit", "stop", "logs", "collect"):
        done = smspec(command, "job.yaml", *words)
        assert (done.status, done.out) == (1, ""), done.err
        assert f"is `{region}`, but AWS would create the job in `us-west-2`" in done.err
    assert not aws.asked


def test_job_of_each_region_has_a_name(aws, tmp_path):
    """Names are unique in a region only, and a second job of the name would overwrite the output of the first."""
    write_job(tmp_path, OPEN)
    names = [names_in("us-west-2"), names_in("eu-west-1"), names_in("us-west-2")]
    assert len(set(names)) == 2 and names[0] == names[2] != names[1]
    assert json.loads(smspec("render", "--api-json").out)["TrainingJobName"] not in names
    assert smspec("stop", "job.yaml", "--region", "eu-west-1").status == 0
    again = smspec("submit", "--run-id", "a", "--detach", "--region", "eu-west-1").out.strip()
    other = smspec("submit", "--run-id", "a", "--detach", "--region", "us-west-2").out.strip()
    assert len({again, other, *names}) == 4
    assert [each["TrainingJobName"] for each in aws.created] == [names[0], names[1], again, other]


@pytest.mark.parametrize("command", ["submit", "stop"])
def test_chosen_name_needs_the_region_in_the_spec(aws, tmp_path, command):
    write_job(tmp_path, OPEN + "job_name: nightly\n")
    done = smspec(command, "job.yaml", "--region", "eu-west-1")
    assert (done.status, done.out) == (1, "")
    assert "`job_name: nightly` is one name for all regions, and --region decides the region" in done.err
    assert "set `region: eu-west-1` in job.yaml" in done.err and not aws.asked
    write_job(tmp_path, OPEN + "job_name: nightly\nregion: eu-west-1\n")
    assert smspec("submit", "--detach").out == "nightly\n"


@pytest.mark.parametrize("command", [("validate",), ("render", "--api-json"), ("build",)], ids=lambda words: words[0])
def test_commands_without_aws_do_not_read_the_environment(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, OPEN)
    (tmp_path / "smspec.toml").write_text('allowed_regions = ["us-west-2"]\n')
    plain = smspec(*command)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_PROFILE", "none")
    changed = smspec(*command)
    assert (plain.status, plain.out) == (changed.status, changed.out) and plain.status == 0, plain.err


_CODE = {
    "sagemaker_program": '"train.py"',
    "sagemaker_submit_directory": '"s3://smspec-test/source/sourcedir.tar.gz"',
}


def test_no_region_at_all_exits_3(aws, tmp_path, monkeypatch):
    write_job(tmp_path, OPEN)
    monkeypatch.delenv("AWS_REGION")
    done = smspec("submit")
    assert done.status == 3 and "no AWS region; pass `--region` or set AWS_REGION" in done.err


@pytest.fixture
def real_endpoints(aws, store, monkeypatch, tmp_path):
    """SageMaker and S3 are those of AWS, which a proxy that is not there keeps out of reach; STS is moto's."""
    write_job(tmp_path, SPEC.replace("111122223333", "210987654321"))
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", store.environ["S3_ENDPOINT_URL"])
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.parametrize(
    "words", [(), ("--dry-run",), ("--detach",), ("--run-id", "a")], ids=lambda words: "".join(words)
)
def test_credentials_of_a_different_account_end_the_submission(real_endpoints, words):
    done = smspec("submit", *words)
    assert (done.status, done.out) == (3, ""), done.err
    shown = " ".join(done.err.split())
    assert "wrong caller" in shown and "the role is in account 210987654321" in shown
    assert "bucket" not in shown.partition("wrong caller")[2]  # the rest is not asked


def test_credentials_of_the_account_of_the_role_go_on(real_endpoints, tmp_path):
    write_job(tmp_path, SPEC.replace("111122223333", "123456789012"))
    done = smspec("submit")
    assert done.status == 3 and "127.0.0.1:9" in done.err and "role is in account" not in done.err


def test_submission_goes_on_without_an_answer_of_sts(real_endpoints, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:9")
    done = smspec("submit")
    assert done.status == 3 and "role is in account" not in done.err and "127.0.0.1:9" in done.err


@pytest.mark.parametrize(
    ("endpoint", "is_refused"),
    [
        ("https://api.sagemaker.eu-west-1.amazonaws.com", True),
        ("https://vpce-0a.api.sagemaker.eu-west-1.vpce.amazonaws.com", True),
        ("https://api.sagemaker.cn-north-1.amazonaws.com.cn", True),
        ("https://API.SageMaker.eu-west-1.amazonaws.com.:443/", True),
        ("https://api.sagemaker.eu-west-1.api.aws", True),
        ("https://vpce-0a.api.sagemaker.us-west-2.vpce.amazonaws.com", False),
        ("https://api-fips.sagemaker.us-west-2.amazonaws.com", False),
    ],
)
@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_SAGEMAKER", "config"])
def test_endpoint_of_a_different_region_is_a_contradiction(
    real_endpoints, monkeypatch, tmp_path, name, endpoint, is_refused
):
    if name == "config":
        lines = "[default]\nservices = there\n[services there]\nsagemaker =\n  endpoint_url = "
        (tmp_path / "config").write_text(f"{lines}{endpoint}\n")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    else:
        monkeypatch.setenv(name, endpoint)
    done = smspec("submit")
    assert done.status == 3
    assert ("but the job in us-west-2; unset AWS_ENDPOINT_URL" in done.err) is is_refused, done.err
    assert ("role is in account 210987654321" in " ".join(done.err.split())) is not is_refused


_ELSEWHERE = "is not in AWS, but SageMaker is: the job has other"
_UNSAFE = "is a host of AWS, but not with `https` at its own port"


@pytest.mark.parametrize(
    ("endpoint", "fault"),
    [
        ("http://127.0.0.1:9", _ELSEWHERE),
        ("https://s3.us-west-2.example.com", _ELSEWHERE),
        ("http://{}.us-west-2.amazonaws.com", _UNSAFE),
        ("https://{}.us-west-2.amazonaws.com:8443", _UNSAFE),
    ],
)
@pytest.mark.parametrize("service", ["s3", "logs"])
@pytest.mark.parametrize("words", ["submit", "submit --dry-run", "collect ran", "import ran -o new", "logs ran"])
def test_data_of_a_job_are_read_in_aws(account, tmp_path, monkeypatch, service, endpoint, fault, words):
    """A server elsewhere, or on the way, has other code and models under the names of the job's."""
    if service == "s3" and words == "logs ran":
        pytest.skip("logs reads nothing from S3")
    if service == "logs" and words == "import ran -o new":
        pytest.skip("import reads no logs")
    account.jobs.put({**small_request(), "HyperParameters": _CODE}, COMPLETED, name="ran")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    setting = {"s3": "AWS_ENDPOINT_URL_S3", "logs": "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS"}[service]
    monkeypatch.setenv(setting, endpoint.format(service))
    done = smspec(*words.split())
    assert (done.status, done.out) == (3, ""), done.err
    shown = " ".join(done.err.split())
    assert f"`{endpoint.format(service)}` {fault}" in shown and setting in shown
    assert not account.jobs.created and not (tmp_path / "collect").exists() and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("service", "endpoint"),
    [
        ("S3", "https://s3.cn-north-1.amazonaws.com.cn"),
        ("S3", "https://s3.us-gov-west-1.amazonaws.com"),
        ("S3", "https://bucket.vpce-0a.s3.cn-north-1.vpce.amazonaws.com.cn"),
        ("S3", "https://s3.dualstack.us-gov-west-1.amazonaws.com"),
        ("STS", "https://sts.cn-north-1.amazonaws.com.cn"),
        ("SAGEMAKER", "https://api.sagemaker.us-gov-west-1.amazonaws.com"),
    ],
)
def test_endpoint_of_another_partition_is_a_contradiction(real_endpoints, tmp_path, monkeypatch, service, endpoint):
    write_job(tmp_path, SPEC.replace("111122223333", "123456789012"))
    monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
    done = smspec("submit")
    assert (done.status, done.out) == (3, ""), done.err
    assert "in a different partition of AWS, but the job in us-west-2" in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("service", "endpoint"),
    [
        ("S3", "https://other.s3.us-west-2.amazonaws.com"),
        ("S3", "https://s3.us-west-2.amazonaws.com/other"),
        ("SAGEMAKER", "https://sagemaker-x.abc.us-west-2.rds.amazonaws.com"),
        ("SAGEMAKER", "https://api.sagemaker.us-west-2.amazonaws.com/other"),
        ("CLOUDWATCH_LOGS", "https://logs.s3.us-west-2.amazonaws.com"),
    ],
)
def test_host_in_aws_of_another_service_is_a_contradiction(real_endpoints, tmp_path, monkeypatch, service, endpoint):
    """The owner of a bucket chooses what its host answers, such as a listing with other code."""
    write_job(tmp_path, SPEC.replace("111122223333", "123456789012"))
    monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
    done = smspec("submit")
    assert (done.status, done.out) == (3, ""), done.err
    assert (
        f"is in AWS, but it is not one of the API of {service.lower().removeprefix('cloudwatch_')}; unset"
        in " ".join(done.err.split())
    )


def test_automatic_run_id_is_printed(aws):
    aws.first_looks = [COMPLETED]
    done = smspec("submit", "--run-id", "auto", "--detach")
    (run_id,) = [line.removeprefix("run id ") for line in done.err.splitlines() if line.startswith("run id ")]
    assert {"Key": "smspec:run-id", "Value": run_id} in aws.created[0]["Tags"]
    assert smspec("submit", "--run-id", run_id, "--detach").out == done.out
    assert f"run id {run_id}" in smspec("logs", "job.yaml").err
