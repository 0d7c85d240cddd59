"""`smspec diff --fail-on` says which job fails, of which kind or limit, and where."""

import json

import pytest

from support.git_repository import commit, repository
from support.review.diff_outcomes import jobs, rewrite
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home)
    commit(home)
    return home


def diff(home, gates, *words):
    return smspec("diff", "--base", "HEAD", "--fail-on", gates, *words, cwd=home)


def test_limit_and_rise_are_one_line_on_stderr(home):
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    assert diff(home, "cost>20%").err == (
        "smspec: small: fails `cost>20%`: +100 % cost ceiling (24 → 48 instance hours), above the limit: "
        "+100 % > 20 % (job.yaml:8)\n"
    )


def test_every_failing_kind_is_one_line(home):
    rewrite(home / "job.yaml", "role/SageMakerTraining", "role/Admin")
    rewrite(home / "job.yaml", "count: 1, volume: 10GB", "count: 2, volume: 20GB")
    done = diff(home, "security,hosts,image,cost>50%", "-q")
    assert done.err == (
        "smspec: small: fails `security`: `role`: role, `arn:aws:iam::111122223333:role/SageMakerTraining` → "
        "`arn:aws:iam::111122223333:role/Admin` (job.yaml:3)\n"
        "smspec: small: fails `hosts`: `hosts.count`: count, `1` → `2`, and 1 more (job.yaml:8)\n"
        "smspec: small: fails `cost>50%`: +100 % cost ceiling (24 → 48 instance hours), above the limit: "
        "+100 % > 50 % (job.yaml:8)\n"
    )


def test_incomparable_ceiling_fails_with_its_reason(home):
    rewrite(home / "job.yaml", "ml.m5.large", "ml.m5.xlarge")
    assert diff(home, "cost>900%").err == (
        "smspec: small: fails `cost>900%`: cost ceiling (24 → 24 instance hours, on other instance types), which "
        "cannot be compared with the limit of 900 % (job.yaml:8)\n"
    )


@pytest.mark.parametrize("paths", [(".",), ("jobs",), ("lax", "jobs"), ("jobs", "lax"), ("jobs/ctr/job.yaml",)])
@pytest.mark.parametrize("is_moved", [False, True])
def test_each_job_has_the_prices_of_its_directory(tmp_path, paths, is_moved):
    home = repository(tmp_path / "home")
    write_job(home / "jobs/ctr")
    write_job(home / "lax/other", BUILT.replace("name: small", "name: other"))
    for directory, price in (("", 0.115), ("lax", 0.12), ("jobs", 50)):
        (home / directory / "smspec.toml").write_text(f'[prices]\n"ml.m5.large" = 0.115\n"ml.m5.4xlarge" = {price}\n')
    commit(home)
    rewrite(home / "jobs/ctr/job.yaml", "ml.m5.large", "ml.m5.4xlarge")
    if is_moved:
        if "." not in paths:
            paths = ("lax", "jobs")
        (home / "jobs/ctr").rename(home / "lax/ctr")
    done = diff(home, "cost>20%", *paths)
    assert (done.status, "$2.76 → $1,200.00" in done.out) == (1, True)


def test_new_job_fails_at_its_file(home):
    write_job(home / "new", BUILT.replace("name: small", "name: new"))
    done = diff(home, "security,cost>20%")
    lines = done.err.splitlines()
    assert [line.partition(": fails ")[0] for line in lines] == ["smspec: new", "smspec: new"]
    assert all("(new/job.yaml" in line for line in lines)


def test_highest_rise_of_overlays_is_shown_with_its_overlay(home):
    more = "overlays:\n  big: {{hosts: {{count: {}}}}}\n  huge: {{hosts: {{count: {}}}}}\n"
    (home / "job.yaml").write_text(BUILT + more.format(2, 2))
    commit(home)
    (home / "job.yaml").write_text(BUILT + more.format(3, 8))
    assert diff(home, "cost>20%").err == (
        "smspec: small: fails `cost>20%`: +300 % cost ceiling (48 → 192 instance hours), above the limit: "
        "+300 % > 20 % (only with the overlay `huge`), and 1 more (job.yaml:13)\n"
    )


@pytest.mark.parametrize("format", ["text", "markdown", "json", "github"])
def test_passing_gate_is_not_mentioned(home, format):
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    done = diff(home, "security,cost>100%", "--format", format)
    assert (done.status, done.err) == (0, "")
    assert "cost>" not in done.out and "Fails" not in done.out


