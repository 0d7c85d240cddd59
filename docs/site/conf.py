"""Sphinx makes the site from the pages as they are in the repository: `make docs`.

A page has the path that it has in the repository, so a link that works there works here, and Sphinx checks each one and
its anchor. Links to other files lead to the repository. The schema is served at its `$id`.
"""

import json
import posixpath
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import tomllib
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "compiler"))
from smspec import __version__  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SCHEMA = ROOT / "schemas/smspec_schemas/job.v1.schema.json"
REPOSITORY = PROJECT["urls"]["Source"]
GROUPS = {
    "Write specs": ("moving-in", "editor", "spec-reference", "diagnostics"),
    "Prove that they work": ("local-run", "check", "failures"),
    "Data and runtime": ("pipe-mode", "runtime"),
    "Build, submit, and pay": ("images", "submit", "cost"),
    "Review": ("gitops", "diff", "repository"),
    "About smspec": ("evidence", "architecture", "extending"),
}
"""The pages in the order of the sidebar."""
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
NAMED = re.compile(r"\[[\w./-]+\.md\](?=\((?!https?:)[^)\s]+\.md[)#])")
"""The text of a link that is the name of a file: the site has its title instead."""
ADDRESS = re.compile(r"^(docs/)?(?(1)[\w-]+\.md|https://\S+)$", re.MULTILINE)
"""A line of a page about codes that is only an address."""

project = "smspec"
author = "the authors of smspec"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "compiler/smspec/**/*.md", "specs/*/README.md"]
exclude_patterns = [".*", "build", "run", "dist", "tests", "compiler/smspec/cli/templates"]  # not walked
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
nitpicky = True
highlight_language = "console"
suppress_warnings = ["misc.highlighting_failure"]  # pages about faults show faulty JSON and YAML
pygments_style, pygments_dark_style = "tango", "monokai"
html_theme = "furo"
html_title = "smspec"
html_baseurl = PROJECT["urls"]["Documentation"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": ""}


class Site(StandaloneHTMLBuilder):
    """Pages as HTML; a README is the index of its directory."""

    name = "html"

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        return super().get_target_uri(_path(docname), typ)

    def get_output_path(self, page_name: str, /) -> Path:
        return super().get_output_path(_path(page_name))


def _path(docname: str) -> str:
    return re.sub(r"(^|/)README$", r"\1index", docname)


def _prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    directory = posixpath.dirname(docname)

    def target(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(directory, found[1]))
        is_here = path.removesuffix(".md") in app.env.found_docs or path.startswith("docs/pictures/")
        if is_here or not (ROOT / path).exists():  # then Sphinx reports it
            return found[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{path}{found[2] or ''}"

    source[0] = LINK.sub(target, NAMED.sub("[]", source[0]))
    if docname.startswith("compiler/"):
        source[0] = ADDRESS.sub(lambda found: f"[{found[0]}]({'/' if found[1] else ''}{found[0]})", source[0])
    if docname == root_doc:
        source[0] += _toctree("Start", ["Documentation <docs/README>"])
        for caption, pages in GROUPS.items():
            source[0] += _toctree(caption, [f"docs/{page}" for page in pages])
        source[0] += _toctree("Project", ["CHANGELOG", "CONTRIBUTING", "DECISIONS"])
    elif docname == "docs/README":
        source[0] += _toctree("", ["/specs/*/README"])
    elif docname == "docs/diagnostics":
        source[0] += _toctree("", ["/compiler/smspec/**"])


def _toctree(caption: str, pages: list[str]) -> str:
    options = [":hidden:", *([f":caption: {caption}"] if caption else [":glob:"])]
    return "\n\n```{toctree}\n" + "\n".join([*options, "", *pages]) + "\n```\n"


def _serve_schema(app: Sphinx, exception: Exception | None) -> None:
    if exception is None:
        path = app.outdir / urlsplit(json.loads(SCHEMA.read_text(encoding="utf-8"))["$id"]).path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SCHEMA, path)


def setup(app: Sphinx) -> None:
    app.add_builder(Site, override=True)
    app.add_lexer("mermaid", TextLexer)
    app.connect("source-read", _prepare)
    app.connect("build-finished", _serve_schema)
