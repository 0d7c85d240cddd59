"""The step that compares the specs with the revision that a pull request goes to; the outcome is Markdown."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TypedDict

from workflow import (
    Ended,
    PullRequest,
    lines,
    log,
    paths,
    pull_request,
    put_out,
    repository,
    said,
    smspec,
    summarize,
    tell,
    temporary,
)

from smspec.source.git_command import run_git
from smspec.workspace.git import AmbiguousRevision, GitFailed, Repository

MOST_NAMED = 10
INCOMPLETE = 2
NOTHING_COMPARED = "The jobs could not be compared with the base. The log of the step has the reason.\n"


class Job(TypedDict):
    """What is looked at of a job in the JSON of `smspec diff`."""

    job: str
    file: str
    changes: list[object]
    not_compared: list[object]


def main() -> None:
    request = pull_request()
    if not said("BASE") and request is None:
        log("nothing to compare with: this is no pull request, and no base was given")
        put_out("status", 0)
        return
    checked = repository()
    wanted = said("BASE") or (base_of(checked, request) if request else "")
    if said("BASE") and request is not None:
        check_owner(checked, wanted, request)
    base = commit_of(checked, wanted)
    if base is None:
        sys.exit(f"smspec: there is no revision `{wanted}`, here or at origin")

    gates = said("FAIL_ON")
    words = [
        "diff",
        "--base",
        base,
        *(["--fail-on", gates] if gates else []),
        *(f"--set={one}" for one in lines("SET")),
    ]
    outcome = smspec(*words, "--format", "markdown", "--", *paths())
    log(outcome.out)
    log(outcome.err)
    if outcome.status == INCOMPLETE or (outcome.status == 1 and gates):
        # Commands to the runner, in which all that a spec says is escaped.
        print(smspec(*words, "--format", "github", "--", *paths()).out, end="", flush=True)
    jobs = jobs_of(smspec(*words, "--format", "json", "--", *paths())) if outcome.status == INCOMPLETE else []
    missing = [job["job"] or job["file"] for job in jobs if job["not_compared"]]
    text = outcome.out or ("" if outcome.status == 0 else NOTHING_COMPARED)
    markdown = temporary("diff.md")
    markdown.write_text(text, encoding="utf-8")
    put_out("markdown", markdown)
    put_out("not-compared", len(missing))
    if outcome.status in (0, 1):
        put_out("changed", "true" if outcome.out else "false")
    elif any(job["changes"] for job in jobs):
        put_out("changed", "true")
    summarize(text or f"No job differs from `{base[:12]}`.\n")
    put_out("status", verdict(outcome.status, gates, missing))


def jobs_of(outcome: Ended) -> list[Job]:
    """Return what `smspec diff --format json` found; nothing where it could not begin."""
    found: list[Job] = json.loads(outcome.out) if outcome.out else []
    return found


def verdict(status: int, gates: str, missing: list[str]) -> int:
    """Return what the exit status of `smspec diff` means here: a difference alone is no fault, an unknown one is."""
    if status == 1:
        return 1 if gates else 0
    if status != INCOMPLETE or not missing:
        return status
    is_tolerated = said("NOT_COMPARED") == "warn" and not gates
    more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
    number = "1 job was" if len(missing) == 1 else f"{len(missing)} jobs were"
    tell("warning" if is_tolerated else "error", f"{number} not compared: {', '.join(missing[:MOST_NAMED])}{more}")
    return 0 if is_tolerated else status


def base_of(checked: Repository, request: PullRequest) -> str:
    """Return what the pull request is merged into: of a merge that was checked out, the side that is not its head.

    The event names the base branch as it was when the event happened, and the merge may have been made later.
    """
    parents = checked.parents("HEAD")
    if len(parents) == 2 and parents[1] == request.head:
        return parents[0]
    return request.base


def check_owner(checked: Repository, revision: str, request: PullRequest) -> None:
    """Exit where a stranger may have chosen what a name means: a checkout of a fork has the branches of the fork."""
    here = re.escape(os.environ["GITHUB_REPOSITORY"])
    is_ours = re.search(rf"[/:]{here}(?:\.git)?/?\Z", checked.setting("remote.origin.url"), re.IGNORECASE)
    if request.is_from_fork and not is_ours and not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", revision):
        sys.exit(f"smspec: `{revision}` may be a branch of the fork, which is checked out: leave the input base empty")


def commit_of(checked: Repository, revision: str) -> str | None:
    """Return the commit that a revision names; a checkout of one commit has to fetch it."""
    try:
        return checked.commit(revision)
    except AmbiguousRevision as fault:
        sys.exit(f"smspec: {fault}")
    except GitFailed:
        pass
    # Only where the history is cut already: a whole one must stay whole.
    depth = ["--depth=1"] if checked.is_shallow() else []
    words = ["fetch", "--quiet", "--no-tags", *depth, "--no-recurse-submodules", "origin", "--", revision]
    fetched = run_git(words, checked.top, may_fetch=True)
    log(fetched.stderr.decode("utf-8", "replace"))
    return checked.commit("FETCH_HEAD") if fetched.returncode == 0 else None


if __name__ == "__main__":
    main()
