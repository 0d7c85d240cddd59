"""Find the specs that may conflict with some specs, by their text: all others need not be compiled to compare these.

What specs are compared by is in their texts: names, and addresses in S3. A search of the texts finds more specs than
there are conflicts, and never fewer: an address or a name that a variable completes may be any that begins with what is
written. Of a plain text, the lines are searched; of any other, the values that the parser reads: YAML has many ways to
write one. What else would have to be known is not: then all specs are compiled.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Several

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import read_spec_files
from smspec.pipeline.plain_specs import COMPARED, PlainSpecs, top_keys
from smspec.pipeline.searched_text import ComparedAddress, Searched, TextSearch, searched
from smspec.pipeline.untouched_specs import UntouchedSpecs
from smspec.service.s3_address import ends_inside_a_name, normal
from smspec.source import Document, Mapping, Node, Sequence
from smspec.source.frozen import dataclass
from smspec.spec.layers.variables import OptionError
from smspec.spec.repository_facts import JobFacts, Stated

_NAMING = frozenset({"name", "job_name", "api", "overlays"})
_NAMES_A_JOB = frozenset({"name", "job_name", "TrainingJobName"})
_SIMPLE_ADDRESS = re.compile(r"s3://[A-Za-z0-9._/:+=@!~-]+")
_SIMPLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_DERIVED_NAME = re.compile(r"(.+)-[0-9a-f]{10}")
_NAME = re.compile(r"(?:job_name|TrainingJobName)[\"']?\s*:\s*[\"']?([A-Za-z0-9-]+)")
_FIRST_OVERLAY = re.compile(r"^[\"']?overlays[\"']?\s*:", re.MULTILINE)
_ANY_NAME = re.compile(r"name[\"']?\s*:\s*[\"']?([A-Za-z0-9-]+)")
ENOUGH = 3
"""So many jobs with one output prefix intend it, however many more there are."""


class MoreSpecs(Exception):
    """Some untouched specs may conflict, too."""

    def __init__(self, paths: Several[str]) -> None:
        super().__init__()
        self.paths = paths


class UnknownConflicts(Exception):
    """The texts do not show which specs may conflict."""


@dataclass(frozen=True, slots=True)
class Related:
    """``paths`` of specs that may conflict; ``by_output``: others, by the output prefix that is all they share."""

    paths: tuple[str, ...]
    by_output: dict[str, tuple[str, ...]]


class RelatedSpecs:
    """Finds specs by their texts, which are searched once.

    ``paths`` are those of all specs, in their order, but for ``untouched`` ones, of which only those that may conflict
    are looked at: `MoreSpecs` is raised with these.
    """

    def __init__(self, paths: Several[str], cache: InputCache, untouched: UntouchedSpecs | None = None) -> None:
        self._paths = paths
        self._untouched = untouched
        self._cache = cache
        self._plain = PlainSpecs(cache)
        self._outputs: dict[str, str | None] = {}
        self._of_bases: dict[int, Searched] = {}
        self._parts: dict[str, tuple[Searched, ...]] = {}
        self._known: set[ComparedAddress | str] = set()

    def to_bases(self, specs: Iterable[str]) -> Related:
        """Return the specs that may conflict because of what base specs set. Raise `UnknownConflicts`."""
        outputs: set[str] = set()
        for path in specs:
            for document in self._bases(path):
                output = self._output(document)
                if output is None:
                    raise UnknownConflicts
                outputs.add(output)
        outputs.discard("")
        if not outputs:
            return Related((), {})
        if self._untouched is not None:
            raise UnknownConflicts  # all specs of one name
        targets = {ComparedAddress(normal(output)[:-1], False, True) for output in outputs}
        found = self._found(targets, set())
        return Related((*found.paths, *self._of_one_name()), found.by_output)

    def to_jobs(self, facts: Iterable[JobFacts]) -> Related:
        """Return the specs that may conflict with jobs that have some facts. Raise `UnknownConflicts`."""
        targets, names = set[ComparedAddress](), set[str]()
        for job in facts:
            targets.update(_targets(job))
            for name in (job.name.text, job.job_name.text, *job.alternatives):
                derived = _DERIVED_NAME.fullmatch(name)
                names.update((name, derived[1]) if derived else (name,))
        if not all(map(_SIMPLE_NAME.fullmatch, names)):
            raise UnknownConflicts
        targets, names = targets - self._known, names - self._known
        self._known |= {*targets, *names}
        return self._found(targets, names)

    def _found(self, targets: set[ComparedAddress], names: set[str]) -> Related:
        if not targets and not names:
            return Related((), {})
        words = "|".join(map(re.escape, sorted(names)))
        pattern = re.compile(rf"(?<![\w./-])(?:{words})(?![\w./-]|[\"']?[ ]*:(?:\s|$))") if names else None

        def look(part: Searched) -> bool | str:
            """Return whether a text may have a conflict; its output prefix if only that is shared."""
            if part.is_any or (pattern is not None and pattern.search(part.text)):
                return True
            if any(name.startswith(beginning) for beginning in part.beginnings for name in names):
                return True
            shared = ""
            for address, goes_on in part.addresses:
                for target in targets:
                    if not target.may_meet(address, goes_on):
                        continue
                    if address != part.output or target.longer:
                        return True
                    # An output prefix is around nothing, and is compared with another one only.
                    if target.is_output and address.rstrip("/") == target.text:
                        shared = address
            return shared

        looks: dict[int, bool | str] = {}
        paths: list[str] = []
        by_output: dict[str, list[str]] = {}
        for path in self._paths:
            parts = self._of(path)
            for part in parts:
                if id(part) not in looks:
                    looks[id(part)] = look(part)
            if any(looks[id(part)] is True for part in parts):
                paths.append(path)
                continue
            # Its own output replaces that of a base spec.
            shared = [looks[id(part)] for part in (parts[:1] if parts[0].output else parts)]
            for output in filter(None, shared):
                by_output.setdefault(str(output), []).append(path)
        if self._untouched is not None:
            self._find_untouched(self._untouched, TextSearch(targets, names), look, by_output)
        return Related(tuple(paths), {output: tuple(found) for output, found in by_output.items()})

    def _find_untouched(
        self,
        untouched: UntouchedSpecs,
        search: TextSearch,
        look: Callable[[Searched], bool | str],
        by_output: dict[str, list[str]],
    ) -> None:
        """Add untouched specs to those that share an output prefix; raise `MoreSpecs` for others that may conflict."""
        more: list[str] = []
        for bases, paths in untouched.groups():
            parts = (self._of_base(self._cache.spec(base)) for base in bases)
            more += paths if any(map(look, parts)) else ()
        for path, shared in untouched.searched(search):
            if shared is None:
                self._cache.take(path, untouched.texts[path])
                found = look(self._of(path)[0])
                more += [path] if found is True else ()
                shared = str(found) if found and found is not True else ""
            if shared:
                by_output.setdefault(shared, []).append(path)
        if more:
            raise MoreSpecs(more)
        for found_there in by_output.values():
            found_there.sort(key=untouched.order.__getitem__)

    def _of_base(self, document: Document) -> Searched:
        if id(document) not in self._of_bases:  # which the cache keeps
            self._of_bases[id(document)] = searched(_values(document.root), self._output(document) or "")
        return self._of_bases[id(document)]

    def _of_one_name(self) -> Iterable[str]:
        """Return the specs that may have a name which another may have, too."""
        by_name: dict[str, set[str]] = {}
        for path in self._paths:
            own = self._of(path)[0].text
            plain = self._plain.of(path)
            if plain is None or not all(map(_names_no_job, plain.bases)):
                raise UnknownConflicts
            name = plain.text.values.get("name", "").strip().strip("\"'")
            if not _SIMPLE_NAME.fullmatch(name) or ("${{" in own and not _NAMES_A_JOB.isdisjoint(plain.text.inner)):
                raise UnknownConflicts
            if "${{" in plain.text.values.get("job_name", ""):
                raise UnknownConflicts
            names = {name, *_NAME.findall(own)}
            if "overlays" in plain.text.values and "name" in plain.text.inner:
                start = _FIRST_OVERLAY.search(own)
                names.update(_ANY_NAME.findall(own, start.start() if start else 0))
            for name in names:
                derived = _DERIVED_NAME.fullmatch(name)
                for one in (name, derived[1]) if derived else (name,):
                    by_name.setdefault(one, set()).add(path)
        return sorted({path for paths in by_name.values() if len(paths) > 1 for path in paths})

    def _bases(self, path: str) -> tuple[Document, ...]:
        """Return the base specs of a spec, and the defaults of its organization. Raise `UnknownConflicts`."""
        try:
            plain = self._plain.of(path)
            documents = read_spec_files(path, self._cache).documents[:-1] if plain is None else plain.bases
            defaults = self._cache.organization(os.path.dirname(path)).defaults()
        except (InvalidInput, OptionError, OSError):
            raise UnknownConflicts from None
        return documents if defaults is None else (defaults, *documents)

    def _of(self, path: str) -> tuple[Searched, ...]:
        """Return what the texts of a spec have, its own first. Raise `UnknownConflicts`."""
        if path not in self._parts:
            bases = self._bases(path)
            text = self._cache.plain(path)
            if text is None:
                own = searched(_values(self._cache.spec(path).root))
            else:
                own = searched(self._cache.content(path).decode("ascii"), text.values.get("output", "").strip())
            self._parts[path] = (own, *map(self._of_base, bases))
        return self._parts[path]

    def _output(self, document: Document) -> str | None:
        """Return the output prefix that a base spec sets, or none; None if it sets more that jobs are compared by."""
        name = document.texts[0].name
        if name not in self._outputs:
            self._outputs[name] = _only_output(document)
        return self._outputs[name]


def _names_no_job(base: Document) -> bool:
    return top_keys(base).isdisjoint(_NAMING)


def _values(root: Node) -> str:
    """Return all values of a file, however they are written, each on a line, or several."""
    found: list[str] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [value for _, value in node.entries]
        elif isinstance(node, Sequence):
            waiting += node.items
        else:
            found.append(node.text)
    return "\n".join(found)


def _only_output(document: Document) -> str | None:
    keys = top_keys(document)
    if not keys.isdisjoint(COMPARED):
        return None
    if "output" not in keys:
        return ""
    written = document.string(("output",)) or document.string(("output", "s3"))
    return written if written is not None and _SIMPLE_ADDRESS.fullmatch(written) else None


def _targets(job: JobFacts) -> Iterator[ComparedAddress]:
    """Yield what a job writes and reads. Raise `UnknownConflicts` for an address that YAML may write otherwise."""
    written: list[tuple[Stated | None, bool]] = [
        (job.output, False),
        (job.tensorboard, False),
        (job.checkpoints, True),
    ]
    written += [(data, ends_inside_a_name(data.text)) for _, data in job.channels]
    for stated, longer in written:
        if stated is not None:
            if not _SIMPLE_ADDRESS.fullmatch(stated.text):
                raise UnknownConflicts
            yield ComparedAddress(normal(stated.text)[:-1], longer, stated is job.output)
