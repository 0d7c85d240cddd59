"""Prove one job: find its Python, compile, let the runtime start the script, stop it at its parser, import the rest."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress

from smspec.diagnostics import Finding, Note, count
from smspec.local.engines.namespace.machine_paths import special_files
from smspec.local.python.environment import EnvironmentCache
from smspec.local.python.installing import fetched_interpreter
from smspec.local.python.interpreter import Interpreter, matching_interpreter, named_interpreter
from smspec.local.python.wanted import Wanted, wanted_python
from smspec.local.running.request import RunFailed, RunRequest
from smspec.pipeline.compilation import Compiled, compiled_digest
from smspec.pipeline.foreign_scripts import started_in
from smspec.pipeline.script_reading import image_python
from smspec.plan.script_environment import is_bare
from smspec.proof import Proof, ProofRequest, driver
from smspec.proof.failures import Circumstances, unproven
from smspec.proof.observation import Observation, observe_start, parser_rests
from smspec.proof.sandbox import Sandbox, unconfined
from smspec.proof.stand_in import has_the_versions
from smspec.proof.start import NotStarted, Preparation, Start, data_places
from smspec.proof.steps import (
    OwnModule,
    argument_findings,
    compile_modules,
    foreign_parser,
    import_all,
    library_findings,
    member_findings,
    parser_count,
    reachable_modules,
    syntax_findings,
    wanted_imports,
)
from smspec.render.tree_rendering import render_tree
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version
from smspec.rules.program.provided_modules import provided
from smspec.script.reach import ForeignImport, Reach, Version, is_standard
from smspec.source import SourceText
from smspec.source.frozen import replace
from smspec.source.real_file import open_below, remove_tree
from smspec.spec.model import BuiltImage, JobSpec, ModuleEntry, PipeLoopEntry

_OLDEST = (3, 8)


class Proving:
    """The proof of one job. Raises RunFailed for what this machine lacks; ``findings`` are then known, too."""

    def __init__(
        self,
        compiled: Compiled,
        request: ProofRequest,
        cache: EnvironmentCache,
        show: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        self._compiled = compiled
        self._request = request
        self._cache = cache
        self._show = show
        self._warn = warn
        self._job: JobSpec = compiled.job
        self._inputs = compiled.inputs
        self.findings: list[Finding] = []
        self._wanted = _wanted(compiled)

    def prove(self) -> Proof:
        """Return the result."""
        reach = self._inputs.reach
        if not isinstance(reach, Reach) or not reach.texts or started_in(self._inputs.shell) is not None:
            return Proof(findings=(self._nothing_to_prove(),))
        both = ProgramAndImage(
            reach=reach,
            job=self._job,
            source=self._inputs.build_inputs.source,
            requirements=self._inputs.build_inputs.requirements,
            python=self._python_version(),
        )
        place = tempfile.mkdtemp(prefix="check-", dir=self._request.scratch_dir)
        try:
            return self._proof(both, os.path.realpath(place))
        finally:
            remove_tree(place, ignore_errors=True)  # a script may nest directories deeper than Python's call limit

    def _proof(self, both: ProgramAndImage, place: str) -> Proof:
        files = {file.path: file.origin for file in self._inputs.build_inputs.source.files}
        directory = self._source_directory()
        modules = reachable_modules(both.reach, files, directory, is_handler=self._is_handler)
        if not modules:
            return Proof(findings=(self._nothing_to_prove(),))
        script = modules[0].path
        interpreter = self._interpreter(both)
        if interpreter is None:
            return Proof(findings=tuple(self.findings))
        for path, origin in files.items():
            target = os.path.join(place, "source", path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(origin, target)
        places = (*interpreter.homes, interpreter.base, interpreter.executable, os.path.dirname(driver.__file__))
        # A directory that only root can enter may contain an environment, whose Python is a link.
        is_named = self._request.python is not None
        environment = [path for path in interpreter.paths[:1] if is_named and path not in interpreter.homes]
        sandbox = Sandbox(
            directory=place,
            seconds=self._request.seconds,
            places=(*places, *environment),
            hidden=tuple(special_files(environment)[0]),
        )
        self._show(f"compiling {count(len(modules), 'module')} with Python {interpreter.version}")
        faults = compile_modules(interpreter.executable, modules, sandbox.path("source"), sandbox)
        enforced = sandbox.enforced()
        self._warn_of(unconfined(enforced))
        if faults is None:
            self._note(both, f"the modules of `{script}` were not compiled: Python did not finish")
        self.findings += syntax_findings(faults or (), both.path)
        compiled = 0 if faults is None else len(modules) - len(faults)
        proof = Proof(python=interpreter.version, compiled=compiled)
        if any(fault.module.is_certain for fault in faults or ()):
            return replace(proof, findings=tuple(self.findings))
        wanted = self._known_packages(both)
        foreign = [used for used in both.reach.foreign if not is_standard(used.top)]
        reason = self._unknown_packages(both, wanted, foreign)
        if reason:
            self._note(both, f"imports and arguments of `{script}` were not checked", Note(reason))
            return replace(proof, findings=tuple(self.findings))
        return self._started(
            proof, both, wanted, modules, foreign, sandbox, directory, is_laid_out=bool(enforced.get("tree"))
        )

    def _warn_of(self, unconfined: str) -> None:
        if unconfined:
            self._warn(f"not confined on this machine: {unconfined}")

    def _started(
        self,
        proof: Proof,
        both: ProgramAndImage,
        wanted: Wanted,
        modules: list[OwnModule],
        foreign: list[ForeignImport],
        sandbox: Sandbox,
        directory: str,
        *,
        is_laid_out: bool,
    ) -> Proof:
        """Complete a proof with what the script does when the runtime starts it."""
        preparation = Preparation(self._compiled, wanted, self._run_request(sandbox), self._cache, sandbox)
        preparation.install(self._show)
        self._warn_of(preparation.unconfined)
        sandbox = preparation.sandbox
        start = preparation.start()
        script = modules[0].path
        if isinstance(start, NotStarted):
            self._note(both, f"the runtime did not start `{script}` on this machine", *_last(start.reason))
            return replace(proof, findings=tuple(self.findings))
        here = Circumstances(
            path=both.path,
            code=start.directory,
            directory=directory,
            script=script,
            image=self._compiled.plan.image,
            is_complete=self._stands_for_image(both, wanted),
            knows_variables=is_bare(self._job),
            data=data_places(self._compiled),
            has_host=is_laid_out and bool(sandbox.host),
        )
        seen = self._parse(both, modules, start, sandbox, here)
        known = frozenset() if seen is None else seen.modules
        rest = [each for each in wanted_imports(foreign, modules) if each.name not in known]
        order = [each.name for each in modules if each.is_certain and each.name]
        texts = list(self._texts(modules, start.directory).values())
        imported = import_all(rest, order, start, sandbox, here, self._show, texts)
        reported = {cause for finding in self.findings for cause in _causes(finding)}
        is_parsed = seen is not None and seen.kind == "parsed"
        members = member_findings(
            (
                each
                for each in both.reach.members
                if (each.module in known | imported.names or is_standard(each.module.partition(".")[0]))
                and not (is_parsed and each.place.column == 1)  # the script has passed it
            ),
            start,
            sandbox,
            here,
            texts,
        )
        self.findings += [
            found
            for found in (*imported.findings, *members)
            if not (found.notes and found.notes[0].message in reported)
        ]
        libraries = {*imported.libraries, *(() if seen is None else seen.libraries)}
        own = (*preparation.programs, self._prefix(start), start.directory)
        self.findings += library_findings(libraries, here, own)
        names = {each.name for each in wanted_imports(foreign, modules)}
        return replace(
            proof,
            findings=tuple(self.findings),
            packages=preparation.package_count,
            imported=len(names & (known | imported.names)),
            parsed=script if seen is not None and seen.kind == "parsed" and not seen.is_open else "",
        )

    def _parse(
        self, both: ProgramAndImage, modules: list[OwnModule], start: Start, sandbox: Sandbox, here: Circumstances
    ) -> Observation | None:
        """Run the script until its parser, if it has one; add what is wrong with the arguments."""
        texts = self._texts(modules, start.directory)
        parsers = parser_count(self._inputs.program, list(texts.values()))
        if not parsers:
            library = foreign_parser(texts.values())
            if library:
                self._note(both, f"the arguments of `{here.script}` were not checked: `{library}` reads them")
            return None
        self._show(f"running `{here.script}` until its parser")
        own = {os.path.realpath(os.path.join(start.directory, each.path)): text for each, text in texts.items()}
        seen = observe_start(start, sandbox, parsers, parser_rests({path: each.text for path, each in own.items()}))
        self.findings += argument_findings(seen, self._job, here, sandbox.seconds, start.argv)
        return seen

    def _python_version(self) -> Version | None:
        """Return the version in the lockfile, or the one that the image shows."""
        if self._wanted.locked is not None:
            major, minor = self._wanted.locked.python.split(".")[:2]
            return int(major), int(minor)
        return image_python(self._inputs.document, self._inputs.build_inputs.lock)

    def _interpreter(self, both: ProgramAndImage) -> Interpreter | None:
        """Return the Python of the image; None, with a note, if that is unknown."""
        if self._request.python is not None:
            self._note(both, "`image`: `--python` was used in place of its Python and its packages")
            return named_interpreter(self._request.python)
        version = both.python
        if version is None or version < _OLDEST:
            known = "unknown" if version is None else f"{dotted_version(version)}, which is too old"
            self._note(
                both,
                f"`{self._script_name(both)}` was not checked: the Python of the image is {known}",
                Note("`--python EXE` checks it with a Python of this machine"),
            )
            return None
        wanted = dotted_version(version)
        if self._request.fetches_python:
            return fetched_interpreter(wanted, self._show)
        found = matching_interpreter(wanted)
        if found is None:
            raise RunFailed(
                3,
                f"cannot find Python {wanted} of the image on PATH, below ~/.pyenv, or in uv's directory: "
                f"run `uv python install {wanted}`, or pass `--fetch-python` or `--python EXE`",
            )
        return found

    def _known_packages(self, both: ProgramAndImage) -> Wanted:
        """Return the packages that are installed. Those of the author are no part of a proof."""
        version = None if both.python is None else dotted_version(both.python)
        return replace(self._wanted, version=version, is_known=True)

    def _is_complete(self, both: ProgramAndImage) -> bool:
        """Return whether the image has nothing besides what is installed."""
        return self._wanted.is_known and not both.reach.is_open

    def _stands_for_image(self, both: ProgramAndImage, wanted: Wanted) -> bool:
        """Return whether a module or a name that is missing here is missing in the job, too."""
        if self._request.python is None:
            return self._is_complete(both)
        is_known = not isinstance(self._job.image, BuiltImage) or self._is_complete(both)
        return is_known and has_the_versions(named_interpreter(self._request.python), self._job, wanted)

    def _unknown_packages(self, both: ProgramAndImage, wanted: Wanted, foreign: list[ForeignImport]) -> str:
        """Return why the script cannot be imported here; empty if it can."""
        if self._request.python is not None or self._is_complete(both):
            return ""
        image = self._job.image
        if isinstance(image, BuiltImage) and image.commands and wanted.turns:
            return ""  # most of its packages are known: a missing one is a note
        return provided(both).reason or "the packages of the image are unknown" if foreign else ""

    def _run_request(self, sandbox: Sandbox) -> RunRequest:
        return RunRequest(
            directory=sandbox.path("run"),
            scratch_dir=sandbox.path("scratch"),
            base_dir=self._inputs.directory,
            python=self._request.python,
            may_install=self._request.may_install,
            command="smspec check",
            verbosity=self._request.verbosity,
        )

    def _note(self, both: ProgramAndImage, message: str, *notes: Note) -> None:
        self.findings.append(unproven(both.path, message, *notes))

    def _nothing_to_prove(self) -> Finding:
        path = ("entry_point",) if self._job.entry_point is not None else ("image",)
        return unproven(path, f"`{path[0]}`: there is no Python script in the source that smspec can check")

    def _script_name(self, both: ProgramAndImage) -> str:
        return os.path.basename(both.reach.texts[0].name)

    @property
    def _is_handler(self) -> bool:
        return isinstance(self._job.entry_point, ModuleEntry | PipeLoopEntry)

    def _source_directory(self) -> str:
        for path in (("source", "dir"), ("source",)):
            name = self._inputs.document.string(path)
            if name is not None:
                return os.path.join(self._inputs.directory, name)
        return self._inputs.directory

    def _texts(self, modules: Iterable[OwnModule], code: str) -> dict[OwnModule, SourceText]:
        texts = {}
        for module in modules:
            with (
                suppress(OSError),
                open(  # a package may have replaced it by a link or a FIFO
                    open_below(code, module.path.split("/")), encoding="utf-8", errors="replace"
                ) as file,
            ):
                texts[module] = SourceText(name=module.written, text=file.read())
        return texts

    def _prefix(self, start: Start) -> str:
        return os.path.dirname(os.path.dirname(os.path.realpath(start.python)))


def _wanted(compiled: Compiled) -> Wanted:
    plan, build_inputs = compiled.plan, compiled.inputs.build_inputs
    tree = render_tree(plan, build_inputs, compiled_digest(plan), builds_image=False)
    startup = build_inputs.startup.environment if build_inputs.startup is not None else None
    return wanted_python(compiled.job, plan, tree, build_inputs.requirements, startup)


def _causes(finding: Finding) -> set[str]:
    """Return the exception of a finding."""
    return {note.message for note in finding.notes[:1] if note.span is None}


def _last(reason: str) -> tuple[Note, ...]:
    return (Note(f"its last line: {reason[:100]}"),) if reason else ()