def test_json_has_gate_limit_and_place(home):
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    (job,) = jobs(diff(home, "security,cost>20.5%", "--format", "json"))
    (failed,) = job["failed"]
    assert failed.pop("message").startswith("+100 % cost ceiling")
    assert failed == {
        "gate": "cost>20.5%",
        "kind": "cost",
        "limit": 20.5,
        "path": "hosts",
        "file": "job.yaml",
        "line": 8,
        "percent": 100.0,
        "as_is": True,
        "overlays": [],
        "more": 0,
    }


def test_json_of_jobs_without_a_gate_fails_nothing(home):
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    assert [job["failed"] for job in jobs(done)] == [[]]


def test_comment_begins_with_what_fails(home):
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    assert diff(home, "hosts,cost>20%", "--format", "markdown").out.startswith(
        "### Fails `hosts`, `cost>20%`: 1 job\n\n"
        "| job | `--fail-on` | what | where |\n"
        "|---|---|---|---|\n"
        "| `small` | `hosts` | `hosts.count`: count, `1` → `2` | `job.yaml:8` |\n"
        "| `small` | `cost>20%` | +100 % cost ceiling (24 → 48 instance hours), above the limit: +100 % > 20 % | "
        "`job.yaml:8` |\n\n### `small` in `job.yaml`\n"
    )


def test_comment_about_many_jobs_stays_short(home):
    for number in range(120):
        write_job(home / f"j{number}", BUILT.replace("name: small", f"name: j{number}"))
    done = diff(home, "security,hosts,cost>1%", "--format", "markdown")
    assert "### Fails `security`, `cost>1%`: 120 jobs" in done.out
    assert "… and 210 more: 91 `security`, 119 `cost>1%`; `--format json` has them all." in done.out
    assert len(done.out.encode()) < 65_000
    assert len(done.err.splitlines()) == 240


def test_annotations_are_at_the_lines_of_the_working_tree(home):
    rewrite(home / "job.yaml", "count: 1, volume: 10GB", "count: 2, volume: 20GB")
    assert diff(home, "hosts,cost>20%", "--format", "github").out == (
        "::error file=job.yaml,line=8,title=smspec diff --fail-on hosts::small: `hosts.count`: count, `1` → `2`, "
        "and 1 more\n"
        "::error file=job.yaml,line=8,title=smspec diff --fail-on cost>20%25::small: +100 %25 cost ceiling "
        "(24 → 48 instance hours), above the limit: +100 %25 > 20 %25\n"
    )


def test_annotation_of_a_removed_value_has_no_line(home):
    rewrite(home / "job.yaml", "hyperparameters: {epochs: 2}\n", "")
    assert diff(home, "hyperparameters", "--format", "github").out.startswith(
        "::error file=job.yaml,title=smspec diff --fail-on hyperparameters::"
    )
    (home / "job.yaml").unlink()
    assert diff(home, "job", "--format", "github").out.startswith("::error title=smspec diff --fail-on job::")


def test_job_that_cannot_be_compared_is_an_annotation(home):
    rewrite(home / "job.yaml", "count: 1", "count: -1")
    done = diff(home, "security", "--format", "github")
    assert done.status == 2
    assert done.out.startswith("::error file=job.yaml,line=8,title=smspec diff SM207::small is not compared: ")


HOSTILE = "x|`y`\u202e<b>@team\x9b%0A::error::"


@pytest.mark.parametrize("format", ["text", "markdown", "github", "json"])
def test_text_of_a_spec_is_only_text(home, format):
    """What a stranger writes neither begins a command to the runner nor leaves its table cell or code span."""
    (home / "job.yaml").write_text(BUILT + f"environment: {{A: {json.dumps(HOSTILE)}}}\n")
    done = diff(home, "environment", "--format", format)
    assert done.status == 1
    for output in (done.out, done.err):
        assert "\u202e" not in output and "\x9b" not in output
        assert not [line for line in output.splitlines()[1:] if line.startswith("::error::")]
    if format == "github":
        assert done.out.count("\n") == 1 and "%250A" in done.out
    if format == "markdown":
        row = done.out.splitlines()[4]
        assert "<code>&#124;</code>" in row and row.count(" | ") == 3


def test_new_jobs_do_not_hide_what_changes_in_another(home):
    """A flood of jobs, each with a role of its own, ranks below the one role that an existing job gets."""
    rewrite(home / "job.yaml", "SageMakerTraining", "Admin")
    for number in range(120):
        name, role = f"a{number:03}", f"Role{number}"
        write_job(home / name, BUILT.replace("name: small", f"name: {name}").replace("SageMakerTraining", role))
    done = diff(home, "cost>1%,security", "--format", "markdown")
    table, comment = done.out.split("### Jobs:", 1)
    assert "| `small` | `security` |" in table and "role/Admin" in table and "`cost>1%` |" in table
    assert comment.index("<code>small</code>") < comment.index("<code>a000</code>")
    assert done.err.splitlines()[0].startswith("smspec: small: fails `security`")
    assert "more groups of changes, " in comment and " with `security`" in comment
    assert diff(home, "security").out.index("role/Admin") < diff(home, "security").out.index("role/Role")
    annotations = [line for line in diff(home, "security", "--format", "github").out.splitlines() if "::error" in line]
    assert "small" in annotations[0]


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 400\n"


