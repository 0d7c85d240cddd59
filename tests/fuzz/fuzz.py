"""Fuzz one kind of file with atheris: ``python tests/fuzz/fuzz.py TARGET [SECONDS]``, in an environment that has it.

What is found is written to ./crash-…; the corpus begins with what the repository holds of that kind.
"""

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).parents[1]),
    *(str(Path(__file__).parents[2] / d) for d in ("compiler", "runtime", "schemas")),
]

import atheris  # noqa: E402 (what is above makes our own modules known)

with atheris.instrument_imports(include=["smspec", "yaml"]):
    from targets import TARGETS

    for name in TARGETS:  # what is imported late is to be watched too
        TARGETS[name](TARGETS[name].seeds()[0].read_bytes())


def main() -> None:
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in TARGETS:
        raise SystemExit(f"usage: fuzz.py {'|'.join(TARGETS)} [SECONDS]")
    target = TARGETS[sys.argv[1]]
    corpus = Path(tempfile.mkdtemp(prefix="smspec-corpus-"))
    for number, seed in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(seed.read_bytes())
    seconds = sys.argv[2] if len(sys.argv) == 3 else "60"
    options = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=8192"]
    atheris.Setup([sys.argv[0], str(corpus), *options], lambda content: target(content) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
