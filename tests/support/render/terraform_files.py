"""The resource that `render --terraform` writes, as its arguments and as the plan of Terraform with it."""

import json
import re


def plan_of(text):
    """Return what `terraform show -json` prints of a plan that creates the resource of a file."""
    kind, name = re.match(r'resource "(\w+)" "([^"]+)" \{', text).groups()
    address = f"{kind}.{name}"
    resource = {"address": address, "mode": "managed", "type": kind, "name": name, "values": arguments_of(text)}
    change = {"actions": ["create"], "before": None, "after": resource["values"], "after_unknown": {"arn": True}}
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.8",
        "planned_values": {"root_module": {"resources": [{**resource, "sensitive_values": {}}]}},
        "resource_changes": [{"address": address, "mode": "managed", "type": kind, "name": name, "change": change}],
    }


def arguments_of(text):
    """Return the arguments of the resource; blocks are lists of mappings."""
    return _read_block(iter(text.splitlines()[1:]))


def _read_block(lines):
    """Read the lines of a block up to its end: just as much of HCL as is written."""
    block = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return block
        if line.endswith(" = {"):
            entries = iter(lambda: next(lines).strip(), "}")
            block[line[:-4]] = {_read_value(key.strip()): _read_value(text) for key, text in map(_read_entry, entries)}
        elif line.endswith("{}"):
            block.setdefault(line[:-3], []).append({})
        elif line.endswith(" {"):
            block.setdefault(line[:-2], []).append(_read_block(lines))
        elif line:
            name, _, text = line.partition(" = ")
            block[name.strip()] = _read_value(text)
    return block


def _read_entry(line):
    return re.fullmatch(r'("(?:\\.|[^"\\])*")\s* = (".*")', line).groups()


def _read_value(text):
    if text.startswith("["):
        return [_read_value(item) for item in re.findall(r'"(?:\\.|[^"\\])*"|[^,\[\]\s]+', text)]
    value = json.loads(text)
    if isinstance(value, str):
        assert not re.search(r"(?<![$])\$\{|(?<!%)%\{", value)
        return re.sub(r"\$(\$\{)|%(%\{)", lambda match: match[1] or match[2], value)
    return value
