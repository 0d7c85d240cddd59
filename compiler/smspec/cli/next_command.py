"""The arguments of a command that a message suggests next: those that select the same job as the present command."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smspec.submission.training_job import TrainingJob


def job_words(job: TrainingJob, profile: str | None) -> str:
    """Return how a command line names a job: with the profile, and with its region unless it is set.

    The region of a job may be that of its spec.
    """
    return name_words(job.name, job.region, profile)


def name_words(name: str, region: str, profile: str | None) -> str:
    """Return how a command line names a job of a region, as `job_words` does."""
    usual = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return _words([name, *_given("--profile", profile), *_given("--region", region if region != usual else "")])


def spec_words(args: argparse.Namespace) -> str:
    """Return how a command line names the variant of a spec that ``args`` select."""
    settings = [word for each in args.set for word in ("--set", each)]
    return _words([args.spec, *_given("--overlay", args.overlay), *settings, *_given("--root", args.root)])


def submission_words(args: argparse.Namespace) -> str:
    """Return the arguments of `smspec submit` for the job of ``args``, whose run id is not ``auto``."""
    given = (("--run-id", args.run_id), ("--profile", args.profile), ("--region", args.region))
    return " ".join([spec_words(args), *(_words(_given(*each)) for each in given if each[1])])


def _given(option: str, value: str | None) -> list[str]:
    return [option, value] if value else []


def _words(words: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, words))
