"""Explanation pages: their form and their links."""

import ast
import functools
import re
from pathlib import Path

from smspec.diagnostics.explanation import explained_codes, explanation, explanation_place, reference, references
from smspec.service.shapes import pinned_model

ROOT = Path(__file__).parents[3]
COMPILER = ROOT / "compiler" / "smspec"
HEADINGS = ["Why", "Example", "Use instead", "Ignore this rule", "References"]
API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
DOCUMENTED = {"api-doc", "model", "devguide"}

PAGES = sorted(explained_codes())


@functools.cache
def rules():
    """Return the module of the rule of each code, and how the rule is known."""
    found = {}
    for path in COMPILER.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Rule(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
                known = [keyword.value.value for keyword in node.keywords if keyword.arg == "evidence"]
                found[node.args[0].value] = path, known[0] if known else None
    return found


def test_unknown_code_has_no_page():
    assert explanation("SM000") is None
    assert explanation("../../../etc/passwd") is None
    assert explanation("") is None
    assert references("SM000") == ()
    assert reference("SM000") == ""


def test_page_names_its_code():
    """The first line is `# CODE: the bad thing`."""
    pages = {code: explanation(code) for code in PAGES}
    assert [code for code, page in pages.items() if not re.match(rf"# {code}: \S.*\n\n\S", page)] == []
    assert [code for code, page in pages.items() if not page.endswith("\n") or page.endswith("\n\n")] == []


def test_page_is_next_to_its_rule():
    """In the page of the module, or in that of its directory. Both have the codes in order, each once."""
    found = {}
    for path in sorted(COMPILER.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert re.match("# [A-Z].*\n\n## ", text), path
        codes = re.findall(r"^## ([^:\n]*)", text, re.MULTILINE)
        assert codes == sorted(set(codes) - found.keys()), path
        found |= dict.fromkeys(codes, path)
    expected = {code: (path.with_suffix(".md"), path.with_name("codes.md")) for code, (path, _) in rules().items()}
    assert found.keys() == expected.keys()
    assert {code: path for code, path in found.items() if path not in expected[code]} == {}


def test_place_of_a_page_is_its_heading():
    assert explanation_place("SM000") is None
    for code in PAGES:
        path, line = explanation_place(code)
        heading = Path(path).read_text(encoding="utf-8").split("\n")[line - 1]
        assert heading == "#" + explanation(code).partition("\n")[0]


def test_page_has_its_headings_in_order():
    pages = {code: explanation(code) for code in PAGES}
    headings = {code: re.findall(r"^## (.*)$", page, re.MULTILINE) for code, page in pages.items()}
    assert {code: found for code, found in headings.items() if found != HEADINGS} == {}
    sections = {code: re.split(r"^## .*$", page, flags=re.MULTILINE) for code, page in pages.items()}
    assert [code for code, texts in sections.items() if not all(map(str.strip, texts))] == [], "headings without text"


def test_page_cites_only_public_files():
    for code in PAGES:
        page = re.sub(r"https://\S+", "", explanation(code))
        cited = [each for each in re.findall(r"\b[A-Z][A-Z0-9]{1,4}-\d{3}\b", page) if each != "SHA-256"]
        assert (code, cited + re.findall(r"\b[A-Z_]+\.md\b", page)) == (code, [])


def test_page_links_public_pages():
    for code in PAGES:
        listed = explanation(code).partition("\n## References\n")[2].split()
        assert 1 <= len(listed) <= 3, code
        own = [line for line in listed if line.startswith("docs/")]
        assert all((ROOT / page).is_file() for page in own), code
        assert [*references(code), *own] == listed, f"{code}: bare addresses, one a line, then pages of docs/"
        if rules()[code][1] in DOCUMENTED:
            assert reference(code).startswith("https://docs.aws.amazon.com/"), code


@functools.cache
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


def test_page_links_members_of_the_api_model():
    address = re.compile(r"https://docs\.aws\.amazon\.com/sagemaker/latest/APIReference/[^\s)>`]+")
    cited = {(code, each) for code in PAGES for each in address.findall(explanation(code))}
    assert [(code, each) for code, each in sorted(cited) if each not in addresses_of_the_model()] == []


def test_unknown_member_has_no_address():
    assert f"{API}API_Channel.html#sagemaker-Type-Channel-ChannelName" in addresses_of_the_model()
    assert f"{API}API_Channel.html#sagemaker-Type-Channel-Name" not in addresses_of_the_model()
