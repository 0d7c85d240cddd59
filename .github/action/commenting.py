"""The step that keeps one comment on the pull request: written once, then rewritten, whatever is pushed.

Ours is known by a hidden first line and by being a bot's. A comment that cannot be written is a warning: what the
specs are worth does not depend on it.
"""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from workflow import name, pull_request, said, tell

LONGEST = 65_000
"""In bytes of UTF-8: GitHub refuses a comment of more than 65,536 characters."""

ATTEMPTS = 4
UNCHANGED = "No job differs from the base any more.\n"
CUT = "… and more; the page of the run has the rest of it.\n"


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token would go with it, whatever server that leads to."""

    def redirect_request(self, *_: object) -> None:
        return None


OPENER = urllib.request.build_opener(Stay)


class Author(TypedDict):
    type: str


class Comment(TypedDict):
    """What is looked at of a comment. A user who is gone is null."""

    id: int
    body: str | None
    user: Author | None


class Github:
    """The comments of one pull request, asked for with the token of the run."""

    def __init__(self, number: int) -> None:
        self._api = os.environ["GITHUB_API_URL"].rstrip("/")
        self._repository = f"{self._api}/repos/{os.environ['GITHUB_REPOSITORY']}"
        self._comments = f"{self._repository}/issues/{number}/comments"

    def comments(self) -> Iterator[Comment]:
        """Yield all comments, the oldest first."""
        page: str | None = f"{self._comments}?per_page=100"
        while page:
            found, link = self._ask("GET", page)
            yield from found
            following = re.search(r'<([^>]+)>;\s*rel="next"', link)
            # The token goes nowhere else, whatever an answer says.
            page = following[1] if following and following[1].startswith(f"{self._api}/") else None

    def write(self, body: str) -> None:
        self._ask("POST", self._comments, {"body": body})

    def rewrite(self, comment: int, body: str) -> None:
        self._ask("PATCH", f"{self._repository}/issues/comments/{comment}", {"body": body})

    def remove(self, comment: int) -> None:
        self._ask("DELETE", f"{self._repository}/issues/comments/{comment}")

    def _ask(self, method: str, address: str, content: object = None) -> tuple[list[Comment], str]:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Content-Type": "application/json",
            "User-Agent": "smspec",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        data = None if content is None else json.dumps(content).encode()
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(address, data, headers, method=method)
            try:
                with OPENER.open(request, timeout=30) as answer:
                    text = answer.read()
                    return (json.loads(text) if text else []), answer.headers.get("Link", "")
            except urllib.error.HTTPError as refusal:
                # What was not carried out may be asked again; a POST that timed out may have been.
                if attempt == ATTEMPTS or refusal.code not in (429, 500, 502, 503):
                    raise
            time.sleep(2**attempt / 2)
        raise AssertionError


def main() -> None:
    request = pull_request()
    if request is None:
        return
    if request.is_from_fork:
        tell("notice", "no comment: the token of a pull request from a fork cannot write one; see the page of this run")
        return
    text = Path(said("MARKDOWN")).read_text(encoding="utf-8")
    try:
        keep_one(Github(request.number), name(), text)
    except urllib.error.HTTPError as refusal:
        needs = "; the workflow needs `permissions: pull-requests: write`" if refusal.code in (403, 404) else ""
        tell("warning", f"no comment: GitHub answers {refusal.code}{needs}")
    except OSError as fault:
        tell("warning", f"no comment: GitHub cannot be asked: {fault}")


def keep_one(github: Github, use: str, text: str) -> None:
    """Leave one comment that says ``text``; none if there is nothing to say and nothing was said before."""
    marker = f"<!-- smspec diff: {use} -->"
    ours = [comment for comment in github.comments() if is_ours(comment, marker)]
    body = f"{marker}\n{fitting(text) or UNCHANGED}"
    if not ours:
        if text:
            github.write(body)
        return
    if (ours[0]["body"] or "").replace("\r\n", "\n").rstrip() != body.rstrip():
        github.rewrite(ours[0]["id"], body)
    for another in ours[1:]:  # two runs at once may both have written
        github.remove(another["id"])


def is_ours(comment: Comment, marker: str) -> bool:
    """Return whether a run like this wrote a comment: anybody can write the marker."""
    first = (comment["body"] or "").partition("\n")[0].strip()
    author = comment["user"]
    return first == marker and author is not None and author["type"] == "Bot"


def fitting(text: str) -> str:
    """Return as many whole jobs as a comment may hold."""
    if len(text.encode()) <= LONGEST:
        return text
    kept = ""
    for job in re.split(r"(?m)^(?=### )", text):
        if len((kept + job + CUT).encode()) > LONGEST:
            break
        kept += job
    return kept + CUT


if __name__ == "__main__":
    main()
