"""The request that `ModelTrainer` of the SDK's version 3 sends, with marks for what only a run of the program has.

Its code and how that starts are keys of a spec.

The defaults are those of sagemaker-train 1.27.0 (Apache-2.0), `defaults.py` and `model_trainer.py`.
"""

from __future__ import annotations

from smspec.importer.imported import NotImported, add_tags, slug
from smspec.importer.sdk.arguments import DEFAULT_VOLUME, arguments_of, as_member, shape_at, structure
from smspec.importer.sdk.images import image_of_call, is_image_call
from smspec.importer.sdk.inputs import trainer_channels
from smspec.importer.sdk.sdk_facts import Surroundings
from smspec.importer.sdk.sdk_request import (
    NOT_FOLLOWED,
    EntrySource,
    Job,
    Launch,
    SdkRequest,
    put,
    queue_arguments,
    script_source,
)
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, Value, joined
from smspec.importer.sdk.variables import NotResolved, Variables, environment_and_tags, hyperparameters
from smspec.script.follow.values import Named
from smspec.source.frozen import replace

DEFAULT_INSTANCE_TYPE = "ml.m5.xlarge"
DEFAULT_MAX_RUNTIME = 3_600
RECIPE = "training_recipe"
_CHECKPOINTS = "/opt/ml/checkpoints"
_WHOLE = {
    "training_image_config": ("AlgorithmSpecification", "TrainingImageConfig"),
    "model_package_config": ("ModelPackageConfig",),
    "with_tensorboard_output_config": ("TensorBoardOutputConfig",),
    "with_retry_strategy": ("RetryStrategy",),
    "with_infra_check_config": ("InfraCheckConfig",),
    "with_session_chaining_config": ("SessionChainingConfig",),
    "with_remote_debug_config": ("RemoteDebugConfig",),
    "with_metric_definitions": ("AlgorithmSpecification", "MetricDefinitions"),
}
"""Argument, or method that sets it → the member that it is."""

_WITHOUT_EFFECT = frozenset(
    ("training_mode", "sagemaker_session", "base_job_name", "input_s3_key_prefix", "local_container_root", "config_mgr")
)
_OWN = "channels `code` and `sm_drivers` and its start command, for which the spec has `delivery: channel`"

_NOT_KNOWN = "its value is known only when the program runs"
_REQUIREMENTS = (None, "auto", "requirements.txt", "./requirements.txt")


