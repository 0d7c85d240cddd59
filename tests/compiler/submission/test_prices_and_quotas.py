"""``smspec prices --update`` and ``smspec quotas --update`` against a server with the responses of AWS."""

import json
import re

import pytest

from support.servers.hostile_s3 import CREDENTIALS
from support.servers.hostile_server import hostile_server, response
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

JSON = {"Content-Type": "application/x-amz-json-1.1"}


def reply(content, status="200 OK"):
    return response(json.dumps(content).encode(), status=status, headers=JSON)


def refusal(code, message="No."):
    return reply({"__type": code, "message": message}, "400 Bad Request")


def product(kind, price="1.4080000000", *, usage="Training", region="us-west-2", currency="USD", unit="Hrs", **more):
    attributes = {
        "regionCode": region,
        "locationType": "AWS Region",
        "instanceType": f"{kind}-{usage}",
        "instanceName": kind,
        "platoinstancetype": usage,
        **more,
    }
    dimension = {"unit": unit, "pricePerUnit": {currency: price}}
    return json.dumps(
        {
            "product": {"productFamily": "ML Instance", "attributes": attributes},
            "terms": {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": dimension}}}},
        }
    )


def quota(name, value, account="111122223333"):
    arn = (
        f"arn:aws:servicequotas:us-west-2:{account}:sagemaker/L-1" if account else "arn:aws:servicequotas:us-west-2::s"
    )
    return {"QuotaName": name, "Value": value, "QuotaArn": arn}


class Aws:
    """The pages of each operation; the token is the number of the page. ``calls``: (operation, parameters)."""

    def __init__(self, **pages):
        self.pages = pages
        self.calls = []
        self.before = []

    def __call__(self, asked):
        operation = asked.headers["x-amz-target"].rpartition(".")[2]
        parameters = json.loads(asked.body)
        self.calls.append((operation, parameters))
        if self.before:
            return [self.before.pop(0)]
        pages, number = self.pages[operation], int(parameters.get("NextToken", 0))
        name = "PriceList" if operation == "GetProducts" else "Quotas"
        more = {"NextToken": str(number + 1)} if number + 1 < len(pages) else {}
        return [reply({name: pages[number], **more})]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def asked(repository, monkeypatch):
    """Return a way to run a command against a server."""

    def run(aws, *words):
        with hostile_server(aws) as server:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.host}")
            return smspec(*words, cwd=repository)

    return run


def prices_in(repository):
    return json.loads((repository / "smspec.prices.json").read_text())["regions"]


def test_training_prices_are_written_sorted(asked, repository):
    pages = [
        [product("ml.m5.large", "0.1150000000"), product("ml.g5.xlarge", usage="Hosting")],
        [
            product("ml.g5.xlarge"),
            product("ml.c5.xlarge", instanceType="NA"),
            product("ml.p3.2xlarge", usage="SpotTraining"),
        ],
    ]
    done = asked(Aws(GetProducts=pages), "prices", "--update")
    assert (done.status, done.out) == (0, ""), done.err
    assert done.err == "us-west-2: 3 instance types\nwrote smspec.prices.json\n"
    lines = (repository / "smspec.prices.json").read_text().splitlines()
    entries = [line.strip() for line in lines if '"ml.' in line]
    assert entries == ['"ml.c5.xlarge": "1.408",', '"ml.g5.xlarge": "1.408",', '"ml.m5.large": "0.115"']
    assert re.fullmatch(r"2\d{3}-\d\d-\d\d", prices_in(repository)["us-west-2"]["as_of"])


def test_regions_are_those_of_the_jobs_and_of_the_file(asked, repository):
    for name, region in (("a", "eu-west-1"), ("b", "ap-southeast-2")):
        (repository / name).mkdir()
        write_job(repository / name, BUILT.replace("us-west-2", region))
    (repository / "smspec.prices.json").write_text(
        '{"version": 1, "regions": {"us-east-1": {"as_of": "2026-01-01", "currency": "USD", "training": {}}}}'
    )
    aws = Aws(GetProducts=[[product("ml.m5.large", region=r) for r in ("eu-west-1", "ap-southeast-2", "us-east-1")]])
    assert asked(aws, "prices", "--update").status == 0
    assert list(prices_in(repository)) == ["ap-southeast-2", "eu-west-1", "us-east-1"]
    assert [c["Filters"][0]["Value"] for _, c in aws.calls] == ["ap-southeast-2", "eu-west-1", "us-east-1"]


