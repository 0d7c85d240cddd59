"""Explanation pages: their form and their links."""

import ast
import re
from pathlib import Path

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation, reference, references
from smspec.service.shapes import pinned_model

ROOT = Path(__file__).parents[3]
COMPILER = ROOT / "compiler" / "smspec"
HEADINGS = ["Why", "Example", "Use instead", "Ignore this rule", "References"]
API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
DOCUMENTED = {"api-doc", "model", "devguide"}

PAGES = sorted(explained_codes())


def evidence():
    """Return how the rule of each code is known, code by code."""
    found = {}
    for path in COMPILER.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Rule(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
                known = [keyword.value.value for keyword in node.keywords if keyword.arg == "evidence"]
                found[node.args[0].value] = known[0] if known else None
    return found


EVIDENCE = evidence()


def test_unknown_code_has_no_page():
    assert explanation("SM000") is None
    assert explanation("../../../etc/passwd") is None
    assert explanation("") is None
    assert references("SM000") == ()
    assert reference("SM000") == ""


@pytest.mark.parametrize("code", explained_codes())
def test_page_names_its_code(code):
    page = explanation(code)
    assert re.match(rf"# {code}: \S.*\n\n\S", page), "the first line is `# CODE: the bad thing`"
    assert page.endswith("\n")
    assert not page.endswith("\n\n")


@pytest.mark.parametrize("code", PAGES)
def test_page_has_its_headings_in_order(code):
    page = explanation(code)
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == HEADINGS
    for section in re.split(r"^## .*$", page, flags=re.MULTILINE):
        assert section.strip(), "a heading without text"


@pytest.mark.parametrize("code", PAGES)
def test_page_cites_only_public_files(code):
    page = re.sub(r"https://\S+", "", explanation(code))
    assert [cited for cited in re.findall(r"\b[A-Z][A-Z0-9]{1,4}-\d{3}\b", page) if cited != "SHA-256"] == []
    assert re.findall(r"\b[A-Z_]+\.md\b", page) == []


@pytest.mark.parametrize("code", PAGES)
def test_page_links_public_pages(code):
    listed = explanation(code).partition("\n## References\n")[2].split()
    assert 1 <= len(listed) <= 3
    own = [line for line in listed if line.startswith("docs/")]
    assert all((ROOT / page).is_file() for page in own)
    assert [*references(code), *own] == listed, "bare addresses, one a line, then pages of docs/"
    if EVIDENCE.get(code) in DOCUMENTED:
        assert reference(code).startswith("https://docs.aws.amazon.com/")


def addresses_of_the_model():
    """Return the addresses of all structures and members of the pinned model in AWS's API reference."""
    model = pinned_model()
    root = f"{API}API_CreateTrainingJob.html"
    found = {root, *(f"{root}#sagemaker-CreateTrainingJob-request-{member}" for member in model.root.members)}
    for shape in model.shapes.values():
        if shape.kind == "structure":
            page = f"{API}API_{shape.name}.html"
            found |= {page, *(f"{page}#sagemaker-Type-{shape.name}-{member}" for member in shape.members)}
    return found


OF_THE_MODEL = addresses_of_the_model()


@pytest.mark.parametrize("code", PAGES)
def test_page_links_members_of_the_api_model(code):
    cited = re.findall(r"https://docs\.aws\.amazon\.com/sagemaker/latest/APIReference/[^\s)>`]+", explanation(code))
    assert [address for address in cited if address not in OF_THE_MODEL] == []


def test_unknown_member_has_no_address():
    assert f"{API}API_Channel.html#sagemaker-Type-Channel-ChannelName" in OF_THE_MODEL
    assert f"{API}API_Channel.html#sagemaker-Type-Channel-Name" not in OF_THE_MODEL
