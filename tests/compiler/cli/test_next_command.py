"""A suggested command selects the same job as the one that suggests it."""

import argparse
import shlex

import pytest

from smspec.cli import submit
from smspec.cli.aws_arguments import spec_words, submission_words
from support.servers.job_server import job_server, look
from support.smspec_command import smspec

OPTIONS = ["-O", "prod", "--set", "vars.a=it's $x", "--set", "vars.b=", "--root", "a b"]
SUBMITTED = ["--run-id", "2026-01-31", "--profile", "the team", "--region", "eu-west-1"]


def parsed(words):
    parser = argparse.ArgumentParser()
    submit.add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize("options", [[], OPTIONS, OPTIONS + SUBMITTED])
def test_suggested_submission_has_the_same_arguments(options):
    args = parsed(["jobs/bert nightly.yaml", *options])
    assert parsed(shlex.split(submission_words(args))) == args
    if not set(SUBMITTED) & set(options):
        assert parsed(shlex.split(spec_words(args))) == args


@pytest.fixture
def server(monkeypatch, tmp_path):
    config = tmp_path / "config"
    config.write_text("[profile team]\naws_access_key_id = a\naws_secret_access_key = b\n")
    with job_server() as running:
        for name, value in {**running.environ, "AWS_CONFIG_FILE": str(config)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_REGION")
        monkeypatch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
        running.jobs["nightly"] = [look("InProgress", "Training", start=60, began=60)]
        yield running


def test_profile_and_region_are_repeated(server):
    given = ["nightly", "--profile", "team", "--region", "us-west-2"]
    suggested = "nightly --profile team --region us-west-2"
    assert f"`smspec logs {suggested} --follow` shows its end" in smspec("stop", *given).err
    assert f"`smspec logs {suggested} --follow` waits" in smspec("collect", *given).err
    model = {"ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/nightly/output/model.tar.gz"}}
    server.jobs["nightly"] = [look("Completed", members=model)]
    assert f"`smspec collect {suggested}` downloads it" in smspec("status", *given).out
    assert f"`smspec collect {suggested}` downloads it" in smspec("logs", "--follow", *given).err