STORED = {
    "lfs": POINTER.encode(),
    "lfs after blanks": b"\n " + POINTER.encode(),
    "lfs of an older version": POINTER.replace("git-lfs", "hawser").encode(),
    "git-crypt": b"\0GITCRYPT\0" + bytes(range(256)),
    "openssl": b"U2FsdGVkX1+aGVsbG8=\n",
    "openssl without base64": b"Salted__\x01\x02: \xff\xfe",
    "lfs after blanks of Unicode": "\u00a0\u3000\n\u0085".encode() + POINTER.encode(),
    "lfs with an extension": f"ext-0-x sha256:{'b' * 64}\n{POINTER}".encode(),
    "age": b"age-encryption.org/v1\n-> X25519 abc\nabc\n--- abc\n\x12\x33",
    "pgp": b"-----BEGIN PGP MESSAGE-----\nVersion: GnuPG v2\n\nhQEMA\n",
    "ansible": b"# a comment\n$ANSIBLE_VAULT;1.1;AES256\n6638643965\n",
}


@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
@pytest.mark.parametrize("name", ["job.yaml", "jobs/new/job.yaml"])
def test_file_that_a_filter_may_make_a_spec_fails(home, name, text):
    """The checkout that submits may run the filter, and has a spec of any content there."""
    (home / ".gitattributes").write_text("job.yaml filter=lfs\n")
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_bytes(text)
    done = diff(home, "security")
    assert done.status == 1
    assert f"smspec: {name}: fails `security`: the filter `lfs` of git replaces this file" in done.err


def test_former_spec_with_a_filter_fails_with_any_text(home):
    (home / ".gitattributes").write_text("job.yaml filter=lfs\n")
    (home / "job.yaml").write_text("text\n")
    assert "fails `security`: the filter `lfs`" in diff(home, "security").err


@pytest.mark.parametrize("attributes", ["", "*.bin filter=lfs\n", "*.yaml -filter\n"])
def test_file_without_a_filter_is_only_a_text(home, attributes):
    (home / ".gitattributes").write_text(attributes)
    (home / "data.yaml").write_text(POINTER)
    assert diff(home, "security").status == 0


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "# x\n\n--- # y\n- a\n",
        "\ufeff%YAML 1.2\n---\n{a: 1}\n",
        '  "a b": 1\r\n',
        "",
        "#\n" * 600,
        "ä" * 511 + ":\n",
    ],
    ids=["mapping", "list", "flow", "quoted", "empty", "comments", "cut"],
)
def test_yaml_with_a_filter_is_only_a_file(home, text):
    (home / ".gitattributes").write_text("*.yaml filter=lfs\n")
    (home / "data.yaml").write_text(text)
    assert diff(home, "security").status == 0


LINKS = {
    "a link to it": {"new.yaml": "data.bin"},
    "a chain": {"new.yaml": "jobs/a", "jobs/a": "../data.bin"},
    "a former spec": {"job.yaml": "data.bin"},
}


@pytest.mark.parametrize("links", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("is_old", [True, False], ids=["with a new file", "that is new"])
def test_link_to_a_file_that_a_filter_replaces_fails(home, links, is_old):
    """git knows only the text of a link, and its end needs no name of a spec."""
    (home / ".gitattributes").write_text("*.bin filter=lfs\n")
    for name, target in links.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).unlink(missing_ok=True)
        (home / name).symlink_to(target)
        if is_old and name != "job.yaml":
            commit(home)
    (home / "data.bin").write_text(POINTER)
    done = diff(home, "security")
    assert f"smspec: {next(iter(links))}: fails `security`: " in done.err
    assert "the filter `lfs` of git replaces this file" in done.out


@pytest.mark.parametrize("target", ["/etc/hosts", "../other/data.bin", ".git/config", "absent", "new.yaml"])
def test_link_out_of_the_files_of_git_passes(home, target):
    (home / ".gitattributes").write_text("* filter=lfs\n")
    (home.parent / "other").mkdir(exist_ok=True)
    (home.parent / "other/data.bin").write_text(POINTER)
    (home / "new.yaml").symlink_to(target)
    assert diff(home, "security").status == 0


