"""A large repository of specs: bases of an organization and its teams, shared sources, and overlays."""

from __future__ import annotations

from pathlib import Path

TEAMS = 10
SOURCES = 40
FILES = 12

ORGANISATION = """\
smspec: v1
region: us-west-2
account: "111122223333"
network: {subnets: [subnet-0aa1bb2c, subnet-0dd3ee4f], security_groups: [sg-0bb1cc2d]}
tags: {company: example, cost-center: "0042"}
environment: {NCCL_DEBUG: WARN}
stopping: {max_runtime: 6h}
"""

TEAM = """\
smspec: v1
extends: [../org/base.yaml]
role: arn:aws:iam::111122223333:role/Team%(team)02dTraining
tags: {team: team-%(team)02d}
metrics: [{name: "train:loss", regex: 'loss=([0-9.]+)'}]
vars: {epochs: {default: 5}}
"""

JOB = """\
# One job of team %(team)02d.
smspec: v1
name: team-%(team)02d-job-%(number)04d
description: model %(number)d of the team
extends: [../../../teams/team-%(team)02d.yaml]
image:
  base: python:3.12-slim-bookworm
  system_packages: [libgomp1]
  python_packages: [numpy==2.1.0, pandas==2.2.3]
source: ../../../sources/source-%(source)02d/
entry_point: train.py
channels:
  train:
    s3: s3://example-data/team-%(team)02d/job-%(number)04d/train/
    content_type: text/csv
  validation: s3://example-data/team-%(team)02d/job-%(number)04d/validation/
  %(chained)s
hosts: {instance_type: ml.m5.xlarge, count: 2, volume: 50GB}
hyperparameters:
  epochs: ${{ vars.epochs }}
  learning_rate: 1e-3
  layers: [256, 64]
  seed: %(number)d
spot: {max_wait: 8h}
output: s3://example-models/team-%(team)02d/
checkpoints: s3://example-checkpoints/team-%(team)02d/job-%(number)04d/
"""

OVERLAYS = """\
overlays:
  dev:
    hosts: {instance_type: ml.m5.large, count: 1}
    spot: null
    checkpoints: s3://example-checkpoints/dev/job-%(number)04d/
  prod:
    tags: {stage: prod}
"""


def write_repository(root: Path, jobs: int = 1000) -> None:
    """Write ``jobs`` good specs below ``root``: every fourth has two overlays, every tenth reads another's model."""
    (root / ".git").mkdir(parents=True)
    _write(root / "org/base.yaml", ORGANISATION)
    for team in range(TEAMS):
        _write(root / f"teams/team-{team:02d}.yaml", TEAM % {"team": team})
    for source in range(SOURCES):
        for number in range(FILES):
            _write(root / f"sources/source-{source:02d}/part_{number:02d}.py", f"VALUE = {source * number}\n" * 50)
        _write(root / f"sources/source-{source:02d}/train.py", "print('trained; resumes from /opt/ml/checkpoints')\n")
    for number in range(jobs):
        team = number % TEAMS
        chained = f"teacher: s3://example-checkpoints/team-{(number - 1) % TEAMS:02d}/job-{number - 1:04d}/best/"
        values = {
            "team": team,
            "number": number,
            "source": number % SOURCES,
            "chained": chained if number and number % 10 == 0 else "# no teacher",
        }
        text = JOB % values + (OVERLAYS % values if number % 4 == 0 else "")
        _write(root / f"jobs/team-{team:02d}/job-{number:04d}/job.yaml", text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
