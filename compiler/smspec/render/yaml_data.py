"""Format plain data as YAML that every parser reads alike, whatever its version of YAML."""

from __future__ import annotations

import re

from smspec.spec.yaml.scalars import is_text_everywhere

_PLAIN = r"[A-Za-z][A-Za-z0-9_./-]*"


def yaml_data(data: object) -> str:
    """Return data as block YAML in the order of its keys; strings are quoted unless they are plain words."""
    import yaml  # imported late, with the class below: only one target needs it

    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, _data: object) -> bool:
            return True

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        is_plain = re.fullmatch(_PLAIN, value) is not None and is_text_everywhere(value)
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=None if is_plain else '"')

    Writer.add_representer(str, text)
    written: str = yaml.dump(
        data, Dumper=Writer, sort_keys=False, allow_unicode=True, default_flow_style=False, width=2**31 - 1
    )
    return written
