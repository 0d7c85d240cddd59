"""How many jobs of notebooks `import` can read, and whether their requests say what the SDK's do.

    SMSPEC_PEERS_PYTHON=peers/bin/python python tests/benchmarks/notebooks.py DIR… [--list] [--json FILE]

Reads every .ipynb and .py below the directories. SMSPEC_PEERS_PYTHON names a Python that has version 2 of the SageMaker
SDK; it gets the arguments of each call, with the same placeholders for what only a run has, and records the request.
A job counts as resolved if its arguments are known, but for single values, and the SDK makes a request of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from smspec.diagnostics import InvalidInput
from smspec.importer.imported import RequestNotFound
from smspec.importer.request_equality import differences
from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.call_requests import CALL
from smspec.importer.sdk.notebook import is_sdk_program
from smspec.importer.sdk.requests import RequestOfJob
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, is_constant
from smspec.importer.sdk.variables import Variables
from smspec.importer.spec_writer import write_spec
from smspec.pipeline.compilation import Compiled, compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.plan import with_image_uri
from smspec.plan.request_planning import make_plan
from smspec.script.follow.values import Named
from smspec.service.facts.images import images_of
from smspec.source import SourceText, dotted
from smspec.spec.decoding import decode

OF_EACH_JOB = ("sagemaker_job_name", "sagemaker_region", "sagemaker_container_log_level", "sagemaker_submit_directory")
NO_ARGUMENT = ("sagemaker_session",)


class NotKnown(Exception):
    """An argument that reading cannot resolve."""


class Arguments:
    """The arguments of a job as JSON for the SDK, with the placeholders of its spec."""

    def __init__(self, placeholders):
        self.placeholders = placeholders

    def of(self, value, argument=""):
        if not is_constant(value) and id(value) in self.placeholders:
            return self.placeholders[id(value)]
        if isinstance(value, SdkUnknown):
            return self._placeholder(value, argument)
        if isinstance(value, SdkText):
            return "".join(p if isinstance(p, str) else str(self._placeholder(p, argument)) for p in value.parts)
        if isinstance(value, SdkItems | Entries | SdkInstance) and not value.is_known:
            raise NotKnown(argument)
        if isinstance(value, SdkItems):
            items = [self.of(item, argument) for item in value.values]
            return {"tuple": items} if value.is_fixed else items
        if isinstance(value, Entries):
            return {"dict": [[key, self.of(item, str(key))] for key, item in value.values.items()]}
        if isinstance(value, SdkInstance):
            named = {name: self.of(item, name) for name, item in value.arguments.items()}
            positional = [self.of(item, argument) for item in value.positional]
            return {"new": {"kind": value.kind, "positional": positional, "named": named}}
        if isinstance(value, Named) and value.name.startswith("sagemaker."):
            return {"reference": value.name}
        if is_constant(value):
            return value
        raise NotKnown(argument)

    def _placeholder(self, value, argument):
        if id(value) not in self.placeholders:
            variables = Variables()
            variables.mark(value, argument)
            self.placeholders[id(value)] = next(iter(variables.declared.values())).placeholder
        return self.placeholders[id(value)]


def question(job, variables):
    """Return what the SDK needs to make the request of a job; raise `NotKnown`."""
    names = {id(each): variables.declared[variables._names[id(each)]].placeholder for each in variables._kept}
    arguments = Arguments(names)
    given = SdkInstance(job.estimator.kind, job.estimator.positional, dict(job.estimator.arguments), job.place)
    for name in NO_ARGUMENT:
        given.arguments.pop(name, None)
    given.is_known = job.estimator.is_known
    if job.call is not None and not job.call.is_known:
        raise NotKnown("fit")
    call = {} if job.call is None else arguments_of(job.call)
    if isinstance(call.get("inputs"), SdkUnknown) and not call["inputs"].is_text:
        raise NotKnown("inputs")
    inputs = [["inputs", arguments.of(call["inputs"], "uri")]] if "inputs" in call else []
    for name in ("hyperparameters", "distribution", "metric_definitions", "tags", "environment", "instance_groups"):
        if isinstance(given.arguments.get(name), SdkUnknown):
            raise NotKnown(name)
    return {"estimator": arguments.of(given), "call": {"dict": inputs}, "role": "role"}


def normal(request, name):
    """Return a request without what differs for every job of the SDK."""
    request = {key: value for key, value in request.items() if key != "TrainingJobName" and value not in ({}, [])}
    parameters = {}
    for key, value in request.get("HyperParameters", {}).items():
        if key in OF_EACH_JOB or (key.endswith("custom_mpi_options") and value == '""'):
            continue
        try:
            parameters[key] = json.loads(value.replace("/the-job/", f"/{name}/"))
        except ValueError:
            parameters[key] = value.replace("/the-job/", f"/{name}/")
    request["HyperParameters"] = parameters
    for hook in [request.get("DebugHookConfig", {})]:
        hook.get("CollectionConfigurations", []).sort(key=str)
    algorithm = dict(request["AlgorithmSpecification"])
    algorithm["TrainingImage"] = listed(algorithm.get("TrainingImage", ""))
    request["AlgorithmSpecification"] = algorithm
    return request


def listed(uri):
    """Return the URI with the full tag of its image."""
    registry, _, image = uri.rpartition("/")
    repository, _, tag = image.partition(":")
    for each in images_of(repository):
        # The SDK may shorten the version of the framework below Transformers, too.
        shorter = {re.sub(r"^(\d+\.\d+)\.\d+-transformers", r"\1-transformers", known) for known in each.tags}
        if tag in shorter.union(each.tags) and each.is_of_sdk:
            return f"{registry}/{repository}:{each.usual_tag}"
    return uri


def spec_request(imported):
    """Return the request that the spec renders, and why there is none."""
    written = write_spec(imported)
    try:
        text = SourceText("job.yaml", written.text)
        compilation = compile_spec(in_memory_inputs(text, written.settings, written.script))
    except InvalidInput as fault:
        return None, str(fault.diagnostics[0].message)
    if isinstance(compilation, Compiled):
        return compilation.plan.request.payload, ""
    fault = next(d.message for d in compilation.diagnostics if d.severity == "error")
    if compilation.facts is None:
        return None, fault
    inputs = in_memory_inputs(text, written.settings, written.script)
    job, _ = with_image_uri(decode(inputs.document), None)
    return make_plan(job, inputs.build_inputs).request.payload, fault


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true", help="print each job that is not equal")
    options = parser.parse_args()
    python = os.environ.get("SMSPEC_PEERS_PYTHON", sys.executable)
    child = Path(__file__).with_name("sdk_requests.py")
    sdk = subprocess.Popen(
        [python, str(child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    counts: Counter[str] = Counter()
    slowest = (0.0, "")
    for path in sorted(p for d in options.directories for p in d.rglob("*") if is_sdk_program(p.name) and p.is_file()):
        counts["files"] += 1
        content = path.read_bytes()
        start = time.perf_counter()
        try:
            found = found_jobs(path.name, content)
        except RequestNotFound as why:
            counts[f"unreadable: {why}"] += 1
            continue
        slowest = max(slowest, (time.perf_counter() - start, str(path)))
        for index, job in enumerate(found.jobs, start=1):
            outcome, details = judged(found, job, index, sdk)
            counts["calls"] += 1
            counts[outcome] += 1
            if options.list and outcome != "equal":
                print(f"{path}: {job.place} {job.class_name}: {outcome}: {details}")
    sdk.stdin.close()
    sdk.wait()
    for name, count in counts.most_common():
        print(f"{count:6} {name}")
    resolved = sum(counts[name] for name in ("equal", "equal, with errors that smspec reports", "different", "no spec"))
    print(f"{resolved} resolved, {counts['equal'] / max(1, resolved):.1%} equal")
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")


def judged(found, job, index, sdk):
    """Return the outcome of one job, and details."""
    if job.call is None:
        return "never started", ""
    if job.class_name == CALL:
        return "a call of boto3", ""
    imported = imported_job(found, str(index))
    variables = Variables()
    RequestOfJob(job, found.following.surroundings, variables).made()
    try:
        asked = question(job, variables)
    except NotKnown as argument:
        return "not resolved", str(argument)
    print(json.dumps(asked), file=sdk.stdin, flush=True)
    answer = json.loads(sdk.stdout.readline())
    if "refused" in answer:
        return "refused by the SDK", answer["refused"][:200]
    payload, fault = spec_request(imported)
    if payload is None:
        return "no spec", fault
    unlike = list(differences(normal(payload, imported.stem), normal(answer["request"], imported.stem)))
    if unlike:
        return "different", "; ".join(sorted(map(dotted, unlike)))[:300]
    return ("equal, with errors that smspec reports", fault) if fault else ("equal", "")


if __name__ == "__main__":
    main()
