from dataclasses import dataclass
from typing import Literal

from transformers import HfArgumentParser


@dataclass
class Arguments:
    epochs: int = 3
    optimizer: Literal["adam", "sgd"] = "adam"


(arguments,) = HfArgumentParser((Arguments,)).parse_args_into_dataclasses()
print(arguments)
