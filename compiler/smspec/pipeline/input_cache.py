"""The files that specs consist of, each read once: specs and base specs, listings of sources, requirements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.organization import Organization, OrganizationSearch
from smspec.organization.lock_file import lock_in, read_lock
from smspec.pipeline.script_reading import ReadScript, Started, read_program
from smspec.pipeline.script_source import source_texts
from smspec.plan import ImagePlan, NeededEnvironment
from smspec.service.image_python import Version
from smspec.service.policy import KnownFacts, Level, Policy
from smspec.source import DataExtent, Document, Listing, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.layers import Fold
from smspec.spec.lock import Lock
from smspec.spec.yaml import decode_bytes, read
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.boundary import Boundary, NotASpec, OutOfBounds, rejected_outside, rejected_stranger
from smspec.workspace.boundary_search import BoundarySearch, Layers
from smspec.workspace.path_targets import RealPaths
from smspec.workspace.source_listing import ScannedSource, scan_source, with_unsaved
from smspec.workspace.source_walk import is_output_of_ours
from smspec.workspace.spec_reading import is_meant_as_spec, spec_content

if TYPE_CHECKING:
    from smspec.spec.yaml.plain_text import PlainText

LARGEST_REQUIREMENTS = 1 << 20
"""Bytes of a requirements file. One with the hashes of a thousand packages has a tenth of that."""


MOST_DOCUMENTS = 16
LARGEST_DOCUMENT = 1 << 16
"""Specs that a process remembers beyond a cache: it may compile one again and again, and each has one tree then."""


def _document(name: str, content: bytes) -> Document:
    return _recent(name, content) if len(content) <= LARGEST_DOCUMENT else read(decode_bytes(name, content))


@lru_cache(MOST_DOCUMENTS)
def _recent(name: str, content: bytes) -> Document:
    return read(decode_bytes(name, content))


class InputCache:
    """What was read so far. Entries never change, so a command sees one state of the disk.

    ``root``: the directory that all files must be in; by default the repository that a spec belongs to. ``contents``:
    what specs and files of sources at these real paths contain instead of what is on disk. ``touched`` are the real
    paths of the files and directories that were asked for; its owner may clear it. ``is_output``: whether smspec wrote
    a directory, so that no search enters it. ``bring``: writes a base spec to the disk before it is read.
    """

    def __init__(
        self,
        root: str | None = None,
        contents: Mapping[str, bytes] | None = None,
        is_output: Callable[[str], bool] = is_output_of_ours,
        bring: Callable[[str], None] = lambda _path: None,
    ) -> None:
        self.bring = bring
        self.is_output = is_output
        self._root = None if root is None else Boundary(os.path.realpath(root))
        self._searched: list[str] = []
        self._boundary_search = BoundarySearch()
        self._boundaries: dict[str, Boundary] = {}
        self._of_root: dict[str, Boundary] = {}
        self._real_paths = RealPaths()
        self._identities: dict[str, str] = {}
        self.touched: set[str] = set()
        self._unsaved = dict(contents or {})
        self._contents: dict[str, bytes] = dict(self._unsaved)
        self._names: dict[str, str] = {}
        self._specs: dict[str, Document | InvalidInput] = {}
        self._folds: dict[tuple[int, ...], Fold] = {}
        self._plain: dict[str, PlainText | None] = {}
        self._strangers: set[str] = set()
        self._sources: dict[tuple[str, tuple[str, ...]], ScannedSource] = {}
        self._requirements: dict[str, bytes] = {}
        self._local_data: dict[str, DataExtent | None] = {}
        self._lock_layers = Layers(lock_in)
        self._own_locks: dict[str, Lock] = {}
        self._locks: dict[str, Lock] = {}
        self._paths_of_lock: dict[str, tuple[str, ...]] = {}
        self._environments: dict[object, NeededEnvironment | None] = {}
        self._organizations = OrganizationSearch()
        self._source_texts: dict[tuple[str, int], tuple[SourceText, ...] | None] = {}
        self._programs: dict[tuple[Started, str, int, Version | None], ReadScript] = {}

    def identity(self, path: str) -> str:
        """Return the real path of a file."""
        if path not in self._identities:
            self._identities[path] = self._real_paths.of(path)
        return self._identities[path]

    def boundary(self, directory: str) -> Boundary:
        """Return the directory that files of a spec in ``directory`` must be in."""
        if self._root is not None:
            return self._root
        if directory not in self._boundaries:
            boundary = self._boundary_search.of(directory, self._searched)
            self._boundaries[directory] = self._of_root.setdefault(boundary.root, boundary)
        return self._boundaries[directory]

    def searched(self, directory: str) -> Boundary:
        """Register a search for specs below ``directory``, and return its boundary."""
        self._searched.append(directory)
        self._boundaries.clear()
        return self.boundary(directory)

    def take(self, path: str, content: bytes | None = None) -> None:
        """Read the spec at ``path``, and parse it only when it is used; ``content``: its content, if already read.

        A path that is written in several ways keeps the first one. Two paths to one file, through links, are two names:
        what the file names is relative to the path. Raise as `spec` does.
        """
        identity = self.identity(path)
        if identity not in self._contents:
            boundary = self.boundary(os.path.dirname(path))
            try:
                self._keep(identity, spec_content(path, MAX_BYTES, boundary) if content is None else content)
            except OutOfBounds:
                raise rejected_outside(path) from None
        self._names.setdefault(os.path.abspath(path), path)

    def content(self, path: str) -> bytes:
        """Return the bytes of a spec or base spec that was read."""
        return self._contents[self.identity(path)]

    def name(self, path: str) -> str:
        """Return the name that the text of a spec has, or would have."""
        return self._names.get(os.path.abspath(path), path)

    def plain(self, path: str) -> PlainText | None:
        """Return the keys of a spec that was taken, without parsing it; None if it is not written plainly."""
        identity = self.identity(path)
        if identity not in self._plain:
            # Imported late: one spec is parsed anyway.
            from smspec.spec.yaml.plain_text import plain_text

            content = None if identity in self._strangers else self._contents.get(identity)
            self._plain[identity] = None if content is None else plain_text(content)
        return self._plain[identity]

    def is_meant_as_spec(self, path: str) -> bool:
        """Return whether a file that was read is a spec or a base spec, possibly an invalid one."""
        return self.identity(path) not in self._strangers

    def spec(self, path: str) -> Document:
        """Return the spec at ``path``, whatever it extends.

        Raises `OptionError` if there is no such file, `InvalidInput` if it is not YAML or outside the repository,
        OSError if the disk fails.
        """
        self.take(path)
        identity = self.identity(path)
        if identity in self._strangers and os.path.basename(identity) != os.path.basename(path):
            raise rejected_stranger(path)
        return self._parsed(identity, path)

    def base(self, path: str, boundary: Boundary) -> Document:
        """Return the base spec at ``path``.

        Raise as `spec` does, and `FileNotRead` for what is not a file, or not a spec, inside the boundary.
        """
        identity = self.identity(path)
        if not boundary.contains(path):
            raise OutOfBounds(path)
        if identity not in self._contents:
            self._keep(identity, boundary.read(path, MAX_BYTES))
        if identity in self._strangers:
            raise NotASpec(path)
        return self._parsed(identity, path)

    def _keep(self, identity: str, content: bytes) -> None:
        self._contents[identity] = content  # a pipe cannot be read again
        if not is_meant_as_spec(content):
            self._strangers.add(identity)

    def _parsed(self, identity: str, path: str) -> Document:
        # Otherwise its name is the path here, not the first one of several: worker processes meet them in any order.
        self.touched.add(identity)
        name = self._names.get(os.path.abspath(path), path)
        if name not in self._specs:
            try:
                self._specs[name] = _document(name, self._contents[identity])
            except InvalidInput as rejected:
                self._specs[name] = rejected
        known = self._specs[name]
        if isinstance(known, InvalidInput):
            raise known
        return known

    def fold(self, bases: tuple[Document, ...]) -> Fold:
        """Return base specs merged: jobs share them. They must be from this cache, which keeps them."""
        key = tuple(map(id, bases))
        if key not in self._folds:
            self._folds[key] = Fold().under(*bases)
        return self._folds[key]

    def source(self, directory: str, ignore: tuple[str, ...]) -> ScannedSource:
        """Return the files of a source directory that are sent, and the errors in it."""
        key = self._real_paths.of(directory), ignore
        self.touched.add(key[0])
        if key not in self._sources:
            self._sources[key] = with_unsaved(scan_source(directory, ignore), self._unsaved)
        return self._sources[key]

    def local_data(self, path: str, directory: str) -> DataExtent | None:
        """Return how much local data a spec in ``directory`` names, without reading it; None if that is unknown."""
        if path not in self._local_data:
            # Imported late: few specs have local data.
            from smspec.workspace.boundary import data_extent

            self._local_data[path] = data_extent(path, self.boundary(directory))
        return self._local_data[path]

    def requirements(self, path: str, boundary: Boundary) -> bytes:
        """Return the content of a requirements file; of a large one, one byte more than the limit.

        Raise as `Boundary.read`.
        """
        identity = self.identity(path)
        self.touched.add(identity)
        if path not in self._requirements and identity in self._unsaved and boundary.is_file(path):
            self._requirements[path] = self._unsaved[identity]
        if path not in self._requirements:
            self._requirements[path] = boundary.read(path, LARGEST_REQUIREMENTS)
        return self._requirements[path]

    def program(
        self, started: Started, source: Listing, directory: str, python: Version | None, ignore: tuple[str, ...]
    ) -> ReadScript:
        """Return the facts about a script of a source; a listing is kept as long as the cache."""
        directory = os.path.normpath(directory)  # jobs reach one source by many paths
        key = started, directory, id(source), python
        if key not in self._programs:
            self._programs[key] = read_program(started, source, directory, python, ignore)
        return self._programs[key]

    def source_texts(self, source: Listing, directory: str) -> tuple[SourceText, ...] | None:
        """Return the text files of a source, as `source_texts` does; a listing is kept as long as the cache."""
        directory = os.path.normpath(directory)
        key = directory, id(source)
        if key not in self._source_texts:
            self._source_texts[key] = source_texts(source, directory)
        return self._source_texts[key]

    def lock_path(self, directory: str) -> str | None:
        """Return the path of the nearest lockfile, from a directory upwards, relative to the current one; or None."""
        return next(reversed(self._lock_layers.of(directory, self.boundary(directory))), None)

    def lock(self, directory: str) -> tuple[str, Lock] | None:
        """Return the lock for a spec in ``directory``, and the path of the nearest lockfile, whose names it has.

        Lockfiles of directories above apply too. Raises `InvalidInput` where one is invalid, or contradicts another.
        """
        boundary = self.boundary(directory)
        paths = self._lock_layers.of(directory, boundary)
        if not paths:
            return None
        path = paths[-1]
        if path not in self._locks:
            locks = [(one, self.own_lock(one, boundary)) for one in paths]
            self._paths_of_lock[path] = paths
            if len(locks) == 1:
                self._locks[path] = locks[0][1]
            else:
                # Imported late: a repository has one lockfile.
                from smspec.organization.lock_file import combined_lock

                self._locks[path] = combined_lock(locks, boundary)
        return path, self._locks[path]

    def own_lock(self, path: str, boundary: Boundary) -> Lock:
        """Return the content of one lockfile. Raises `InvalidInput` where it is none."""
        if path not in self._own_locks:
            self._own_locks[path] = read_lock(path, boundary)
        return self._own_locks[path]

    def environment(
        self, image: ImagePlan, requirements: bytes | None, lock: str, boundary: Boundary
    ) -> NeededEnvironment | None:
        """Return the environment of an image in the lock at a path, which has been read; None if it has no packages.

        Raises `InvalidInput` if its entry is invalid.
        """
        installs = image.base, image.platform, image.python_packages, requirements, tuple(image.build_variables.items())
        if (lock, installs) not in self._environments:
            # Imported late: few repositories have locked environments.
            from smspec.organization.lock_file import needed_environment

            for path in self._paths_of_lock[lock]:
                environments = self._own_locks[path].environments
                found = needed_environment(image, requirements, path, environments, boundary)
                self._environments[lock, installs] = found
                if found is None or found.locked is not None:
                    break
        return self._environments[lock, installs]

    def environment_at_start(self, key: str, content: bytes, lock: str, boundary: Boundary) -> NeededEnvironment:
        """Return the packages with a key in the lock at a path, which has been read. Raises as `environment` does.

        ``content``: of the author's list.
        """
        if (lock, key) not in self._environments:
            from smspec.organization.lock_file import environment_with_key  # imported late, as in `environment`

            for path in self._paths_of_lock[lock]:
                found_here = environment_with_key(key, content, path, self._own_locks[path].environments, boundary)
                self._environments[lock, key] = found_here
                if found_here.locked is not None:
                    break
        found = self._environments[lock, key]
        assert found is not None
        return found

    def organization(self, directory: str) -> Organization:
        """Return the organization's settings for specs in ``directory``: one object for all specs that share them."""
        return self._organizations.of(directory, self.boundary(directory))

    def settings_directories(self, directory: str) -> list[str]:
        """Return the directories whose policies, prices, and quotas apply to specs in ``directory``."""
        return self._organizations.directories(directory, self.boundary(directory))

    def levels(self, directory: str) -> dict[str, Level]:
        """Return the severities for specs in ``directory``; none if the policy is invalid."""
        policy = self._valid_policy(directory)
        return {} if policy is None else policy.levels

    def facts(self, directory: str) -> KnownFacts:
        """Return what the organization knows of AWS for specs in ``directory``; nothing if the policy is invalid."""
        policy = self._valid_policy(directory)
        return KnownFacts() if policy is None else policy.facts

    def _valid_policy(self, directory: str) -> Policy | None:
        try:
            return self.organization(directory).policy()
        except InvalidInput:
            return None

    def text(self, name: str) -> SourceText:
        """Return a text that jobs consist of, by its name: that of a spec, or of a file with defaults."""
        layer = self.organization(os.path.dirname(name)).defaults()
        text = None if layer is None else layer.text(name)
        return self.spec(name).texts[0] if text is None else text


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRuleFiles:
    """``paths``: those that are files with rules. ``diagnostics`` are about all rules that apply next to them."""

    paths: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]


def named_rule_files(paths: Iterable[str], cache: InputCache) -> NamedRuleFiles:
    """Return those of some paths that the policy of their directory names, after their cases have run."""
    found: list[str] = []
    diagnostics: dict[Diagnostic, None] = {}
    texts: dict[SourceText, None] = {}
    for path in paths:
        rejected: InvalidInput | None = None
        try:
            files = [rule.file for rule in cache.organization(os.path.dirname(path)).rules()]
        except InvalidInput as fault:
            rejected, files = fault, [text.name for text in fault.texts]
        if cache.identity(path) not in map(cache.identity, files):
            continue
        found.append(path)
        if rejected is not None:
            diagnostics.update(dict.fromkeys(rejected.diagnostics))
            texts.update(dict.fromkeys(rejected.texts))
    return NamedRuleFiles(paths=tuple(found), diagnostics=tuple(diagnostics), texts=tuple(texts))