class RequestOfTrainer:
    """Makes the request of one job. What cannot be resolved is recorded, and left out."""

    def __init__(self, job: Job, surroundings: Surroundings, variables: Variables) -> None:
        self.job = job
        self.given = arguments_of(job.estimator)
        self.surroundings = surroundings
        self.variables = variables
        self.request: dict[str, object] = {}
        self.not_imported: list[NotImported] = []
        self.additions: list[str] = []
        self.region: Value = None
        self._used: set[str] = set()

    def made(self) -> SdkRequest:
        """Return the request and the keys of the spec."""
        if not self.job.estimator.is_known or self.job.estimator.positional:
            self._lose("arguments", self.job.estimator.doubt or NOT_FOLLOWED)
        if self.value(RECIPE) is not None:
            self._lose(RECIPE, "smspec does not read recipes; write `source` and `image` into the spec")
        stem = self._stem()
        put(self.request, ("RoleArn",), self._json("role", self.surroundings.role))
        self._algorithm()
        self._compute()
        self._stopping()
        self._output()
        self._networking()
        self._checkpoints()
        for name, path in _WHOLE.items():
            self._put_whole(name, path)
        found, lost = environment_and_tags(self.value("environment"), self.value("tags"), self.variables)
        self.request.update(found)
        self.not_imported += lost
        self._inputs()
        self._hyperparameters()
        source, lost = trainer_source(self.value("source_code"), self.variables)
        started, lost_too = trainer_launch(self.value("distributed"), self.variables)
        self.not_imported += [*lost, *lost_too]
        if source is not None:
            self.additions.append(_OWN)
        self._leftover()
        queue = queue_arguments(self.job.call, self.variables)
        self.not_imported += queue.not_imported
        add_tags(self.request, queue.tags)
        return SdkRequest(
            request=self.request,
            stem=stem,
            region=self._region(),
            source=source,
            launch=started if source else Launch(),
            switches={},
            additions=tuple(self.additions),
            not_imported=tuple(self.not_imported),
            dependencies=(),
            delivery="channel",
            queue=queue.keys,
        )

    def _lose(self, argument: str, why: str) -> None:
        self.not_imported.append(NotImported((argument,), why))

    def value(self, name: str) -> Value:
        self._used.add(name)
        return self.given.get(name)

    def _json(self, name: str, usual: Value) -> object:
        value = self.value(name)
        try:
            return self.variables.json(usual if value is None else value, name)
        except NotResolved as why:
            self._lose(name, str(why))
            return None

    def _stem(self) -> str:
        value = self.given.get("base_job_name")
        text = value.parts[0] if isinstance(value, SdkText) else value
        return slug(text if isinstance(text, str) else self.job.name)

    def _attributes(self, name: str) -> dict[str, Value] | None:
        """Return the attributes of an object, or of a mapping; None, and record it, if they are not known."""
        value = self.value(name)
        if value is None:
            return {}
        if isinstance(value, SdkInstance) and value.is_known and not value.positional:
            return dict(value.arguments)
        if isinstance(value, Entries) and value.is_known:
            return {str(key): inner for key, inner in value.values.items()}
        self._lose(name, "its value is known only when the program runs")
        return None

    def _put_attributes(self, name: str, path: tuple[str, ...], given: dict[str, Value]) -> None:
        try:
            for member, value in structure(given, shape_at(*path), self.variables).items():
                put(self.request, (*path, member), value)
        except NotResolved as why:
            self._lose(name, str(why))

    def _put_whole(self, name: str, path: tuple[str, ...]) -> None:
        value = self.value(name)
        if value is None:
            return
        try:
            put(self.request, path, as_member(value, shape_at(*path), self.variables, name))
        except NotResolved as why:
            self._lose(name, str(why))

    def _algorithm(self) -> None:
        here = "AlgorithmSpecification"
        given = self.value("training_image")
        if isinstance(given, SdkInstance) and is_image_call(given):
            image = image_of_call(given, self.surroundings)
            self.region = image.region if image else None
            given = image.name if image else SdkUnknown("training_image")
        if given is not None:
            try:
                put(self.request, (here, "TrainingImage"), self.variables.json(given, "image_uri"))
            except NotResolved as why:
                self._lose("training_image", str(why))
        elif self.value("algorithm_name") is not None:
            put(self.request, (here, "AlgorithmName"), self._json("algorithm_name", None))
        put(self.request, (here, "TrainingInputMode"), self._json("training_input_mode", "File"))

    def _compute(self) -> None:
        given = self._attributes("compute")
        if given is None:
            return
        is_spot = given.pop("enable_managed_spot_training", None)
        if is_spot is True:
            self.request["EnableManagedSpotTraining"] = True
        elif is_spot not in (None, False):
            self._lose("compute.enable_managed_spot_training", "its value is known only when the program runs")
        if not given.get("instance_groups") and not given.get("instance_preferences"):
            for name, usual in (("instance_type", DEFAULT_INSTANCE_TYPE), ("instance_count", 1)):
                if given.get(name) is None:
                    given[name] = usual
                    self.additions.append(f"`{name}` ({usual})")
        if given.get("volume_size_in_gb") is None:
            given["volume_size_in_gb"] = DEFAULT_VOLUME
            self.additions.append(f"`hosts.volume` ({DEFAULT_VOLUME} GB)")
        self._put_attributes("compute", ("ResourceConfig",), given)

    def _stopping(self) -> None:
        given = self._attributes("stopping_condition")
        if given is None:
            return
        if given.get("max_runtime_in_seconds") is None:
            given["max_runtime_in_seconds"] = DEFAULT_MAX_RUNTIME
            self.additions.append("`stopping.max_runtime` (1h)")
        self._put_attributes("stopping_condition", ("StoppingCondition",), given)

    def _base_name(self) -> Value:
        """Return the name of the job without its date, which is the prefix of its results."""
        base, algorithm = self.given.get("base_job_name"), self.given.get("algorithm_name")
        if base is not None:
            return base
        if algorithm is not None:
            return joined(algorithm, "-job")
        image = self.given.get("training_image")
        if isinstance(image, SdkInstance) and is_image_call(image):
            found = image_of_call(image, self.surroundings)
            image = found.name if found is not None else SdkUnknown("training_image")
        last = image.parts[-1] if isinstance(image, SdkText) else image
        if not isinstance(last, str) or (last is not image and "/" not in last):
            return SdkUnknown("base_job_name", is_text=True)
        return f"{last.split('/')[-1].split(':')[0]}-job"

    def _output(self) -> None:
        given = self._attributes("output_data_config")
        if given is None:
            return
        if given.get("s3_output_path") is None:
            given["s3_output_path"] = joined("s3://", self.surroundings.bucket, "/", self._base_name())
            self.additions.append("`output` (default bucket of the session)")
        if given.get("compression_type") is None:
            given["compression_type"] = "GZIP"
        self._put_attributes("output_data_config", ("OutputDataConfig",), given)

    def _networking(self) -> None:
        given = self._attributes("networking") or {}
        switches = {
            "enable_network_isolation": "EnableNetworkIsolation",
            "enable_inter_container_traffic_encryption": "EnableInterContainerTrafficEncryption",
        }
        for name, member in switches.items():
            value = given.pop(name, None)
            if isinstance(value, bool):
                self.request[member] = value
            elif value is not None:
                self._lose(f"networking.{name}", "its value is known only when the program runs")
        if any(value is not None for value in given.values()):
            self._put_attributes("networking", ("VpcConfig",), given)

    def _checkpoints(self) -> None:
        names = [name for name in ("checkpoint_config", "with_checkpoint_config") if self.value(name) is not None]
        given = self._attributes(names[-1]) if names else None
        if given is None:
            return
        if given.get("s3_uri") is None:
            given["s3_uri"] = SdkUnknown("checkpoints", is_text=True)
            self._lose(names[-1], "the SDK makes a new URI for each job; set `checkpoints`")
        given.setdefault("local_path", _CHECKPOINTS)
        self._put_attributes(names[-1], ("CheckpointConfig",), given)

    def _inputs(self) -> None:
        call = self.job.call
        listed: list[Value] = [self.value("input_data_config")]
        if call is None:
            if self.job.start:
                self._lose("input_data_config", self.job.start)
            else:
                self.additions.append("no channels (the program creates the trainer only)")
        else:
            own = arguments_of(call)
            listed.append(own.get("input_data_config", call.positional[0] if call.positional else None))
            if not call.is_known:
                self._lose("train", "its arguments are known only when the program runs")
        found, uploads, lost = trainer_channels(listed, self.variables)
        self.not_imported += lost
        for name, path in uploads.items():
            self._lose(f"input_data_config.{name}", f"the SDK uploads `{path}`; upload it, and set its variable")
        if found:
            self.request["InputDataConfig"] = found

    def _hyperparameters(self) -> None:
        value = self.value("hyperparameters")
        if isinstance(value, str):
            self._lose("hyperparameters", f"the SDK reads them from the file `{value}`")
            return
        sent, lost = hyperparameters(value, self.variables, as_json=False, is_serialized=True)
        self.not_imported += lost
        if sent:
            self.request["HyperParameters"] = sent

    def _region(self) -> object:
        try:
            return self.variables.json(self.region, "region")
        except NotResolved:
            return self.variables.mark(self.surroundings.region, "region")

    def _leftover(self) -> None:
        mode = self.given.get("training_mode")
        if isinstance(mode, Named) and mode.name.endswith("LOCAL_CONTAINER"):
            self._lose("training_mode", "local mode creates no job; the spec is for SageMaker")
        for name, value in self.given.items():
            if name not in self._used and name not in _WITHOUT_EFFECT and value is not None:
                self._lose(name, "the request has no member for it, or smspec does not know it")


