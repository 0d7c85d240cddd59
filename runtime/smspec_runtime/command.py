"""What is started in the end: the program of the job, by itself or through a launcher."""

from typing import Dict, List, NamedTuple


class Command(NamedTuple):
    """``words`` as a shell passes them on; ``variables`` that a launcher adds to the environment."""

    words: List[str]
    variables: Dict[str, str] = {}
