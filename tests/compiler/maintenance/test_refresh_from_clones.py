"""``python -m maintenance.facts``: what clones of the repositories of AWS add to the tables."""

import subprocess

from support.fact_tables import IMAGES, Tables

SCIKIT_LEARN = "sagemaker-scikit-learn,1.8-1,,dlc-only,1.8-1,,,,,cpu,4,\n"


def git(directory, *words):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(directory), *names, *words], check=True, capture_output=True)


def clone(directory, files):
    """Make a repository with one commit."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(directory, "init", "--quiet")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "--message", "a", "--date", "2026-05-06T00:00:00Z")


def test_clones_add_tags_dates_and_versions_of_python(tmp_path, monkeypatch):
    tables = Tables(tmp_path)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-05-06T00:00:00Z")
    (tables.directory / "images.csv").write_text(IMAGES + SCIKIT_LEARN)
    page = 'version: "2.5"\naccelerator: gpu\npython: py311\nplatform: sagemaker\neop: "2027-01-02"\ntags: [{}]\n'
    tags = "2.5.1-gpu-py311-cu130, 2.5-gpu-py311-cu130-v1"
    dockerfile = "ARG PYTHON_VERSION=3.{}\n"
    clone(
        tmp_path / "deep-learning-containers",
        {"docs/src/data/pytorch-training/2.5-gpu.yml": page.format(tags), ".github/config/image/none.yml": "{}\n"},
    )
    clone(
        tmp_path / "sagemaker-scikit-learn-container",
        {f"docker/1.{minor}-1/base/Dockerfile.cpu": dockerfile.format(minor) for minor in (8, 9)},
    )
    clone(tmp_path / "sagemaker-xgboost-container", {"docker/1.5-1/base/Dockerfile.cpu": "FROM ubuntu\n"})
    assert tables.refresh("--sources", str(tmp_path)) == 0
    images = {f"{row['repository']}:{row['tag']}": row for row in tables.rows("images")}
    known = images["pytorch-training:2.5.1-gpu-py311"]
    assert (known["full_tag"], known["end_of_patch"]) == ("2.5.1-gpu-py311-cu130", "2027-01-02")
    added = images["pytorch-training:2.5-gpu-py311-cu130-v1"]
    assert (added["sdk_framework"], added["accounts"], added["python"]) == ("dlc-only", known["accounts"], "py311")
    assert images["sagemaker-scikit-learn:1.8-1"]["interpreter"] == "3.8"
    first = tables.texts()
    assert tables.refresh("--check", "--sources", str(tmp_path)) == 0
    assert tables.texts() == first
