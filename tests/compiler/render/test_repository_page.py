"""The page of a repository: complete without JavaScript, safe for any text, readable in a browser."""

import base64
import hashlib
import html
import itertools
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.render.data_flow import DataFlow
from smspec.render.pages import page_template
from smspec.render.pages.repository_page import HEIGHT, WIDTH, PageFinding, PageJob, drawings, repository_page
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

CHROMIUM = shutil.which("chromium")
EXPECTED = Path(__file__).parent.parent / "cli/expected/repository.html"
SPEC = """\
smspec: v1
name: {name}
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {{base: "python:3.12-slim"}}
entry_point: {{command: [train]}}
hosts: {{instance_type: ml.g5.xlarge, count: {count}, volume: 50GB}}
stopping: {{max_runtime: 2h}}
output: s3://example-models/{name}/
"""
HOSTILE = st.one_of(
    st.text(min_size=1, max_size=12),
    st.sampled_from(
        ['"><script>x()</script>', "</title><img src=x onerror=x()>", "`a`<b>`", "${{a}}{% b %}", "\u202e&amp;"]
    ),
)


class Page(HTMLParser):
    """The elements of a page, and its text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.text = ""
        self._skipped = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._skipped = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._skipped = False

    def handle_data(self, data):
        self.text += "" if self._skipped else data

    def values(self, name):
        return [attrs[name] for _, attrs in self.elements if name in attrs]


@pytest.fixture
def specs(tmp_path):
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.g5.xlarge" = 1.408\n')
    for number, name in enumerate(("teacher", "student", "broken"), 1):
        (tmp_path / f"{name}.yaml").write_text(SPEC.format(name=name, count=number))
    with (tmp_path / "student.yaml").open("a") as file:
        file.write("description: learns from the <teacher>\nchannels: {labels: s3://example-models/teacher/}\n")
    with (tmp_path / "broken.yaml").open("a") as file:
        file.write("oputs: 1\n")
    return tmp_path


def page_of(specs):
    done = smspec("validate", ".", "--format", "html", cwd=specs)
    assert done.status == 1
    return done.out


def test_page_has_its_expected_bytes(specs, update):
    shown = page_of(specs)
    if update:
        EXPECTED.write_text(shown)
    assert shown == EXPECTED.read_text()


def test_page_is_complete_without_a_script(specs):
    page = Page(page_of(specs))
    for text in ("teacher", "2 × ml.g5.xlarge", "4 instance hours, $5.63", "labels of teacher", "SM204", "oputs: 1"):
        assert text in " ".join(page.text.split()), text
    (tools,) = [attrs for tag, attrs in page.elements if tag == "form"]
    assert "hidden" in tools


@pytest.mark.parametrize(("price", "widths"), [(0.5, ["100.0", "50.0"]), (None, ["70.7", "100.0"])])
def test_meters_compare_dollars_if_all_are_known(price, widths):
    """One expensive instance costs more than two cheap ones; without a price, only hours can be compared.

    A bar is as long as the square root: one of 1 % is seen, too.
    """
    jobs = [PageJob(name="a", file="a", hours=1, usd=2), PageJob(name="b", file="b", hours=2, usd=price)]
    text = repository_page([*jobs, PageJob(name="faulty", file="c")], [], [], [])
    assert re.findall(r'style="width: ([\d.]+)%"', text) == widths


def test_notes_of_one_line_have_their_frame(tmp_path):
    """A terminal has one line for notes that most specs get; on the page each has its lines."""
    spec = BUILT.replace('bookworm"}', 'bookworm", python_packages: [six==1.16.0]}')
    write_job(tmp_path, spec, **{"src/train.py": "import not_installed_anywhere\n"})
    done = smspec("validate", ".", "--format", "html", cwd=tmp_path)
    assert "SM523" in done.out
    assert re.search(r'aria-label="excerpt of job.yaml:\d+"> *--&gt; job.yaml:\d+', done.out)


def order_of(page):
    return re.findall(r'<span class="name">([^<]*)</span>', page)


def test_jobs_with_errors_come_first_and_are_not_counted(tmp_path):
    for name, count in (("a", 1), ("b", 4), ("c", "many")):
        (tmp_path / f"{name}.yaml").write_text(READY.replace("small", name).replace("count: 1", f"count: {count}"))
    done = smspec("validate", ".", "--format", "html", cwd=tmp_path)
    assert order_of(done.out) == ["c.yaml", "a", "b"]
    assert "<dd>120 instance hours; not counted: 1 job whose ceiling is unknown</dd>" in done.out


def test_page_loads_nothing_and_runs_one_script(specs):
    text = page_of(specs)
    page = Page(text)
    links = [*page.values("href"), *page.values("src")]
    assert all(link.startswith("#") for link in links)
    (policy,) = [a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}';" in policy


def test_page_is_accessible(specs):
    page = Page(page_of(specs))
    identifiers = page.values("id")
    assert len(identifiers) == len(set(identifiers))
    assert {link[1:] for link in page.values("href")} <= set(identifiers)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert set(page.values("aria-labelledby")) <= set(identifiers)
    labelled = [attrs for tag, attrs in page.elements if tag == "input" and attrs["type"] == "search"]
    assert all("aria-label" in attrs for attrs in labelled)
    assert ("html", {"lang": "en"}) in page.elements


def luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colors_have_contrast():
    """WCAG 2.1, 1.4.3: at least 4.5 to 1 for text, on the page and in a box, in both modes."""
    light, dark = re.findall(r":root \{(.*?)\}", page_template("style.css").render(), re.DOTALL)
    colors = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    for mode in (colors, {**colors, **dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", dark))}):
        for name in ("ink", "soft", "good", "bad", "warn", "link"):
            for ground in ("page", "box"):
                high, low = sorted((luminance(mode[name]), luminance(mode[ground])), reverse=True)
                assert (high + 0.05) / (low + 0.05) >= 4.5, (name, mode[name], ground)


def rendered(text):
    jobs = [
        PageJob(name=text, file=file, description=text, overlays=("a",), hosts=text, findings=(1,)) for file in "ab"
    ]
    finding = PageFinding(code="SM1", severity="error", message=text, place=text, excerpt=text)
    flows = [DataFlow("a", text, "writes", text, ()), DataFlow("b", text, "reads", text, (text,))]
    return Page(repository_page(jobs, [finding], flows, [("checked", text)]))


PLAIN = [(tag, sorted(attrs)) for tag, attrs in rendered("x").elements]


@given(HOSTILE)
def test_no_text_becomes_markup(text):
    """Law: whatever a spec contains, the elements of the page and their attributes stay the same."""
    found = [(tag, sorted(attrs)) for tag, attrs in rendered(text).elements if tag != "code"]
    assert found == PLAIN


READS = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.dictionaries(st.sampled_from("abcdefgh"), st.just(("x",)), min_size=1, max_size=4),
    max_size=8,
).map(lambda reads: {r: {w: c for w, c in writers.items() if w != r} for r, writers in reads.items()})


@given(READS)
def test_drawn_jobs_are_apart_and_connected(reads):
    """Law: each job that reads or is read is one box, no boxes overlap, and each arrow is there, also in a circle."""
    parts, left_out = drawings(reads)
    assert left_out == 0
    assert sum(len(part.arrows) for part in parts) == sum(map(len, reads.values()))
    files = [box.file for part in parts for box in part.boxes]
    assert sorted(files) == sorted({*(r for r in reads if reads[r]), *(w for ws in reads.values() for w in ws)})
    for part in parts:
        corners = [(box.left, box.top) for box in part.boxes]
        assert len(corners) == len(set(corners))
        assert all(abs(a[1] - b[1]) >= HEIGHT for a in corners for b in corners if a[0] == b[0] and a != b)
        assert all(0 <= left <= part.width - WIDTH and 0 <= top <= part.height - HEIGHT for left, top in corners)


@given(READS)
def test_arrows_lead_to_the_right(reads):
    """Without a circle, who reads is to the right of who writes."""
    forward = {reader: {w: c for w, c in writers.items() if w < reader} for reader, writers in reads.items()}
    assert all(arrow.x1 < arrow.x2 for part in drawings(forward)[0] for arrow in part.arrows)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_browser_filters_the_jobs(specs):
    """The script runs under the policy of the page, without complaints, and a link opens its job."""
    file = specs / "page.html"
    file.write_text(page_of(specs))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    words = [*command, f"--user-data-dir={specs / 'profile'}", f"{file.as_uri()}#job-2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert 'role="status">3 jobs<' in done.stdout
    (opened,) = re.findall(r'<details class="job" id="(job-\d)"[^>]* open=""', done.stdout)
    assert opened == "job-2"
    assert html.escape("learns from the <teacher>", quote=False) in done.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize(
    ("clicks", "order"),
    [
        (["cost"], ["big", "small", "broken"]),
        (["cost", "cost"], ["broken", "small", "big"]),
        (["name"], ["big", "broken", "small"]),
        (["name", "rank"], ["broken", "big", "small"]),
    ],
)
def test_headings_sort_the_jobs(tmp_path, clicks, order):
    jobs = [PageJob(name="small", file="s", hours=1), PageJob(name="big", file="b", hours=20)]
    finding = PageFinding(code="SM204", severity="error", message="m", place="p:1", excerpt="")
    page = repository_page([*jobs, PageJob(name="broken", file="f", findings=(1,))], [finding], [], [])
    clicking = "".join(f"document.querySelector('[data-sort={by}]').click();" for by in clicks)
    # Its policy allows no other script than its own.
    page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", f"<script>{clicking}</script></body>")
    (tmp_path / "page.html").write_text(page)
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    words = [*command, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert order_of(done.stdout) == order, done.stderr