UNUSABLE = {
    "no JSON": "{",
    "a list": "[]",
    "another unit": product("ml.a1.large", unit="GB-Mo"),
    "another currency": product("ml.a1.large", currency="EUR"),
    "free": product("ml.a1.large", "0.0000000000"),
    "negative": product("ml.a1.large", "-1.0"),
    "not a number": product("ml.a1.large", "NaN"),
    "huge": product("ml.a1.large", "1" * 400),
    "another region": product("ml.a1.large", region="us-east-1"),
    "an outpost": product("ml.a1.large", locationType="AWS Outposts"),
    "no instance type": product("large"),
    "numbers as attributes": product(5, platoinstancetype=7, instanceName=[1]),
    "no terms": json.dumps({"product": json.loads(product("ml.a1.large"))["product"]}),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_product_is_left_out(case, asked, repository):
    done = asked(Aws(GetProducts=[[UNUSABLE[case], product("ml.m5.large")]]), "prices", "--update")
    assert done.status == 0, done.err
    assert prices_in(repository)["us-west-2"]["training"] == {"ml.m5.large": "1.408"}


def test_two_prices_of_a_type_are_left_out(asked, repository):
    both = [product("ml.g5.xlarge"), product("ml.g5.xlarge", "2.0"), product("ml.m5.large")]
    done = asked(Aws(GetProducts=[both]), "prices", "--update")
    assert "ignored 1 without one price per hour" in done.err
    assert prices_in(repository)["us-west-2"]["training"] == {"ml.m5.large": "1.408"}


def test_quotas_of_the_account_go_before_defaults(asked, repository):
    aws = Aws(
        ListServiceQuotas=[
            [quota("ml.g5.xlarge for training job usage", 2.0), quota("ml.g5.xlarge for endpoint usage", 9.0)],
            [quota("Longest run time for a training job", 2419200.0)],
        ],
        ListAWSDefaultServiceQuotas=[
            [
                quota("ml.g5.xlarge for training job usage", 0.0, ""),
                quota("ml.g5.xlarge for spot training job usage", 0.0, ""),
            ]
        ],
    )
    done = asked(aws, "quotas", "--update")
    assert done.status == 0, done.err
    assert done.err == "111122223333 in us-west-2: 3 quotas\nwrote smspec.quotas.json\n"
    found = json.loads((repository / "smspec.quotas.json").read_text())["accounts"]["111122223333"]["us-west-2"]
    assert found["training"] == {
        "Longest run time for a training job": 2419200,
        "ml.g5.xlarge for spot training job usage": 0,
        "ml.g5.xlarge for training job usage": 2,
    }
    printed = smspec("quotas", cwd=repository)
    assert re.search(r"(?m)^111122223333 +us-west-2 +ml.g5.xlarge for training job usage +2 +2", printed.out)


COMMANDS = {
    "prices": ("GetProducts", "pricing:GetProducts"),
    "quotas": ("ListServiceQuotas", "servicequotas:ListServiceQuotas"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_denial_names_the_action(command, asked, repository):
    aws = Aws()
    aws.before = [refusal("AccessDeniedException")]
    done = asked(aws, command, "--update")
    assert (done.status, done.out) == (3, "")
    assert done.err.splitlines()[-1].endswith(f"allow `{COMMANDS[command][1]}` in an IAM policy")
    assert not [*repository.glob("*.json")]


FAILURES = {
    "a page that fails": lambda: [refusal("ValidationException", "Bad token.")],
    "throttled for ever": lambda: [refusal("ThrottlingException")] * 5,
    "a login page": lambda: [response(b"<!DOCTYPE html><br>", headers={"Content-Type": "text/html"})],
    "a list": lambda: [reply([])],
    "another type": lambda: [reply({"PriceList": "x", "Quotas": 5})],
    "nothing": lambda: [reply({})],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "command"), [*((case, "quotas") for case in FAILURES), ("a page that fails", "prices")]
)
def test_failed_update_leaves_the_file(case, command, asked, repository):
    path = repository / f"smspec.{command}.json"
    whole = {"prices": '{"version": 1, "regions": {}}', "quotas": '{"version": 1, "accounts": {}}'}[command]
    path.write_text(whole)
    aws = Aws(**{COMMANDS[command][0]: [[], []], "ListAWSDefaultServiceQuotas": [[]]})
    aws.before = FAILURES[case]()
    done = asked(aws, command, "--update")
    assert (done.status, done.out) == (3, ""), done.err
    assert done.err.startswith("smspec: ") and len(done.err.splitlines()) == 1 and len(done.err) < 400
    assert path.read_text() == whole
    assert [entry.name for entry in repository.iterdir() if entry.is_file()] == [path.name]


def test_repeated_token_ends(asked):
    def aws(_):
        return [reply({"PriceList": [product("ml.m5.large")], "NextToken": "again"})]

    done = asked(aws, "prices", "--update")
    assert (done.status, done.err) == (3, "smspec: AWS lists the prices in us-west-2 without an end\n")


def test_throttling_is_retried(asked, repository):
    aws = Aws(GetProducts=[[product("ml.m5.large")]])
    aws.before = [refusal("ThrottlingException")]
    assert asked(aws, "prices", "--update").status == 0
    assert [operation for operation, _ in aws.calls] == ["GetProducts"] * 2


@pytest.mark.parametrize("command", COMMANDS)
def test_no_credentials_exit_3(command, repository, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    done = smspec(command, "--update", cwd=repository)
    assert (done.status, done.out) == (3, "")
    assert "no AWS credentials" in done.err and len(done.err.splitlines()) == 1


def test_table_lists_own_prices_first(repository):
    (repository / "smspec.toml").write_text('[prices]\n"ml.g5.xlarge" = 1.5\n')
    (repository / "smspec.prices.json").write_text(
        '{"version": 1, "regions": {"us-west-2": {"as_of": "2026-11-23", "currency": "USD", '
        '"training": {"ml.g5.xlarge": "1.408", "ml.m5.large": "0.115"}}}}'
    )
    assert smspec("prices", cwd=repository).out == (
        "REGION     INSTANCE TYPE  PER HOUR   SOURCE\n"
        "any        ml.g5.xlarge   USD 1.5    smspec.toml\n"
        "us-west-2  ml.m5.large    USD 0.115  AWS, 2026-11-23\n"
    )


@pytest.mark.parametrize(
    "words",
    [("prices", "--profile", "p"), ("quotas", "--update", "--region", "../x"), ("quotas", "--region", "Oregon")],
)
def test_bad_arguments_exit_2(words, repository):
    assert smspec(*words, cwd=repository).status == 2


def test_nothing_known_names_the_command(repository):
    done = smspec("quotas", cwd=repository)
    assert (done.status, done.out, done.err) == (0, "", "no quotas known; run `smspec quotas --update`\n")
