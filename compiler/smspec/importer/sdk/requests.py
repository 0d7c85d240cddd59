"""The request that the SDK sends for a job, with marks for what only a run of the program has."""

from __future__ import annotations

import json
import re

from smspec.importer.imported import NotImported, add_tags, slug
from smspec.importer.sdk.arguments import (
    DEFAULT_MAX_RUN,
    DEFAULT_VOLUME,
    FRAMEWORKS,
    MEMBERS,
    METRICS_OF_TOOLKITS,
    SENDS_METRICS,
    SWITCHES,
    USUAL_LOG_LEVEL,
    WITHOUT_EFFECT,
    arguments_of,
    has_too_many,
)
from smspec.importer.sdk.callables import SubclassInstance
from smspec.importer.sdk.debugging import debugging
from smspec.importer.sdk.images import image_of_call, image_of_estimator, is_image_call, last_word
from smspec.importer.sdk.inputs import channels, input_mode
from smspec.importer.sdk.sdk_facts import Surroundings
from smspec.importer.sdk.sdk_request import (
    NOT_FOLLOWED,
    EntrySource,
    Job,
    Launch,
    SdkRequest,
    encoded,
    launch,
    put,
    queue_arguments,
    script_source,
)
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, Value, joined
from smspec.importer.sdk.variables import NotResolved, Variables, environment_and_tags, hyperparameters

_LOCAL = ("local", "local_gpu")


