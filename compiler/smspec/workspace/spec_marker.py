"""Distinguish job specs and base specs from other YAML files: they have the top-level key ``smspec``."""

from __future__ import annotations

import re

from smspec.spec.yaml.text_limits import MAX_DEPTH

_KEY = "smspec"

# Block style, at the start of a line: it is a spec even if there is a syntax error further up.
_MARK = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?smspec["']?[ \t]*:""", re.MULTILINE)


def is_meant_as_spec(content: bytes) -> bool:
    """Return whether a YAML text is a spec or a base spec, possibly an invalid one."""
    return _MARK.search(content) is not None or has_spec_key(content)


def has_spec_key(content: bytes) -> bool:
    """Return whether a document of a YAML text has the key; what comes before a syntax error counts.

    Text that is nested deeper than a spec may be is not a spec; its depth would also make the parser slow.
    """
    if _KEY.encode() not in content and b"\\" not in content:  # a quoted key may have escapes
        return False
    import yaml  # imported late: most of these files do not contain the word

    from smspec.spec.yaml.events import PARSER

    depth, is_key, in_mapping = 0, False, False
    try:
        for event in yaml.parse(content, Loader=PARSER):
            if isinstance(event, yaml.ScalarEvent) and depth == 1 and in_mapping and is_key and event.value == _KEY:
                return True
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.DocumentStartEvent):
                depth = 0
            if depth == 1 and isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                is_key = not is_key
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth == 1:
                    in_mapping, is_key = isinstance(event, yaml.MappingStartEvent), True
                elif depth > MAX_DEPTH:
                    return False
    except (yaml.YAMLError, ValueError):
        return False
    return False