@pytest.mark.parametrize("name", ["new.yaml", "job.yaml"])
def test_link_whose_text_is_a_spec_fails(home, name):
    """Where git makes no links, as with `core.symlinks=false`, it is a file with that text."""
    (home / name).unlink(missing_ok=True)
    (home / name).symlink_to(BUILT + "# /../../../../../../../../../../.git/x\n")
    assert "a checkout without links has the text of this one as a file" in diff(home, "security").out


def test_spec_with_a_filter_is_compared_as_it_is_here(home):
    (home / ".gitattributes").write_text("*.yaml filter=lfs\n*.bin filter=lfs\n")
    (home / "data.bin").write_text(POINTER)
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    done = diff(home, "security,hosts")
    assert "fails `hosts`" in done.err
    assert "filter" not in done.err


@pytest.mark.parametrize("is_tracked", [True, False])
@pytest.mark.parametrize("text", ["index-url = https://other.example.org\n", None])
def test_changed_secret_of_a_build_fails_if_git_has_it(home, text, is_tracked):
    """No command opens it, so it changed without a word; a file that only this machine has is not reviewed."""
    key = "image: {python_packages: [six==1.16.0], secrets: {PIP_CONFIG_FILE: {file: pip.conf}}}\n"
    (home / "job.yaml").write_text(BUILT + f"overlays: {{dev: {{{key.strip()}}}}}\n")
    (home / "pip.conf").write_text("index-url = https://example.org\n")
    (home / ".git/info").mkdir(exist_ok=True)
    (home / ".git/info/exclude").write_text("" if is_tracked else "pip.conf\n")
    commit(home)
    (home / ".git/info/exclude").write_text("")
    if text is None:
        (home / "pip.conf").unlink()
    else:
        (home / "pip.conf").write_text(text)
    done = diff(home, "security")
    assert done.status == is_tracked
    assert ("builds read this file as the secret `PIP_CONFIG_FILE`" in done.err) == is_tracked


OUTSIDE = {
    "absolute": "/etc",
    "above": "../.aws",
    "of git": "x/../.git",
}


@pytest.mark.parametrize("local", OUTSIDE.values(), ids=OUTSIDE)
@pytest.mark.parametrize("place", ["", "overlays: {dev: {%s}}\n"], ids=["job", "overlay"])
def test_local_data_out_of_the_repository_fail(home, local, place):
    """`submit --upload-data` uploads them, so a pull request could send the files of who submits to its own job."""
    channel = f"channels: {{extra: {{s3: 's3://example-data/x/', local: {local}}}}}"
    (home / "job.yaml").write_text(BUILT + (place % channel if place else f"{channel}\n"))
    done = diff(home, "security")
    assert done.status == 1
    assert "local data outside of the repository: `submit --upload-data` uploads them" in done.out
    assert f"(none) → {local}" in done.out
    commit(home)
    rewrite(home / "job.yaml", "count: 1", "count: 2")
    assert diff(home, "security").status == 0


LOCAL = BUILT + "channels: {extra: {s3: 's3://example-data/x/', local: a}}\n"


def test_other_local_data_of_the_repository_are_data(home):
    """An upload takes what git ignores, too; training does not start with other data than before."""
    (home / "job.yaml").write_text(LOCAL + "checkpoints: s3://example-models/c/\n")
    commit(home)
    rewrite(home / "job.yaml", "local: a", "local: src/../a/")
    assert diff(home, "data").status == 0
    rewrite(home / "job.yaml", "local: src/../a/", "local: secrets")
    done = diff(home, "security")
    assert (done.status, "cosmetic" in done.out, "resume" in done.out) == (0, False, False)
    assert "smspec: small: fails `data`: `channels.extra.local`: local data" in diff(home, "data").err


LINKS = {
    "the data": ("a", "secrets", "secrets"),
    "a directory above": ("up", "secrets", "secrets"),
    "a file": ("a/x.csv", "../secrets/token", "../secrets/token"),
    "a file of the data": ("a/x.csv", "y.csv", None),
    "other data": ("b/x.csv", "../secrets/token", None),
}


@pytest.mark.parametrize(("link", "target", "shown"), LINKS.values(), ids=LINKS)
def test_link_that_leads_local_data_elsewhere_fails(home, link, target, shown):
    """What git ignores is not in the checkout of a review, and an upload takes it."""
    (home / "job.yaml").write_text(LOCAL.replace("local: a", "local: up/a") if link == "up" else LOCAL)
    commit(home)
    (home / link).parent.mkdir(exist_ok=True)
    (home / link).symlink_to(target)
    done = diff(home, "security")
    assert done.status == (shown is not None)
    expected = f"smspec: {link}: fails `security`: leads local data of the channel `extra` to `{shown}`"
    assert shown is None or expected in done.err
    commit(home)
    assert diff(home, "security").status == 0
