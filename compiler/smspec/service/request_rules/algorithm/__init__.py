"""AlgorithmSpecification: the image, its command and its metrics."""

from __future__ import annotations

from smspec.service.request_rules.algorithm import (
    image_beside_algorithm_name,
    neither_image_nor_algorithm_name,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    image_beside_algorithm_name.check,
    neither_image_nor_algorithm_name.check,
)
