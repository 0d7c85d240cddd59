"""What ``smspec submit`` sends for a job: the request with its name and tags, and the files that it needs in S3."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, UsageError
from smspec.diagnostics.quoting import visible
from smspec.diagnostics.secret_formats import certain_secret
from smspec.output.contents import chunks
from smspec.pipeline.compilation import Compiled
from smspec.plan import digest, training_job_name
from smspec.render.tree import FileTree
from smspec.service.request import OWN_TAGS, tagged, tags_to_be
from smspec.service.shapes import items, member
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from smspec.cli.image_arguments import JobBuild
    from smspec.local.running.request import GitCommit
    from smspec.submission.uploading import FileUpload

RUN_ID_TAG = f"{OWN_TAGS}run-id"
AUTOMATIC = "auto"
"""The value of ``--run-id`` that stands for a new one."""

_REGION = "smspec:region"
_RUN_ID = re.compile(r"[A-Za-z0-9_.:/=+@-]{1,256}")
_LIMIT = 50
_MOST_TAGS = _LIMIT - 2
"""A job has at most 50 (API shape TagList), and smspec adds two that it needs."""

COMMIT_TAG = f"{OWN_TAGS}git-commit"
DIRTY_TAG = f"{OWN_TAGS}git-dirty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """``request`` with the name and the tags of the job; ``digest`` identifies what it does.

    ``name_is_derived``: from the digest, so no other request has this name. ``git_tags``: where the spec comes from;
    only a job that is created now gets them.
    """

    request: dict[str, object]
    digest: str
    name_is_derived: bool
    git_tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def created_request(self) -> dict[str, object]:
        """The request of a new job: with the tags about git, if there is room for them."""
        tags = items(self.request, "Tags")
        keys = {member(tag, "Key") for tag in tags}
        added = [{"Key": key, "Value": value} for key, value in self.git_tags.items() if key not in keys]
        if not added or len(tags) + len(added) >= _LIMIT:  # the tag with the digest follows
            return self.request
        return {**self.request, "Tags": [*tags, *added]}

    @property
    def tags(self) -> dict[str, str]:
        """The tags of the job: those of the spec, and those that identify the request."""
        return tags_to_be(self.request, self.digest)

    @property
    def whole_request(self) -> dict[str, object]:
        """The request with all tags but those about git, which a later commit changes."""
        return tagged(self.request, self.digest)

    @property
    def name(self) -> str:
        return str(self.request["TrainingJobName"])


def is_run_id(text: str) -> bool:
    """Return whether a text can be a run id: the value of a tag, without spaces."""
    return _RUN_ID.fullmatch(text) is not None


def new_run_id() -> str:
    """Return an id that no other submission has."""
    return uuid.uuid4().hex[:12]


def submissions(job: Compiled, run_id: str | None) -> tuple[Submission, ...]:
    """Return the submissions of a job, one for each alternative of its hosts.

    ``run_id``: jobs with different ones are different. Raise `UsageError` for an id that is no
    value of a tag, `CommandRefused` for a job with too many tags.
    """
    return tuple(_submission(job, request.payload, run_id) for request in job.plan.requests)


def _submission(job: Compiled, payload: dict[str, object], run_id: str | None) -> Submission:
    request = dict(payload)
    tags = list(request.get("Tags") or [])  # type: ignore[call-overload]  # it is a list in every valid request
    if len(tags) > _MOST_TAGS:
        raise CommandRefused(f"the job has {len(tags)} tags, and smspec adds two; SageMaker accepts 50: remove some")
    is_derived = not job.facts.names_itself
    identity = {name: value for name, value in request.items() if name not in ("TrainingJobName", "Tags")}
    if not is_derived:
        # Specs that differ only in their names are different jobs, though `a-2` may be a repetition of `a`.
        identity["TrainingJobName"] = request["TrainingJobName"]
    if job.inputs.region_of_caller is not None:
        # The request does not contain the region: a job of each region would have the name, and the output, of all.
        identity[_REGION] = job.inputs.region_of_caller
    if run_id is not None:
        if not is_run_id(run_id):
            raise UsageError(
                f"--run-id `{visible(run_id)}`: use up to 256 letters, digits, and characters of `_.:/=+@-`"
            )
        certain = certain_secret("", run_id)
        if certain:
            raise UsageError(f"--run-id contains {certain}; everyone who can see the job can read its tags")
        if not is_derived:
            raise UsageError(f"--run-id requires a derived name; remove `job_name: {request['TrainingJobName']}`")
        identity[RUN_ID_TAG] = run_id
        tags.append({"Key": RUN_ID_TAG, "Value": run_id})
    if run_id is not None or _REGION in identity:
        request["TrainingJobName"] = training_job_name(job.plan.name, identity)
    if tags:
        request["Tags"] = tags
    return Submission(request=request, digest=digest(identity), name_is_derived=is_derived)


def check_tags(job: Compiled) -> None:
    """Raise `CommandRefused` for a tag that smspec sets itself: `status` shows it as where the spec comes from."""
    for tag in (tag for request in job.plan.requests for tag in items(request.payload, "Tags")):
        key = str(member(tag, "Key"))
        if key.lower().startswith(OWN_TAGS):
            raise CommandRefused(f"tag `{visible(key)}` begins with `{OWN_TAGS}`, which smspec reserves; rename it")


def uploads(tree: FileTree, kms_key: str | None) -> list[FileUpload]:
    """Return the files of a tree that the job reads from S3, to be encrypted with a key."""
    from smspec.submission.uploading import FileUpload

    files = {file.path: file for file in tree.files}

    def upload(path: str, uri: str) -> FileUpload:
        return FileUpload(uri=uri, content=lambda: b"".join(chunks(files[path], {})), kms_key=kms_key)

    return [upload(path, uri) for path, uri in tree.uploads.items()]


def commit_of(job: Compiled, tree: FileTree) -> GitCommit | None:
    """Return the commit that a spec and its source are in; None outside of git, or before its first commit."""
    # Imported late: only a new job, and a run, need it.
    from smspec.local.running.image_content import source_files
    from smspec.local.running.request import GitCommit
    from smspec.workspace.git_labels import git_state

    files = [path for _, path in source_files(tree)]
    state = git_state(job.inputs.directory, [*files, *(text.name for text in job.inputs.document.texts)])
    return None if state is None else GitCommit(state.commit, is_dirty=state.is_dirty)


def git_tags(build: JobBuild) -> dict[str, str]:
    """Return the tags for the repository of a spec; none if it has no commit.

    They lead from a job to its spec. As a variable or part of the rendered request, each commit would make a new job.
    If the tags of the spec leave no room, these are omitted.
    """
    commit = commit_of(build.job, build.tree)
    return {} if commit is None else {COMMIT_TAG: commit.name, DIRTY_TAG: "true" if commit.is_dirty else "false"}


def commit_lines(tags: Mapping[str, str]) -> Iterator[str]:
    """Yield the line about the commit of a job with these tags, if they contain one."""
    if COMMIT_TAG in tags:
        changes = ", with changes that it does not contain" if tags.get(DIRTY_TAG) == "true" else ""
        yield f"git commit: {visible(tags[COMMIT_TAG])}{changes}"


def commit_record(tags: Mapping[str, str]) -> dict[str, object]:
    """Return the commit of a job with these tags as JSON; None if they contain none."""
    is_known = COMMIT_TAG in tags and DIRTY_TAG in tags
    return {"git_commit": tags.get(COMMIT_TAG), "git_dirty": tags[DIRTY_TAG] == "true" if is_known else None}
