"""What only maintainers of smspec run: `make facts`, `make shapes`, `make templates`. The wheel does not contain this.

`facts`, `api_shapes`, and `templates` are the commands. A source of facts (`fact_sources.SOURCES`) takes the tables of
before and the `Surroundings`, and returns a `Refreshed`: the new rows, their date, and what it could not read. Sources
are installed packages, clones of public repositories of AWS, and PyPI. Everything is read as data, and none of it is
run, so a refresh is reviewed as a diff of CSV files, and the same sources make the same tables.

The package uses the tables and shapes of `smspec.service`, so that their readers define their form, and the filters
of the templates in `smspec.render`. It must not know specs or plans, and nothing of smspec imports it. It may need
packages that smspec does not: packaging, to read a uv.lock.
"""
