"""Writes docs/spec-reference.md from the schema: ``python docs/spec_reference.py``. A test keeps the page current."""

from pathlib import Path

from smspec.spec.keys import ROW
from smspec.spec.schema import keys_in, spec_keys, written_key
from smspec.spec.schema.reference import example_lines, is_required, value_words
from smspec.workspace.ignore_rules import DEFAULT_IGNORES, KEPT, WORTH_NAMING

PAGE = Path(__file__).with_name("spec-reference.md")

HEAD = """\
# Spec reference

<!-- Written by docs/spec_reference.py from schemas/smspec_schemas/job.v1.schema.json: change the schema and run it. -->

Every key of a job spec. `smspec explain KEY` prints the same in a terminal, and an editor with a YAML language server
completes and explains keys if the first line of the file names the schema:

```yaml
# yaml-language-server: $schema=../../schemas/smspec_schemas/job.v1.schema.json
```

For all keys:

- A key that is not set is not sent, unless a default is given here.
- **Durations** are `90s`, `15m`, `6h`, `2d`; a number without a unit is in seconds. **Sizes** are in `kB`, `MB`, `GB`
  (powers of 1000) or `KiB`, `MiB`, `GiB` (powers of 1024); a number without a unit is in bytes, for a volume in GB.
- **Strings** that look like a number need quotes (`account: "111122223333"`), except in `environment`, `tags`,
  `image.env`, `image.labels`, and the words of a command, where smspec does not convert values.
- Booleans and nulls are those of YAML 1.2's core schema: `true`, `True`, `TRUE`, `null`, `Null`, `NULL`, `~`.
  `1e-3` is a number. `yes`, `no`, `on`, `off`, `012`, `0x1F`, `12:30`, and `2026-01-01` are strings, with a warning in
  `hyperparameters`.
- In a base spec, in the job's own file, and in an overlay, `null` removes a key; if there is nothing to remove, smspec
  warns. Any value can contain `${{ vars.name }}`.
- `*` in a key stands for a name that you choose, or for any item of a list.
- "In the request" is the member that a key becomes. Other keys affect the image or how the script starts, or are for
  readers of the spec.
"""

LEFT_OUT = """\
## Files left out

What is never part of a source, whether git tracks it or not. A pattern with `!` in `source.ignore` takes it back; in
`.gitignore` and `.dockerignore`, `!` takes back only what the same file ignores.
"""

_FIRST, *_, _LAST = WORTH_NAMING
LEFT_OUT_TOO = f"""\
{", ".join(f"`{name}`" for name in KEPT)} are included. A directory that contains `pyvenv.cfg` or `conda-meta` is a
virtual environment under any name. A note (SM268) names what is left out, from {_FIRST} to {_LAST}, unless an ignore
file names it already. Job specs, `smspec.lock`, `smspec.prices.json`, `smspec.quotas.json`, `.git`, and directories
that `smspec build` or `smspec run` wrote are never included. Special files are left out with a warning (SM266).
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD, "## The job\n", table(())]
    for path in spec_keys():
        if len(path) == 1:
            parts += section(path, 2)
    parts += [LEFT_OUT, *left_out(), LEFT_OUT_TOO]
    return "\n".join(parts)


def left_out() -> list[str]:
    """Return the table of what no source includes, from the compiler's own."""
    rows = ["| what | names |", "|---|---|"]
    for group, patterns in DEFAULT_IGNORES.items():
        rows.append(f"| {group} | {' '.join(f'`{pattern}`' for pattern in patterns.split())} |")
    return [*rows, ""]


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
    rows = ["| key | value | what it is | in the request |", "|---|---|---|---|"]
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
        row = ROW.get(written_key(key))
        member = f"`{row.member}`" if row is not None and row.member else ""
        rows.append(f"| `{name}` | {values} | {what.replace('|', chr(92) + '|')} | {member} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
