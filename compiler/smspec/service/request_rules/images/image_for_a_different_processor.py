"""Software for Neuron devices does not run on other instances, and CUDA does not run on Neuron devices."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.processors import processors
from smspec.service.request import IMAGE, Request

RULE = Rule("SM489", "image for a different processor", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a Neuron image without Neuron instances, and a CUDA image on Neuron instances alone."""
    image = request.provided_image
    types = dict.fromkeys(kind for _, kind in request.instance_types)
    hosts = processors(types)
    if image is None or not hosts:
        return
    is_for_neuron = image.processors == {"neuron"}
    if (is_for_neuron and "neuron" not in hosts) or (image.processors == {"gpu"} and hosts == {"neuron"}):
        has, lacks = ("Neuron", "Neuron devices") if is_for_neuron else ("CUDA", "GPUs")
        listed = ", ".join(f"`{kind}`" for kind in [*types][:3])
        yield RULE.at(
            IMAGE,
            f"{HERE} is a {has} image, but {listed} {'has' if len(types) == 1 else 'have'} no {lacks}",
            help="use an instance type such as `ml.trn1.2xlarge`, or a different image"
            if is_for_neuron
            else "use a Neuron image, such as `pytorch-training-neuronx`, or instances with GPUs",
        )
