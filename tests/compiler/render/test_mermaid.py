"""The graph of a repository as Mermaid: writers, readers, and escaped text."""

import json
import re
import shutil
import subprocess

import pytest

from smspec.render.data_flow import MOST_EDGES
from support.smspec_command import smspec, smspec_process
from support.spec.repository_jobs import job

DATA = "channels: {{{channel}: {s3}}}\n"


def reads(s3, channel="train"):
    return DATA.format(channel=channel, s3=s3)


def graph(directory, *words, **specs):
    """Write specs, and return the lines of their graph."""
    for name, text in specs.items():
        path = directory / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # So many are shared out over forks, and pytest has threads.
    run = smspec_process if len(specs) > 50 else smspec
    done = run("validate", *(words or ["."]), "--format", "mermaid", cwd=directory)
    first, *lines = done.out.splitlines()
    assert first == "flowchart LR"
    return [line.strip() for line in lines]


def reading(lines):
    """Return (prefix, label, job) of every edge that leads to a job."""
    text = "\n".join(lines)
    labels = dict(re.findall(r'^(\w+)\[\(?"(.*?)"\)?\]$', text, re.MULTILINE))
    edges = re.findall(r'^(s3_\w+) -->\|"(.*?)"\| (\w+)$', text, re.MULTILINE)
    return [(labels[prefix], label, labels[reader]) for prefix, label, reader in edges]


def test_whole_graph_is_drawn(tmp_path):
    lines = graph(
        tmp_path,
        teacher=job("teacher", "checkpoints: s3://ckpt/teacher/\n"),
        student=job("student", reads("s3://models/teacher/", "labels")),
        alone=job("alone", reads("s3://data/raw/")),
    )
    assert lines == [
        'job1["alone"]',
        'job2["student"]',
        'job3["teacher"]',
        's3_1[("s3://ckpt/teacher/")]',
        's3_2[("s3://models/alone/")]',
        's3_3[("s3://models/student/")]',
        's3_4[("s3://models/teacher/")]',
        'job1 -->|"output"| s3_2',
        'job2 -->|"output"| s3_3',
        'job3 -->|"output"| s3_4',
        'job3 -->|"checkpoints"| s3_1',
        's3_4 -->|"labels"| job2',
    ]


@pytest.mark.parametrize(
    "data",
    [
        "s3://models/team/",
        "s3://models/team",
        "s3://models/te",
        "s3://models/",
        "s3://models/team/a/",
        "s3://models/team/a-0123456789/output/model.tar.gz",
        "s3://models/team/a-",
    ],
)
def test_reader_of_an_output_is_linked(data, tmp_path):
    a, b = job("a", "output: s3://models/team/\n"), job("b", "output: s3://models/team/\n")
    reader = job("reader", "output: s3://other/\n" + reads(data))
    assert reading(graph(tmp_path, a=a, b=b, reader=reader)) == [("s3://models/team/", "train", "reader")]


@pytest.mark.parametrize("data", ["s3://models/team/c/", "s3://models/team/a-b/", "s3://models/tea/", "s3://models2/"])
def test_unwritten_prefix_has_no_reader(data, tmp_path):
    """A prefix shared by several jobs also contains parts that none of them writes."""
    a, b = job("a", "output: s3://models/team/\n"), job("b", "output: s3://models/team/\n")
    assert reading(graph(tmp_path, a=a, b=b, reader=job("reader", "output: s3://other/\n" + reads(data)))) == []


def test_whole_prefix_of_a_single_job_is_its_output(tmp_path):
    lines = graph(tmp_path, a=job("a"), reader=job("reader", reads("s3://models/a/best/")))
    assert reading(lines) == [("s3://models/a/", "train", "reader")]


def test_job_reading_its_output_is_not_drawn(tmp_path):
    assert reading(graph(tmp_path, a=job("a", reads("s3://models/a/")), b=job("b"))) == []


def test_overlay_readers_name_their_overlays(tmp_path):
    overlays = "overlays:\n  dev: {channels: {train: s3://models/a/}}\n  test: {channels: {train: s3://models/a/}}\n"
    lines = graph(tmp_path, a=job("a"), b=job("b", overlays))
    assert reading(lines) == [("s3://models/a/", "train (dev, test)", "b")]
    lines = graph(tmp_path, "b.yaml", "-O", "dev")
    assert not any("dev" in line for line in lines)


def test_jobs_of_one_name_are_distinguished_by_file(tmp_path):
    lines = graph(tmp_path, a=job("ctr", "output: s3://m/a/\n"), b=job("ctr", "output: s3://m/b/\n"))
    assert lines[:2] == ['job1["ctr (a.yaml)"]', 'job2["ctr (b.yaml)"]']


def test_text_of_a_spec_is_not_mermaid_syntax(tmp_path):
    output = "output: 's3://models/a\"]-->x<b>&`#quot;'\n"
    lines = graph(tmp_path, a=job("a", output))
    assert lines[1] == 's3_1[("s3://models/a#34;#93;--#62;x#60;b#62;#38;#96;#35;quot#59;/")]'


def test_large_graph_keeps_the_linked_jobs(tmp_path):
    specs = {f"j{number:03}": job(f"j{number:03}") for number in range(MOST_EDGES)}
    specs["reader"] = job("reader", reads("s3://models/j007/"))
    lines = graph(tmp_path, **specs)
    assert lines == [
        f"%% not shown: {MOST_EDGES - 1} jobs without data flow to or from other jobs",
        'job1["j007"]',
        'job2["reader"]',
        's3_1[("s3://models/j007/")]',
        'job1 -->|"output"| s3_1',
        's3_1 -->|"train"| job2',
    ]


def test_findings_go_to_stderr_and_set_the_status(tmp_path):
    ckpt = "checkpoints: s3://ckpt/x/\n"
    (tmp_path / "a.yaml").write_text(job("a", ckpt))
    (tmp_path / "b.yaml").write_text(job("b", ckpt))
    done = smspec("validate", ".", "--format", "mermaid", cwd=tmp_path)
    assert (done.status, done.out.startswith("flowchart LR\n"), "SM7" in done.out) == (1, True, False)
    assert done.err.startswith("error[SM702]: ")
    assert "checked 2 jobs: 1 error\n" in done.err


def test_raw_request_has_no_graph(tmp_path):
    (tmp_path / "request.json").write_text("{}")
    done = smspec("validate", "--api-json", "request.json", "--format", "mermaid", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")


@pytest.mark.skipif(
    not (shutil.which("mmdc") and shutil.which("chromium")), reason="mermaid-cli or chromium is not installed"
)
def test_mermaid_renders_every_text_unchanged(tmp_path):
    directives = r"%%{init: {}}%% $$x^2$$ \n style:#f classDef:#f"
    written = 's3://models/a"]-->x<b>&`#quot;%%end;é{}|' + directives + "/"
    specs = tmp_path / "specs"
    graph(specs, end=job("end", f"output: '{written}'\n"), reader=job("reader", reads(f"'{written}'", "subgraph")))
    (tmp_path / "graph.mmd").write_text(smspec("validate", "specs", "--format", "mermaid", cwd=tmp_path).out)
    browser = {"executablePath": shutil.which("chromium"), "args": ["--no-sandbox"]}
    (tmp_path / "browser.json").write_text(json.dumps(browser))
    command = ["mmdc", "-p", "browser.json", "-i", "graph.mmd", "-o", "graph.svg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "graph.svg").read_text()
    for label in ("end", "reader", "subgraph", written.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")):
        assert f">{label}<" in drawn
