"""Lines that are never the reason, or outweigh an exception."""

import re

from ..lean_typing import List
from ..progress_bar import split_bar

_LEVEL = re.compile(
    r"(?:\[?\d{2,4}[-:/]\d\d\S*.{0,60}?[\s\[|(-]|[\[(<|\s]*)"
    r"(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b[\])>:\s|-]"
)
_QUIET = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING")
_DECISIVE = re.compile(r"\W*(?:\S+: )?(?:fatal|critical|panic)\b|\S+: error: ", re.IGNORECASE)
_ALARMING = re.compile(
    r"\b(?:fatal|errors?|fail(?:ed|ure|s)?|cannot|can't|could not|unable|abort(?:ed|ing)?|panic|critical|exception"
    r"|killed|no such|not found|missing|denied|refused|invalid|illegal|exceed(?:s|ed)|giving up|exiting"
    r"|terminate called|panicked|corruption|smashing)\b",
    re.IGNORECASE,
)
_WARNING = r"\S.*:\d+: \w*Warning: "
_NOISE = re.compile(
    r"\s*$"
    r"|\[?[IWE]\d{4} \d\d:\d\d"  # glog, PyTorch
    r"|\[[IWE] \S+:\d+\]"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* [IWE] \S+:\d+\]"  # TensorFlow
    rf"|{_WARNING}"
    r"|\S+:\d+:\d+ \[\d+\] NCCL (?:INFO|WARN)"
    r"|wandb: |\[notice\] |[-=]{20,}$"
    r"|make(?:\[\d+\])?: \*\*\* |srun: |error Command failed with exit code |npm ERR! |ninja: build stopped"
    r"|.{0,60}\[launch\.py:\d+:|ERROR conda\.cli\.main_run|Set the environment variable HYDRA_FULL_ERROR"
    r"|[\u2500-\u257f ]+$|[\u256d\u250c]\u2500"  # boxes
    r"|Execution halted$|Calls: |exit status \d+$|Node\.js v\d"
    r"|note: run with `RUST_BACKTRACE|Extension modules: "
)


def log_level(text: str) -> str:
    found = _LEVEL.match(text)
    return found[1] if found else ""


def is_noise(text: str) -> bool:
    return bool(_NOISE.match(text) or split_bar(text + "\n")[-1] == "\n") or log_level(text) in _QUIET


def ends_message(text: str) -> bool:
    """Whether a line is certainly not an exception's message."""
    return bool(text.strip()) and (is_noise(text) or bool(log_level(text)) or is_decisive(text))


def is_decisive(text: str) -> bool:
    """Whether these last words outweigh an exception before."""
    return bool(_DECISIVE.match(text)) or log_level(text) in ("CRITICAL", "FATAL")


def is_alarming(text: str) -> bool:
    return bool(_ALARMING.search(text))


def end_without_noise(texts: List[str]) -> int:
    end = len(texts)
    while end:
        is_source = end > 1 and texts[end - 1][:1].isspace() and bool(re.match(_WARNING, texts[end - 2]))
        if not is_noise(texts[end - 1]) and not is_source:
            break
        end -= 1
    return end
