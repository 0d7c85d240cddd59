"""Writes docs/spec-reference.md from the schema: ``python docs/spec_reference.py``. A test keeps the page current."""

from pathlib import Path

from smspec.spec.schema.keys import keys_in, spec_keys, written_key
from smspec.spec.schema.reference import example_lines, is_required, value_words

PAGE = Path(__file__).with_name("spec-reference.md")

HEAD = """\
# Spec reference

<!-- Written by docs/spec_reference.py from schemas/smspec_schemas/job.v1.schema.json: change the schema and run it. -->

Every key of a job spec. `smspec explain KEY` says the same in a terminal, and an editor with a YAML language server
completes and explains keys when the first line of the file names the schema:

```yaml
# yaml-language-server: $schema=../../schemas/smspec_schemas/job.v1.schema.json
```

What holds for all keys:

- A key that is left out is left out of the request, unless a default is given here.
- **Durations** are `90s`, `15m`, `6h`, `2d`; a bare number is seconds. **Sizes** are in `kB`, `MB`, `GB` (powers of
  1000) or `KiB`, `MiB`, `GiB` (powers of 1024); a bare number is bytes, for a storage volume GB.
- **Text** that looks like a number needs quotes (`account: "111122223333"`), except in `environment`, `tags`,
  `image.env`, `image.labels` and in the words of a command, where everything is the text as written.
- `yes`, `no`, `on`, `off`, `012`, `12:30` and `2026-01-01` are text; `true`, `false` and `null` are what they are, and
  `1e-3` is a number.
- In a base, in the job's own file and in an overlay, `null` removes a key. Any value may hold `${{ vars.name }}`.
- `*` in a key stands for a name of your own, or for any item of a list.
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD, "## The job\n", table(())]
    for path in spec_keys():
        if len(path) == 1:
            parts += section(path, 2)
    return "\n".join(parts)


def section(path: tuple[str, ...], depth: int) -> list[str]:
    """Return the section of a key with those below it, if it has any."""
    inner = path if keys_in(path) else (*path, "*")
    below = keys_in(inner)
    if not below:
        return []
    schema = spec_keys()[path]
    lines = [f"{'#' * depth} `{written_key(inner)}`\n", f"{schema['description']}\n"]
    if inner != path:
        lines.append(f"{spec_keys()[inner]['description']}\n")
    lines += ["```yaml", *example_lines(path), "```\n", table(inner)]
    for key in below:
        lines += section((*inner, key), depth + 1)
    return lines


def table(path: tuple[str, ...]) -> str:
    """Return the keys directly below one as a table."""
    rows = ["| key | value | what it is |", "|---|---|---|"]
    for name in keys_in(path):
        key = (*path, name)
        schema = spec_keys()[key]
        values = value_words(schema).replace("|", "\\|")
        if is_required(key):
            values += "; **required**"
        if "default" in schema:
            values += f"; default `{schema['default']}`" if schema["default"] != "" else ""
        what = f"*{schema['title']}.* {schema['description']}"
        if not keys_in(key) and not keys_in((*key, "*")):
            what += f" Example: `{example_lines(key)[0]}`."
        rows.append(f"| `{name}` | {values} | {what.replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
