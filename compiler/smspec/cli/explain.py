"""``smspec explain``: the page of an error code or a spec key, where a word occurs, or why a training job failed."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from smspec.cli.console import Console, UsageError
from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.diagnostics.quoting import one_of, visible
from smspec.diagnostics.suggestions import nearest
from smspec.diagnostics.wrapping import wrapped
from smspec.source import to_data

HELP = """\
Explain an error code (SM204) or a spec key (channels.NAME.input_mode).

`explain SM5` lists the codes of a family. Any other word is searched in keys, titles, and pages. Without a topic, list
the families of codes and the keys of a job.

--failure shows why a training job failed: the likely cause, the line that shows it, what to change in the spec, and
whether a retry helps. FILE has the failure reason, the end of a log, or both, as you copied them, or JSON of the AWS
CLI: a response of DescribeTrainingJob, GetLogEvents, or FilterLogEvents. Nothing is sent anywhere.

Exit status: 0 done, whether the cause is known or not; 2 unknown topic, or FILE cannot be read."""

_MOST_OFFERED = 3
_MOST_BYTES = 32 << 20

FAMILIES = {
    "SM1": "YAML, JSON, bases, overlays and variables",
    "SM2": "shape, and values that a Dockerfile cannot hold",
    "SM3": "parts that contradict each other, or have no effect",
    "SM4": "requests that the API would refuse",
    "SM5": "the script, and what the spec gives it",
    "SM6": "security",
    "SM7": "repositories of specs, and the policy of an organization",
    "SM8": "places in AWS: S3 addresses, regions, and partitions; later codes of SM3 and SM4",
}
"""The beginning of their codes → what codes of a family are about."""

_FEWEST_LETTERS = 3
"""Of a word that is searched: a shorter one is in every page."""


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The first bytes of what PowerShell writes with `>`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", metavar="CODE|KEY", nargs="?", help="a code as in `error[SM204]`, a key of the spec, or a word"
    )
    parser.add_argument("--failure", metavar="FILE", help="explain why a training job failed; - reads stdin")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="format of --failure")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.failure is not None:
        return _explain_failure(args, console)
    if args.format == "json":
        raise UsageError("--format json requires --failure")
    if args.topic is None:
        console.result("".join(f"{line}\n" for line in _overview()))
        return 0
    topic: str = args.topic
    page = explanation(topic.upper()) or _page_of_the_organization(topic)
    if page is None and not _is_code(topic):
        # Imported late: the reference reads the whole schema.
        from smspec.spec.schema.reference import explain_key

        page = explain_key(topic)
        page = page and f"{page}{_default(topic)}"
    if page is None and topic.upper() in FAMILIES:
        page = "".join(f"{title}\n" for code, title in _titles().items() if code.startswith(topic.upper()))
    page = page or _found(topic)
    if not page:
        raise UsageError(f"unknown code or key `{topic}`{_guess(topic)}")
    console.result(page if page.endswith("\n") else f"{page}\n")
    return 0


def _explain_failure(args: argparse.Namespace, console: Console) -> int:
    if args.topic is not None:
        raise UsageError(f"--failure cannot be combined with the topic `{visible(args.topic)}`")
    # Imported late: most explanations need neither.
    from smspec.service.failures import diagnose, failure_in
    from smspec.workspace.spec_reading import content_of

    content = content_of(args.failure, _MOST_BYTES, "a log", dash_is_input=True)
    if len(content) > _MOST_BYTES:
        raise UsageError("--failure: the log is larger than 32 MiB; pass its end: tail -n 2000 FILE")
    if not content.strip():
        raise UsageError("--failure: the text is empty; pass a failure reason, or the end of a log")
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    diagnosis = diagnose(failure_in(content.decode(encoding, "replace")))
    if args.format == "json":
        console.content(f"{json.dumps(diagnosis.record(), indent=2)}\n")
    else:
        shown = (wrapped(visible(line), console.out_columns, rest="  ") for line in diagnosis.lines())
        console.result("".join(f"{line}\n" for line in shown))
    return 0


def _page_of_the_organization(topic: str) -> str | None:
    """Return the page of a rule that the organization of the current directory wrote, or None."""
    if not topic[-1:].isdigit() or not topic.isalnum() or _is_code(topic):
        return None
    # Imported late: codes of smspec need no files.
    from smspec.diagnostics import InvalidInput

    try:
        return _organization_pages().get(topic.upper())
    except InvalidInput as rejected:
        raise UsageError(f"cannot read the rules of the organization: {rejected.diagnostics[0].message}") from None


def _organization_pages() -> dict[str, str]:
    """Return the page of each rule of the organization by its code. Raise `InvalidInput`."""
    from smspec.pipeline.input_cache import InputCache

    return {rule.code: rule.page for rule in InputCache().organization(os.curdir).rules()}


def _overview() -> Iterator[str]:
    """Yield the families of codes, the rules of the organization, and the keys of a job."""
    # Imported late: the reference reads the whole schema.
    from smspec.spec.schema import keys_in

    yield "codes:"
    for family, what in FAMILIES.items():
        yield f"  {family}xx  {what}"
    own = [title for code, title in _titles().items() if not _is_code(code)]
    if own:
        yield from ("", "rules of the organization:", *(f"  {title}" for title in own))
    yield from ("", "keys of a job:", *(f"  {key}" for key in keys_in(())), "")
    yield "`smspec explain SM5` lists a family, `smspec explain SM204` and `smspec explain hosts` print a page, and"
    yield "`smspec explain spot` lists where a word occurs."


def _titles() -> dict[str, str]:
    """Return the title of each code, which begins with the code, and of each rule of the organization."""
    return {code: _title(page) for code, page in _pages().items()}


def _title(page: str) -> str:
    return page.partition("\n")[0].removeprefix("# ")


def _pages() -> dict[str, str]:
    """Return the page of each code, and of each rule of the organization."""
    # Imported late: a code of smspec needs no files.
    from smspec.diagnostics import InvalidInput

    try:
        own = _organization_pages()
    except InvalidInput:
        own = {}  # `smspec validate` reports what is wrong with them
    return {**{code: explanation(code) or code for code in explained_codes()}, **own}


def _found(word: str) -> str:
    """Return the keys, titles, and pages that contain a word, as a list; empty if none does."""
    # Imported late: the reference reads the whole schema.
    from smspec.spec.schema.reference import keys

    wanted = word.strip().lower()
    if len(wanted) < _FEWEST_LETTERS or _is_code(wanted):
        return ""
    pages = _pages()
    titles = {code: _title(page) for code, page in pages.items()}
    of_keys = [key for key in keys() if wanted in key.lower()]
    titled = [code for code, title in titles.items() if wanted in title.lower()]
    others = [code for code, page in pages.items() if code not in titled and wanted in page.lower()]
    parts = [
        ("keys:", of_keys),
        ("codes:", [titles[code] for code in titled]),
        ("codes whose pages contain it:" if titled or of_keys else "codes:", [titles[code] for code in others]),
    ]
    return "\n".join("".join((f"{head}\n", *(f"  {line}\n" for line in lines))) for head, lines in parts if lines)


def _default(key: str) -> str:
    """Return the default of a key in the current directory, with its position; empty if there is none."""
    # Imported late: codes need no files.
    from smspec.pipeline.input_cache import InputCache

    layer = InputCache().organization(os.curdir).defaults()
    path = tuple(key.split("."))
    node = None if layer is None else layer.node(path)
    if layer is None or node is None:
        return ""
    place = layer.span_of_key(path)
    return f"\nDefault: `{json.dumps(to_data(node), ensure_ascii=False)}` ({place.file}:{place.line})\n"


def _is_code(topic: str) -> bool:
    return topic[:2].upper() == "SM" and topic[2:].isdigit()


def _guess(topic: str) -> str:
    if _is_code(topic):
        guess = nearest(topic.upper(), explained_codes())
    else:
        from smspec.spec.schema.reference import keys

        within = [key for key in keys() if key.endswith(f".{topic}")]
        if within:
            # `explain local`: the last name alone, as findings show it.
            return f"; did you mean {one_of(within[:_MOST_OFFERED])}?"
        guess = nearest(topic, keys())
    return f"; did you mean `{guess}`?" if guess else ""
