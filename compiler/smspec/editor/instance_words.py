"""What an editor shows about an instance type: its devices, memory, and price."""

from __future__ import annotations

import os

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.service.facts.instances import instance
from smspec.service.job_costs import JobPrices, PriceBook


def prices_for(path: str | None, region: str | None) -> JobPrices:
    """Return the prices that the organization lists for a spec; none if they cannot be read."""
    try:
        policy = None if path is None else InputCache().policy(os.path.dirname(path))
    except (InvalidInput, OSError):
        policy = None
    return (PriceBook() if policy is None else policy.prices).of({}, region)


def instance_words(kind: str, prices: JobPrices) -> str:
    """Return the facts about an instance type on one line; empty if nothing is known."""
    facts = instance(kind)
    words: list[str] = []
    if facts is not None:
        if facts.vcpus is not None:
            words.append(f"{facts.vcpus} vCPU")
        if facts.memory_bytes is not None:
            words.append(f"{facts.memory_bytes >> 30} GiB")
        if facts.gpus:
            words.append(f"{facts.gpus} GPU" + ("s" if facts.gpus > 1 else ""))
        if facts.neuron_cores:
            words.append(f"{facts.neuron_cores} Neuron cores")
        if facts.nvme_gb:
            words.append(f"{facts.nvme_gb} GB NVMe")
        if facts.efa_interfaces:
            words.append("EFA")
    price = prices.price(kind)
    if price is not None:
        as_of = f", as of {price.as_of}" if price.as_of else ""
        words.append(f"{float(price.amount):.2f} {price.currency}/h{as_of}")
    return " · ".join(words)