def trainer_source(code: Value, variables: Variables) -> tuple[EntrySource | None, list[NotImported]]:
    """Return the directory and the script of SourceCode; None if there is no script. Also what is not imported."""
    if code is None:
        return None, []
    if not isinstance(code, SdkInstance) or not code.is_known or code.positional:
        return None, [NotImported(("source_code",), _NOT_KNOWN)]
    given = code.arguments
    lost = []
    if given.get("requirements") not in _REQUIREMENTS:
        lost.append(NotImported(("source_code", "requirements"), "smspec installs `requirements.txt` only; rename it"))
    if given.get("args") is not None:
        lost.append(NotImported(("source_code", "args"), "smspec passes hyperparameters only; add them there"))
    if given.get("entry_script") is None:
        why = "set `source`, and the command as `entry_point.command`"
        return None, [*lost, NotImported(("source_code", "command"), why)]
    if given.get("command") is not None:
        lost.append(NotImported(("source_code", "command"), "the SDK starts it instead of the script"))
    try:
        script = variables.json(given["entry_script"], "entry_point")
        found = script_source(script, variables.json(given.get("source_dir"), "source_dir"))
    except NotResolved as why_not:
        return None, [*lost, NotImported(("source_code",), str(why_not))]
    if found is None or found.archive is not None or found.directory.endswith(".tar.gz"):
        return None, [*lost, NotImported(("source_code", "source_dir"), "copy its files next to the spec")]
    ignore, more = _ignored(given.get("ignore_patterns"))
    return (found if found.is_alone else replace(found, ignore=ignore)), [*lost, *more]