class RequestOfJob:
    """Makes the request of one job. What cannot be resolved is recorded, and left out."""

    def __init__(self, job: Job, surroundings: Surroundings, variables: Variables) -> None:
        self.job = job
        self.given = arguments_of(job.estimator)
        self.kind = job.class_name
        self.is_framework = self.kind in FRAMEWORKS
        self.surroundings = surroundings
        self.variables = variables
        self.request: dict[str, object] = {}
        self.not_imported: list[NotImported] = []
        self.additions: list[str] = []
        self.region: Value = None
        self._used: set[str] = set()

    def made(self) -> SdkRequest:
        """Return the request and the keys of the spec."""
        stem = self._stem()
        if not self.job.estimator.is_known or has_too_many(self.job.estimator):
            self._lose("arguments", self.job.estimator.doubt or NOT_FOLLOWED)
        if isinstance(self.job.estimator, SubclassInstance):
            kind = self.job.estimator.made_by
            for name, line in kind.overridden().items():
                self._lose(name, f"line {line}: `class {kind.name}` replaces this method, which smspec does not run")
        output = self._output()
        self._image()
        self._resources()
        self._stopping()
        self._members()
        inputs = self._inputs()
        distribution = self._plain("distribution") if self.kind != "Estimator" else None
        started = launch(distribution, self.kind, self._plain("instance_type"))
        source = self._source()
        switches = {**started.switches, **self._compiler()} if source else {}
        self._hyperparameters(output, stem, started, switches)
        self._mode(inputs)
        self._metrics_switch()
        self._debugging(output, distribution)
        queue = queue_arguments(self.job.call, self.variables)
        self.not_imported += queue.not_imported
        add_tags(self.request, queue.tags)
        self._leftover()
        return SdkRequest(
            request=self.request,
            stem=stem,
            region=self._region(),
            source=source,
            launch=started if source else Launch(),
            switches=encoded(switches),
            additions=tuple(self.additions),
            not_imported=tuple(self.not_imported),
            dependencies=self._dependencies() if source else (),
            queue=queue.keys,
        )

    def _lose(self, argument: str, why: str) -> None:
        self.not_imported.append(NotImported((argument,), why))

    def value(self, name: str) -> Value:
        self._used.add(name)
        return self.given.get(name)

    def _plain(self, name: str) -> object:
        """Return an argument as JSON with marks; None, and record it, if it is not resolved."""
        try:
            return self.variables.json(self.value(name), name)
        except NotResolved as why:
            self._lose(name, str(why))
            return None

    def _put(self, path: tuple[str, ...], name: str) -> None:
        value = self._plain(name)
        if value is not None:
            put(self.request, path, value)

    def _stem(self) -> str:
        base = self.value("base_job_name")
        call = self.job.call
        named = arguments_of(call).get("job_name") if call is not None else None
        for value in (base, named):
            text = value.parts[0] if isinstance(value, SdkText) else value
            if isinstance(text, str) and slug(text) != "imported":
                return slug(text)
        return slug(self.job.name if self.job.name != "estimator" else self.kind)

    def _output(self) -> object:
        if self.given.get("role") is None:
            self.given["role"] = self.surroundings.role
            self.additions.append("`role` (of its configuration)")
        self._put(("RoleArn",), "role")
        given = self.value("output_path")
        if given is None:
            given = joined("s3://", self.surroundings.bucket, "/")
            self.additions.append("`output` (default bucket of the session)")
        try:
            output = self.variables.json(given, "uri")
        except NotResolved as why:
            self._lose("output_path", str(why))
            return None
        put(self.request, ("OutputDataConfig", "S3OutputPath"), output)
        if self.value("disable_output_compression") is True:
            put(self.request, ("OutputDataConfig", "CompressionType"), "NONE")
        return output

    def _image(self) -> None:
        here = ("AlgorithmSpecification", "TrainingImage")
        given = self.value("image_uri")
        self.value("compiler_config")
        image = None
        if isinstance(given, SdkInstance) and is_image_call(given):
            image = image_of_call(given, self.surroundings)
        elif given is None and self.is_framework:
            image = image_of_estimator(self.kind, self.given, self.surroundings)
        elif given is not None:
            self._put(here, "image_uri")
            return
        if image is None:
            self._lose("image_uri", "the image of this version, Python, and instance type is not listed")
            put(self.request, here, self.variables.mark(SdkUnknown("training_image"), "image_uri"))
        else:
            put(self.request, here, self.variables.json(image.name, "image_uri"))
            self.region = image.region

    def _compiler(self) -> dict[str, object]:
        """Return the switches of the training compiler."""
        config = self.value("compiler_config")
        if not isinstance(config, SdkInstance):
            return {}
        given = arguments_of(config)
        defaults = {"enabled": True, "debug": False}
        values = {name: self.variables.one(given.get(name, usual), name) for name, usual in defaults.items()}
        return {
            "sagemaker_training_compiler_enabled": values["enabled"],
            "sagemaker_training_compiler_debug_mode": values["debug"],
        }

    def _region(self) -> object:
        try:
            return self.variables.json(self.region, "region")
        except NotResolved:
            return self.variables.mark(self.surroundings.region, "region")

    def _resources(self) -> None:
        here = "ResourceConfig"
        groups = self.value("instance_groups")
        if isinstance(groups, SdkItems) and groups.is_known and all(isinstance(g, SdkInstance) for g in groups.values):
            try:
                listed = [self._group(group) for group in groups.values if isinstance(group, SdkInstance)]
                put(self.request, (here, "InstanceGroups"), listed)
            except NotResolved as why:
                self._lose("instance_groups", str(why))
        else:
            kind = self.given.get("instance_type")
            if kind in _LOCAL:
                self._lose("instance_type", "local mode creates no job; set `hosts.instance_type`")
                self.value("instance_type")
            else:
                self._put((here, "InstanceType"), "instance_type")
            self._put((here, "InstanceCount"), "instance_count")
            if self.kind == "SKLearn" and self.given.get("instance_count") is None:
                put(self.request, (here, "InstanceCount"), 1)
        if self.value("volume_size") is None:
            put(self.request, (here, "VolumeSizeInGB"), DEFAULT_VOLUME)
            self.additions.append(f"`hosts.volume` ({DEFAULT_VOLUME} GB)")
        else:
            self._put((here, "VolumeSizeInGB"), "volume_size")

    def _group(self, group: SdkInstance) -> object:
        given = arguments_of(group)
        names = {"instance_group_name": "InstanceGroupName", "instance_type": "InstanceType"}
        names["instance_count"] = "InstanceCount"
        return {member: self.variables.json(given.get(name), name) for name, member in names.items()}

    def _stopping(self) -> None:
        here = "StoppingCondition"
        put(self.request, (here, "MaxRuntimeInSeconds"), DEFAULT_MAX_RUN)
        self._put((here, "MaxRuntimeInSeconds"), "max_run")
        if self.value("max_wait"):
            self._put((here, "MaxWaitTimeInSeconds"), "max_wait")

    def _members(self) -> None:
        for name, path in MEMBERS.items():
            if self.value(name) is not None:
                self._put(path, name)
        for name, path in SWITCHES.items():
            value = self.value(name)
            if value is True:
                put(self.request, path, True)
            elif value not in (None, False):
                self._lose(name, "its value is known only when the program runs")
        if self.value("checkpoint_s3_uri") is not None:
            self._put(("CheckpointConfig", "S3Uri"), "checkpoint_s3_uri")
            self._put(("CheckpointConfig", "LocalPath"), "checkpoint_local_path")
        self.value("checkpoint_local_path")
        subnets, groups = self.value("subnets"), self.value("security_group_ids")
        if subnets is not None and groups is not None:
            self._put(("VpcConfig", "Subnets"), "subnets")
            self._put(("VpcConfig", "SecurityGroupIds"), "security_group_ids")
        if self.kind == "RLEstimator" and self.given.get("metric_definitions") is None:
            metrics = METRICS_OF_TOOLKITS.get(last_word(self.given.get("toolkit")), [])
            if metrics:
                put(self.request, MEMBERS["metric_definitions"], metrics)
                self.additions.append("`metrics` of the toolkit")
        found, lost = environment_and_tags(self.value("environment"), self.value("tags"), self.variables)
        self.request.update(found)
        self.not_imported += lost

    def _inputs(self) -> Value:
        call = self.job.call
        if call is None:
            if self.job.start:
                self._lose("inputs", self.job.start)
            else:
                self.additions.append("no channels (the program creates the estimator only)")
            return None
        inputs = arguments_of(call).get("inputs")
        if not call.is_known:
            self._lose("inputs", "some arguments of the call are known only when the program runs")
        found, lost = channels(inputs, self.variables)
        more, lost_too = channels(self._model(), self.variables)
        self.not_imported += [*lost, *lost_too]
        if found or more:
            self.request["InputDataConfig"] = [*found, *more]
        return inputs

    def _model(self) -> Value:
        """Return the channel of a model to start from, as an input of its own."""
        model = self.value("model_uri")
        if model is None:
            return None
        name = self.given.get("model_channel_name", "model")
        made = SdkInstance("TrainingInput", [], {"s3_data": model, "input_mode": "File"}, self.job.place)
        made.arguments["content_type"] = "application/x-sagemaker-model"
        return Entries({name if isinstance(name, str) else "model": made})

    def _mode(self, inputs: Value) -> None:
        put(self.request, ("AlgorithmSpecification", "TrainingInputMode"), "File")
        self._put(("AlgorithmSpecification", "TrainingInputMode"), "input_mode")
        mode = input_mode(inputs)
        if isinstance(mode, str):
            put(self.request, ("AlgorithmSpecification", "TrainingInputMode"), mode)

    def _source(self) -> EntrySource | None:
        script, directory = self.value("entry_point"), self.value("source_dir")
        level = self.given.get("container_log_level", USUAL_LOG_LEVEL)
        if level != USUAL_LOG_LEVEL and "container_log_level" in self.given:
            self._lose("container_log_level", "set the level in the script")
        for name in ("dependencies", "git_config"):
            if self.value(name) is not None and not _is_empty(self.given[name]):
                why = "copy these files to the source directory" if name == "dependencies" else "clone the repository"
                self._lose(name, f"{why} next to the spec")
        if script is None and directory is None:
            return None
        found = script_source(self._plain("entry_point"), self._plain("source_dir"))
        if found is None:
            self._lose("entry_point", "it is not the path of a script")
        return found

    def _dependencies(self) -> tuple[str, ...]:
        value = self.given.get("dependencies")
        if not isinstance(value, SdkItems) or not value.is_known:
            return ()
        # The argument is reported: what is no text has no path to copy.
        texts = (item for item in value.values if isinstance(item, str | SdkText | SdkUnknown))
        return tuple(str(self.variables.json(item, "dependencies")) for item in texts)

    def _hyperparameters(self, output: object, stem: str, started: Launch, switches: dict[str, object]) -> None:
        as_json = self.is_framework or self.given.get("source_dir") is not None
        sent, lost = hyperparameters(self.value("hyperparameters"), self.variables, as_json=as_json)
        later, more = hyperparameters(self.given.get("set_hyperparameters"), self.variables, as_json=as_json)
        sent |= later
        self.not_imported += [*lost, *more]
        if "mp_parameters" in switches:
            sent["mp_parameters"] = json.dumps(switches.pop("mp_parameters"))
        if self.kind == "TensorFlow" and self.value("model_dir") is not False:
            given = self._plain("model_dir")
            if not given:
                self.additions.append("`hyperparameters.model_dir`")
                given = "/opt/ml/model" if started.is_mpi else f"{str(output).rstrip('/')}/{stem}/model"
            sent["model_dir"] = json.dumps(given)
        if self.kind == "RLEstimator":
            switches |= {"sagemaker_s3_output": output, "sagemaker_estimator": "RLEstimator"}
        if sent:
            self.request["HyperParameters"] = sent

    def _metrics_switch(self) -> None:
        given = self._plain("enable_sagemaker_metrics")
        if given is None and "enable_sagemaker_metrics" not in self.given and self._has_metrics():
            given = True
            self.additions.append("`EnableSageMakerMetricsTimeSeries`")
        if given is not None:
            put(self.request, ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"), given)

    def _has_metrics(self) -> bool:
        first = SENDS_METRICS.get(self.kind)
        if first is None or first == (0, 0):
            return first is not None
        version = self.given.get("framework_version")
        numbers = re.match(r"(\d+)\.(\d+)", version) if isinstance(version, str) else None
        return numbers is not None and (int(numbers[1]), int(numbers[2])) >= first

    def _debugging(self, output: object, distribution: object) -> None:
        names = ("debugger_hook_config", "rules", "profiler_config", "tensorboard_output_config", "disable_profiler")
        given = {name: self.value(name) for name in names}
        is_off = self._hook_is_off(distribution)
        found, lost, added = debugging(given, output, self.variables, hook_is_off=is_off)
        self.request.update(found)
        self.additions += added
        self.not_imported += lost

    def _hook_is_off(self, distribution: object) -> bool:
        """Return whether the SDK turns the debugger off: it does not support these jobs."""
        if self.kind == "TensorFlow" and isinstance(distribution, dict):
            server = distribution.get("parameter_server")
            if isinstance(server, dict) and server.get("enabled") is True:
                return True
        has_checkpoints = self.given.get("checkpoint_s3_uri") and self.given.get("checkpoint_local_path")
        count = self.given.get("instance_count")
        always = self.kind in ("PyTorch", "TensorFlow")  # they have a distribution, if only an empty one
        is_several = always or bool(distribution) or (isinstance(count, int) and count > 1)
        return bool(self.kind in ("MXNet", "PyTorch", "TensorFlow") and has_checkpoints and is_several)

    def _leftover(self) -> None:
        for name, value in self.given.items():
            if name not in self._used and name not in WITHOUT_EFFECT and value is not None:
                self._lose(name, "the request has no member for it, or smspec does not know it")


def _is_empty(value: Value) -> bool:
    return isinstance(value, SdkItems) and value.is_known and not value.values
