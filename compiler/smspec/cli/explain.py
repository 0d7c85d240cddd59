"""``smspec explain``: print the page of an error code or a spec key."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from smspec.cli.console import Console, UsageError
from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.diagnostics.quoting import one_of
from smspec.diagnostics.suggestions import nearest
from smspec.source import to_data

HELP = """\
Explain an error code (SM204) or a spec key (channels.NAME.input_mode). Without one, list all codes with their titles
and all keys of the spec."""

_MOST_OFFERED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", metavar="CODE|KEY", nargs="?", help="a code as in `error[SM204]`, or a key of the spec"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if args.topic is None:
        console.result("".join(f"{line}\n" for line in _topics()))
        return 0
    topic: str = args.topic
    page = explanation(topic.upper()) or _page_of_the_organization(topic)
    if page is None and not _is_code(topic):
        # Imported late: the reference reads the whole schema.
        from smspec.spec.schema.reference import explain_key

        page = explain_key(topic)
        page = page and f"{page}{_default(topic)}"
    if page is None:
        raise UsageError(f"unknown code or key `{topic}`{_guess(topic)}")
    console.result(page if page.endswith("\n") else f"{page}\n")
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


def _topics() -> Iterator[str]:
    """Yield the titles of all codes, which begin with the code, then all keys."""
    # Imported late: the reference reads the whole schema.
    from smspec.diagnostics import InvalidInput
    from smspec.spec.schema.reference import keys

    try:
        own = _organization_pages()
    except InvalidInput:
        own = {}  # `smspec validate` reports what is wrong with them
    for page in (*(explanation(code) or code for code in explained_codes()), *own.values()):
        yield page.partition("\n")[0].removeprefix("# ")
    yield from keys()


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