def _ignored(given: Value) -> tuple[tuple[str, ...], list[NotImported]]:
    """Return the patterns of names, as .gitignore has them, and what is not known of them."""
    if given is None:
        return (), []
    path = ("source_code", "ignore_patterns")
    known = given.values if isinstance(given, SdkItems) else []
    patterns = [value for value in known if isinstance(value, str) and value]
    lost = []
    if not isinstance(given, SdkItems) or not given.is_known or not all(isinstance(value, str) for value in known):
        lost.append(NotImported(path, "some are known only when the program runs; add them to `source.ignore`"))
    if unlike := [pattern for pattern in patterns if "/" in pattern]:
        lost.append(
            NotImported(path, f"the SDK compares names, so `{unlike[0]}` excludes nothing there, but files here")
        )
    return tuple(f"\\{pattern}" if pattern[0] in "!#" else pattern for pattern in patterns), lost


def trainer_launch(distributed: Value, variables: Variables) -> tuple[Launch, list[NotImported]]:
    """Return how the processes start, and what is not imported."""
    if distributed is None:
        return Launch(), []
    kind = distributed.kind.rpartition(".")[2] if isinstance(distributed, SdkInstance) else ""
    if not isinstance(distributed, SdkInstance) or not distributed.is_known or kind not in ("Torchrun", "MPI"):
        return Launch(), [NotImported(("distributed",), "it is neither `Torchrun` nor `MPI`, or not known")]
    given = distributed.arguments
    lost = []
    if given.get("smp") is not None:
        lost.append(NotImported(("distributed", "smp"), "set `mp_parameters` in `hyperparameters`"))
    key: dict[str, object] = {}
    try:
        if given.get("process_count_per_node") is not None:
            key["processes_per_host"] = variables.json(given["process_count_per_node"], "processes_per_host")
        if kind == "MPI" and given.get("mpi_additional_options") is not None:
            key["options"] = variables.json(given["mpi_additional_options"], "options")
    except NotResolved as why:
        lost.append(NotImported(("distributed",), str(why)))
    name = "mpi" if kind == "MPI" else "torchrun"
    return Launch(key={name: key} if key else name, is_mpi=kind == "MPI"), lost
