"""Secrets of a job in the output of a local run."""

from __future__ import annotations

import pytest

from support.local.local_jobs import LocalJob, script


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


@pytest.mark.parametrize("writes_the_file", [False, True])
def test_secrets_stay_out_of_summary_and_report(job, writes_the_file):
    """Values of variables and hyperparameters, also encoded, in long lines, and in the script's own failure file."""
    script(
        job,
        f"""
        import json, os, sys, urllib.parse
        secret = os.environ["DB_PASSWORD"] + " and " + os.environ["MY_API_KEY"] + " and " + os.environ["SM_HP_HF_TOKEN"]
        print(secret, json.dumps(secret), "x" * 1990 + secret, file=sys.stderr)
        print("x" * 1990 + secret)
        print(urllib.parse.quote(secret, safe=""))
        if {writes_the_file}:
            open(os.environ["SM_OUTPUT_DIR"] + "/failure", "w").write("cannot log in with " + secret)
        raise RuntimeError("cannot log in with " + secret)
        """,
        "environment: {DB_PASSWORD: 'pa$s/wö rd'}\nhyperparameters: {hf_token: 'tok-en \"quoted\"'}",
    )
    ended = job.run(environment={"MY_API_KEY": "of-the-author's-shell"})
    assert ended.returncode == 1
    reason = job.summary()["failure_reason"]
    assert "cannot log in with ****** and ****** and ******" in reason
    shown = [
        reason,
        ended.stdout,
        *((job.run_directory / name).read_text() for name in ("summary.json", "report.html")),
    ]
    for part in ("pa$s", "wö rd", "tok-en", "quoted", "of-the-author"):
        assert not [text for text in shown if part in text]


def test_secret_arguments_stay_out_of_summary_and_report(job):
    """Also where the script writes its own command into its error."""
    job.write("src/train.py", "import sys\nraise RuntimeError(f'cannot log in: {sys.argv}')\n")
    job.spec(
        "source: src/\nentry_point: {script: train.py, args: [--db-password, hunter2-of-db, -token=tok-of-hub, '5']}\n"
    )
    ended = job.run()
    assert ended.returncode == 1
    assert "'--db-password', '******', '-token=******', '5'" in job.summary()["failure_reason"]
    texts = [(job.run_directory / name).read_text() for name in ("summary.json", "report.html")]
    for part in ("hunter2", "tok-of"):
        assert not [text for text in (ended.stdout, *texts) if part in text]


SECRETS = """
secrets:
  WANDB: arn:aws:secretsmanager:us-west-2:111122223333:secret:wandb-AbCdEf:key
  PIP_INDEX_URL: arn:aws:ssm:us-west-2:111122223333:parameter/index
"""


def test_secrets_of_the_job_are_the_authors_variables(job):
    """They are masked whatever their names are, and those of their fields; nothing is fetched."""
    show = "raise RuntimeError('cannot log in with ' + value + ' at ' + os.environ['PIP_INDEX_URL'])"
    script(job, f"import json, os\nvalue = json.loads(os.environ['WANDB'])['value']\n{show}", SECRETS)
    values = {"WANDB": '{"value": "correct-horse-7"}', "PIP_INDEX_URL": "https://correct-index.example/simple"}
    ended = job.run(environment={**values, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert ended.returncode == 1
    assert "RuntimeError: cannot log in with ****** at ******" in job.summary()["failure_reason"]
    for text in (ended.stdout, *((job.run_directory / name).read_text() for name in ("summary.json", "report.html"))):
        assert "correct-" not in text


def test_missing_secrets_of_the_job_are_named(job):
    script(job, "print('started')", SECRETS)
    ended = job.run(environment={"PIP_INDEX_URL": "x"})
    assert ended.returncode == 3
    assert (
        "smspec: the variable `WANDB` is not set: a local run uses your variables instead of fetching "
        "`secrets` from AWS\n" in ended.stderr
    )
    assert not job.run_directory.exists()
