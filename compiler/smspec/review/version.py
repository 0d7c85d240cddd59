"""One state of a job for a comparison: its request, image content, code, and origin; and two states as a `Pair`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from smspec.diagnostics.quoting import duration
from smspec.plan import BuildInputs, Plan, RequestPlan
from smspec.review.change import Change, Rise, hides, quoted, safe
from smspec.review.layers import LayerItem, Layers, started
from smspec.review.request_differences import Leaf, Meaning, leaves, meaning, without_defaults
from smspec.service.job_costs import PriceBook
from smspec.service.shapes import member, structure
from smspec.source import Document, Listing, Path, Scalar, Span
from smspec.source.frozen import dataclass, field, replace
from smspec.spec.model import BuiltImage, JobSpec, Queue
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL, SETTINGS_HYPERPARAMETER

_OF_SETTINGS = re.compile(rf"{SETTINGS_HYPERPARAMETER}(?:_[0-9]{{1,2}})?")

_DIGITS = re.compile(r"-[0-9a-f]{10}\Z")
"""The suffix of a job name that is computed from its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """The text of a state. ``root`` contains its files, ``shown`` is the displayed name of that: ``HEAD:``.

    ``form`` names a format other than a spec: such a text is compared only with the same format, and None with nothing.
    """

    document: Document
    form: str | None = ""
    root: str = ""
    shown: str = ""

    def name(self, file: str) -> str:
        """Return the displayed name of a file."""
        if not self.root:
            return file
        return self.shown + os.path.relpath(os.path.abspath(file), self.root).replace(os.sep, "/")

    def place(self, path: Path) -> Span | None:
        """Return the position of the end of a path; None if it is not written."""
        return self.document.span_of_key(path) if path and self.document.node(path) is not None else None

    def nearest(self, path: Path) -> Span:
        """Return the position of the end of a path, or of its nearest known parent."""
        return self.document.span_of_key(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVersion:
    """``layers`` None: no image is built, or its content is unknown. ``code`` None: no code, or unknown.

    ``run``: the members of the run plan; None if the smspec runtime is not used, or it is unknown. ``is_whole``: the
    payload is the complete request; the description of a job lacks its tags. ``source_key``: the KMS key of what is
    uploaded; None without one, or if it is unknown. ``packages``: name → version of what the image installs; None if it
    is not locked. ``package_files``: what else the list of these says. ``others``: the requests of the alternatives
    after the first. ``build_secrets``: name → where a secret of the build comes from; None if it is unknown, as for a
    request and a build. ``outer_data``: channel → its local data, if these are outside of the repository.
    ``unopened_places``: key → place in the repository of a relative path to a file that a comparison does not open.
    """

    name: str
    payload: dict[str, object]
    layers: Layers | None = None
    image_tag: str | None = None
    code: Listing | None = None
    delivery: str | None = None
    source_key: str | None = None
    region: str | None = None
    queue: Queue | None = None
    run: dict[str, object] | None = None
    request: RequestPlan | None = None
    writing: Writing | None = None
    is_whole: bool = True
    packages: Mapping[str, str] | None = None
    package_files: Mapping[str, str] | None = None
    others: tuple[RequestPlan, ...] = ()
    build_secrets: Mapping[str, str] | None = None
    outer_data: Mapping[str, str] = field(default_factory=dict)
    unopened_places: Mapping[Path, str] = field(default_factory=dict)

    def origin(self, path: Path) -> Path:
        """Return the path in the spec for a part of the request; empty without a spec."""
        return self.request.origin(path) if self.request is not None else ()

    def key_in_api(self, at: Path) -> Path:
        """Return the key of `api` that sets or removes a member: null removes all that is in it; empty for none."""
        if self.writing is None:
            return ()
        for depth in range(1, len(at) + 1):
            path: Path = ("api", *at[:depth])
            node = self.writing.document.node(path)
            if node is None:
                break
            if depth == len(at) or (isinstance(node, Scalar) and node.value is None):
                return path
        return ()

    @property
    def payloads(self) -> tuple[dict[str, object], ...]:
        """The requests of all alternatives."""
        return (self.payload, *(request.payload for request in self.others))

    @property
    def attempts(self) -> int | None:
        """How often a queue starts the job at most; None without a queue, or if it does not say."""
        return None if self.queue is None else self.queue.attempts

    @property
    def runs_pipe_loop(self) -> bool:
        return self.run is not None and self.run.get("kind") == "pipe_loop"

    @property
    def job_name(self) -> str:
        return str(self.payload.get("TrainingJobName", ""))

    @property
    def hyperparameters(self) -> Mapping[str, object]:
        return structure(self.payload, "HyperParameters")

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the smspec runtime in reserved hyperparameters; empty if there are none."""
        written = self.hyperparameters
        names = [SETTINGS_HYPERPARAMETER, *(f"{SETTINGS_HYPERPARAMETER}_{number}" for number in range(1, 100))]
        text = "".join(str(written[name]) for name in names if name in written)
        try:
            settings = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            return {}
        return settings if isinstance(settings, dict) else {}


def version_of_request(
    payload: dict[str, object], region: str | None, writing: Writing | None, is_whole: bool
) -> JobVersion:
    """Return the state of a job from only its request, or from its description by the service."""
    name = str(payload.get("TrainingJobName", ""))
    payload = without_defaults(payload)
    return JobVersion(name=_DIGITS.sub("", name), payload=payload, region=region, writing=writing, is_whole=is_whole)


def version_of_build(
    payload: dict[str, object],
    layers: Layers | None,
    code: Listing | None,
    delivery: str | None,
    run: dict[str, object] | None,
) -> JobVersion:
    """Return the state of a job from its build directory."""
    image = str(member(payload, "AlgorithmSpecification", "TrainingImage") or "")
    return JobVersion(
        name=_DIGITS.sub("", str(payload.get("TrainingJobName", ""))),
        payload=payload,
        layers=layers,
        image_tag=None if layers is None else image.rpartition(":")[2],
        code=code,
        delivery=delivery,
        run=run,
    )


def version_of_plan(
    plan: Plan, job: JobSpec, build_inputs: BuildInputs, layers: Layers | None, writing: Writing
) -> JobVersion:
    """Return the state of a job from its compiled spec."""
    return JobVersion(
        name=plan.name,
        payload=plan.request.payload,
        layers=layers,
        image_tag=None if plan.image is None else plan.image.tag,
        code=None if job.delivery is None else build_inputs.source,
        delivery=job.delivery,
        source_key=plan.source_key,
        build_secrets=_build_secrets(job),
        region=job.region,
        queue=plan.queue,
        run=None if plan.run is None else plan.run._asdict(),
        request=plan.request,
        writing=writing,
        packages=_packages(plan, build_inputs),
        package_files=_package_files(build_inputs),
        others=plan.others,
    )


def _packages(plan: Plan, build_inputs: BuildInputs) -> Mapping[str, str] | None:
    """Return the locked packages of the image with their versions, and with their addresses if they come from such."""
    if plan.image is None or plan.image.environment is None:
        return None
    packages = plan.image.environment.packages
    content = None if build_inputs.environment is None else build_inputs.environment.content
    if content is None or b" @ " not in content:
        return packages
    from smspec.organization.lock_file import direct_packages  # imported late: few packages have an address

    direct = direct_packages(content)
    return {name: f"{version} from {direct[name]}" if name in direct else version for name, version in packages.items()}


def _package_files(build_inputs: BuildInputs) -> Mapping[str, str] | None:
    """Return the hashes of locked packages, and the options about their indexes; None if they are unknown."""
    content = None if build_inputs.environment is None else build_inputs.environment.content
    if content is None:
        return None
    from smspec.organization.lock_file import listed_files  # imported late: few jobs have locked packages

    return listed_files(content)


def _build_secrets(job: JobSpec) -> dict[str, str]:
    """Return where each secret of the build comes from, in words."""
    secrets = job.image.secrets if isinstance(job.image, BuiltImage) else {}
    return {
        name: f"the variable {secret.env}" if secret.env is not None else f"the file {secret.file}"
        for name, secret in secrets.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``leaves`` are the differences of the requests, without those about what is known of only one side."""

    old: JobVersion
    new: JobVersion
    leaves: tuple[Leaf, ...]
    prices: PriceBook

    def change(
        self,
        kind: str,
        path: Path,
        what: str,
        *,
        old: object = None,
        new: object = None,
        brief: str = "",
        rise: Rise | Fraction = None,
    ) -> Change:
        """Return a change at a path of the spec, with its position and without secrets."""
        file, line = self._place(path, is_gone=new is None and old is not None)
        name = str(path[-1]) if path else ""
        was, will = safe(name, old), safe(name, new)
        return Change(
            kind=kind,
            path=path,
            old=was,
            new=will,
            what=what,
            brief=brief,
            file=file,
            line=line,
            rise=rise,
            hides=old != new and (hides(old, was) or hides(new, will)),
        )

    def at_leaf(self, kind: str, leaf: Leaf, what: str, *, brief: str = "") -> Change:
        """Return the change for a difference of the requests, at the key of the spec that sets it."""
        path, member = self.spec_path(leaf), str(leaf.at[-1])
        old, new = _as_written(self.old, path, member, leaf.old), _as_written(self.new, path, member, leaf.new)
        return self.change(kind, path, what, old=old, new=new, brief=brief)

    def leaves_of(self, kind: str) -> list[Leaf]:
        """Return the differences of the requests that are of a kind, without settings of the smspec runtime."""
        return [leaf for leaf in self.leaves if kind in self._kinds(leaf) and not self._is_derived(leaf)]

    def _kinds(self, leaf: Leaf) -> Iterator[str]:
        """Yield the kinds of a difference: for an item that is new, or gone, those of all that is in it."""
        yield from self.meaning(leaf).kinds
        item = leaf.new if leaf.old is None else leaf.old if leaf.new is None else None
        for path in _paths(item):
            yield from self.meaning(replace(leaf, at=(*leaf.at, *path))).kinds

    def places(self, path: Path) -> tuple[str, str] | None:
        """Return the old and new place of an unopened file; None if one is unknown."""
        old, new = self.old.unopened_places.get(path), self.new.unopened_places.get(path)
        return None if old is None or new is None else (old, new)

    def meaning(self, leaf: Leaf) -> Meaning:
        """Return the meaning of the member of a difference. A channel of the code has another if a spec wrote it."""
        known = meaning(leaf.at)
        name, *inner = leaf.at[1:] or ("",)
        if leaf.at[0] != "InputDataConfig" or name not in (CODE_CHANNEL, RUNTIME_CHANNEL):
            return known
        plain = meaning(("InputDataConfig", "", *inner))
        sides = ((self.old, leaf.old, leaf.old_path), (self.new, leaf.new, leaf.new_path))
        origins = [side.origin(path)[:1] for side, value, path in sides if value is not None]
        if all(origin == ("channels",) for origin in origins):
            return plain
        if ("api",) in origins or ("channels",) in origins:
            return Meaning(tuple(dict.fromkeys((*known.kinds, *plain.kinds))), known.words)
        return known

    def words(self, leaf: Leaf) -> str:
        """Return the name of the member of a difference in messages; its API name if it has no other."""
        return self.meaning(leaf).words or quoted(str(leaf.at[-1]))

    def _is_derived(self, leaf: Leaf) -> bool:
        """Return whether a difference is of settings of the smspec runtime, which follow from other members.

        Unless `api` replaces them: the runtime reads there which code it starts, and from where.
        """
        is_setting = leaf.at[0] == "HyperParameters" and _OF_SETTINGS.fullmatch(str(leaf.at[-1])) is not None
        return is_setting and not self.is_replaced(leaf)

    def is_replaced(self, leaf: Leaf) -> bool:
        """Return whether `api` sets or removes a member on either side, so that nothing else explains its value."""
        for side, path in ((self.old, leaf.old_path), (self.new, leaf.new_path)):
            if side.origin(path)[:1] == ("api",) or side.key_in_api(leaf.at):
                return True
        return False

    def settings(self, *names: str) -> list[tuple[str, object, object]]:
        """Return (name, old, new) of the changed settings of the smspec runtime with these names."""
        old, new = self.old.settings, self.new.settings
        return [(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]

    def starts(self) -> list[tuple[LayerItem, object, object]]:
        """Return (item, old, new) of how the script is started, unless that is a layer of both images.

        A request does not say it, but a spec without the runtime starts nothing.
        """
        old, new = self.old, self.new
        are_known = None not in (old.run, new.run) or (old.request is not None and new.request is not None)
        if not are_known or (old.layers and new.layers):
            return []
        was, will = ({item.name: item for item in started(side.run or {})} for side in (old, new))
        found = []
        for name, item in {**was, **will}.items():
            before, now = (items[name].value if name in items else None for items in (was, will))
            if before != now and (before or now):
                found.append((item, before, now))
        return found

    def spec_path(self, leaf: Leaf) -> Path:
        """Return the key of the spec for a difference; the path in the request if no key sets it."""
        is_gone = leaf.new is None
        sides = ((self.old, leaf.old_path), (self.new, leaf.new_path))
        for side, path in sides if is_gone else reversed(sides):
            origin = side.origin(path)
            if origin:
                return origin
            if is_gone and side.writing is not None:
                break  # it is only in a request
        return leaf.old_path if is_gone else leaf.new_path

    def _place(self, path: Path, *, is_gone: bool) -> tuple[str | None, int | None]:
        sides = (self.old, self.new) if is_gone else (self.new, self.old)
        for side in sides:
            if side.writing is not None:
                span = side.writing.place(path)
                if span is not None:
                    return side.writing.name(span.file), span.line
        for side in sides:
            if side.writing is not None:
                span = side.writing.nearest(path)
                return side.writing.name(span.file), span.line
        return None, None


def _as_written(side: JobVersion, path: Path, member: str, value: object) -> object:
    """Return a number of a request with its unit: `6h`, as the author wrote it, or else in the largest whole unit."""
    if not isinstance(value, int) or isinstance(value, bool) or not member.endswith(("InSeconds", "InGB")):
        return value
    node = None if side.writing is None else side.writing.document.node(path)
    if isinstance(node, Scalar) and isinstance(node.value, str):
        return node.value
    return duration(value) if member.endswith("InSeconds") else f"{value}GB"


def _paths(value: object) -> Iterator[Path]:
    """Yield the paths of all members in a structure."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield (name,)
        for path in _paths(inner):
            yield (name, *path)


def paired(old: JobVersion, new: JobVersion, prices: PriceBook) -> Pair:
    """Return a pair of two states."""
    unknown = () if old.is_whole and new.is_whole else (("Tags",), ("SessionChainingConfig",))
    found = tuple(leaf for leaf in leaves(old.payload, new.payload) if leaf.at[:1] not in unknown)
    return Pair(old=old, new=new, leaves=found, prices=prices)
