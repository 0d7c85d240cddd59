"""The step that compares the specs with the revision that a pull request goes to; the outcome is Markdown."""

from __future__ import annotations

import sys

from workflow import PullRequest, git, log, paths, pull_request, put_out, said, smspec, summarize, tell, temporary


def main() -> None:
    request = pull_request()
    wanted = said("BASE") or (base_of(request) if request else "")
    if not wanted:
        log("nothing to compare with: this is no pull request, and no base was given")
        put_out("status", 0)
        return
    base = commit_of(wanted)
    if base is None:
        sys.exit(f"smspec: there is no revision `{wanted}`, here or at origin")

    gates = said("FAIL_ON")
    words = [*(["--fail-on", gates] if gates else []), "--", *paths()]
    outcome = smspec("diff", "--base", base, "--format", "markdown", *words)
    log(outcome.out)
    log(outcome.err)
    markdown = temporary("diff.md")
    markdown.write_text(outcome.out, encoding="utf-8")
    put_out("markdown", markdown)
    put_out("changed", "true" if outcome.out else "false")
    summarize(f"{outcome.out}\n" if outcome.out else f"No job differs from `{base[:12]}`.\n")
    put_out("status", verdict(outcome.status, gates))


def verdict(status: int, gates: str) -> int:
    """Return what the exit status of `smspec diff` means here: differences alone are no fault."""
    if status == 1:
        return 1 if gates else 0
    if status == 2 and not gates:
        tell("warning", "not every spec could be compared; the log says why")
        return 0
    return status


def base_of(request: PullRequest) -> str:
    """Return what the pull request is merged into: of a merge that was checked out, the side that is not its head.

    The event names the base branch as it was when the event happened, and the merge may have been made later.
    """
    head = git("cat-file", "-p", "HEAD").out.partition("\n\n")[0]
    parents = [line.removeprefix("parent ") for line in head.splitlines() if line.startswith("parent ")]
    if len(parents) == 2 and parents[1] == request.head:
        return parents[0]
    return request.base


def commit_of(revision: str) -> str | None:
    """Return the commit that a revision names; a checkout of one commit has to fetch it."""
    known = resolved(revision)
    if known:
        return known
    # Only where the history is cut already: a whole one must stay whole.
    is_shallow = git("rev-parse", "--is-shallow-repository").out.strip() == "true"
    fetched = git("fetch", "--quiet", "--no-tags", *(["--depth=1"] if is_shallow else []), "origin", "--", revision)
    log(fetched.err)
    return resolved("FETCH_HEAD") if fetched.status == 0 else None


def resolved(revision: str) -> str | None:
    """Return the name of a commit that is here."""
    found = git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
    return found.out.strip() if found.status == 0 else None


if __name__ == "__main__":
    main()
