"""BlazingText has modes, each with its own hyperparameters, channels, and hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.algorithms import AlgorithmMode, algorithm_modes, as_of
from smspec.service.facts.instances import instance
from smspec.service.member_names import shown
from smspec.service.members import items, structure
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM499", "setting of a different mode", "warning", evidence="devguide")

_MODE = "mode"


def check(request: Request) -> Iterator[Finding]:
    """Warn about what the guide lists for other modes only."""
    algorithm = built_in_algorithm(request)
    modes = () if algorithm is None else algorithm_modes(algorithm.name)
    passed = structure(request.payload, "HyperParameters")
    chosen = next((mode for mode in modes if mode.name == passed.get(_MODE)), None)
    if chosen is None:
        return
    word = request.word("HyperParameters", "hyperparameters")
    for name in passed:
        usual = [mode.name for mode in modes if name in mode.hyperparameters]
        if usual and name not in chosen.hyperparameters:
            yield _finding(("HyperParameters", name), f"{word}.{shown(name)}", chosen, usual, on="key")
    for channel in request.channels:
        usual = [mode.name for mode in modes if channel.name in mode.channels]
        if usual and channel.name not in chosen.channels:
            path = (*channel.path, "ChannelName")
            yield _finding(path, f"{request.word('InputDataConfig', 'channels')}.{channel.name}", chosen, usual)
    yield from _of_hosts(request, chosen, modes)


def _of_hosts(request: Request, chosen: AlgorithmMode, modes: tuple[AlgorithmMode, ...]) -> Iterator[Finding]:
    count = request.host_count
    if count is not None and count > 1 and chosen.hosts == "one":
        is_grouped = bool(items(request.payload, "ResourceConfig", "InstanceGroups"))
        key, name = ("InstanceGroups", "hosts.groups") if is_grouped else ("InstanceCount", "hosts.count")
        usual = [mode.name for mode in modes if mode.hosts == "several"]
        yield _finding(("ResourceConfig", key), f"{request.word(key, name)}: {count:,}", chosen, usual)
    kinds = [(path, kind, instance(kind)) for path, kind in request.instance_types]
    if "gpu" not in chosen.devices and kinds and all(facts is not None and facts.gpus for _, _, facts in kinds):
        yield RULE.at(
            kinds[0][0],
            f"{HERE}: mode `{chosen.name}` is not listed for GPUs {as_of()}",
            help="use a type without GPUs, such as `ml.c5.xlarge`",
        )


def _finding(
    path: Path, what: str, chosen: AlgorithmMode, usual: list[str], *, on: Literal["key", "value"] = "value"
) -> Finding:
    listed = " or ".join(f"`{name}`" for name in usual[:2])
    return RULE.at(
        path,
        f"`{what}` is not listed for mode `{chosen.name}` {as_of()}",
        help=f"remove it, or set `mode` to {listed}",
        on=on,
    )
