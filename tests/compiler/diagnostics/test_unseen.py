"""What a reviewer cannot see is found in names and texts, and shown as an escape, wherever a value is shown."""

import json
import re
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.quoting import multiline_visible, seen, visible
from smspec.diagnostics.unseen import lookalike, unseen_in_name, unseen_parts
from smspec.diagnostics.unseen_names import fault_in_data, name_fault
from smspec.render.spec_yaml import spec_yaml
from smspec.source import SourceText, to_data
from smspec.spec.yaml import read
from support.smspec_command import smspec

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
WITHOUT_WIDTH = "\u034f\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u206a\u206f\ufeff\ufe0f\ufe00\U000e0100"
BLANK = "\u115f\u1160\u17b4\u2800\u3164\uffa0\ufff9\ufffb\U000e0001\U000e0041\U000e007f\U0001d173\U0001bca0"
BLANK += "\U0001d159\U00016fe4"
CONTROLS = "\x00\x07\x08\x1b\x7f\x80\x85\x9b\x9f\u2028\u2029"
DANGEROUS = BIDIRECTIONAL + WITHOUT_WIDTH + BLANK + CONTROLS
SPACES = "\xa0\u1680\u2000\u2003\u2009\u200a\u202f\u205f\u3000\xad"

HONEST = [
    "训练模型,学习率 0.1",
    "モデルの訓練\u3000テスト",
    "모델 훈련",
    "تدريب النموذج ١٢",
    "می\u200cخواهم",
    "क्\u200dष और ज्ञ",
    "אימון מודל",
    "ฝึก\u200bโมเดล",
    "Обучение модели с GPU, модельV2",
    "Εκπαίδευση μοντέλου",
    "entraînement à l'été, Größe, ñandú, İstanbul, ısı",
    "e\u0301te\u0301",
    "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☀\ufe0e 👍🏽 🇫🇷",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "葛\U000e0100城",
    "loss → 0.1 ± 2 µm, Δt ≤ 5 °C — “fine”…",
]
LOOKALIKES = {
    "s3://models/ꓮꓓꓟꓲꓠ": "ꓮ",
    "arn:aws:iam::111122223333:role/𐐄𐐅": "𐐄",
    "role/𐌀𐌁": "𐌀",
    "s3://ⲟⲣⲥ/x": "ⲟ",
    "arn:aws:iam::111122223333:role/Аdmin": "А",
    "s3://exаmple-data/": "а",
    "s3://example-data/сор/": "с",
    "ml.m5.lаrge": "а",
    "us‑west‑2": "‑",
    "ｕs-west-2": "ｕ",
    "𝐚dmin": "𝐚",
    "ⅰmage": "ⅰ",
    "ɡit": "ɡ",
    "ᴀdmin": "ᴀ",
    "prоd": "о",
    "prοd": "ο",
    "prօd": "օ",
    "ꓮdmin": "ꓮ",
    "adжmin": "ж",
    "ecr∕image": "∕",
    "image։1": "։",
    "run-٣": "٣",
    "pre一train": "一",
    "\u212aelvin": "\u212a",
    "Ꭺdmin": "Ꭺ",
}
NAMES = [
    "data/ಕನ್ನಡ/train.csv",
    "data/አማርኛ",
    "src/ᐃᓄᒃᑎᑐᑦ.py",
    "data/训练/a.csv",
    "s3://b/данные/train",
    "données/été.csv",
    "データ.csv",
    "модель.py",
    "Größe",
    "эпоха",
    "日本ＡＢＣ",
]


def is_dangerous(text):
    return any(character in text for character in DANGEROUS)


@pytest.mark.parametrize("code", [f"{ord(each):04X}" for each in DANGEROUS])
def test_dangerous_character_is_found_and_shown(code):
    text = f"ab{chr(int(code, 16))}cd"
    assert [*unseen_parts(text)] == [(2, 3)]
    # Rules about each name report control characters of ASCII, which only an escape can write.
    is_reported_elsewhere = text.isascii()
    assert unseen_in_name(text) == ("" if is_reported_elsewhere else text[2])
    assert is_reported_elsewhere or name_fault(text)[0].code == "SM103"
    assert visible(text).isascii() and multiline_visible(text) == visible(text)
    assert not is_dangerous(visible(text))
    assert seen(text).isascii() or text.isascii()


@pytest.mark.parametrize("code", [f"{ord(each):04X}" for each in SPACES])
def test_unusual_space_is_found_in_a_name(code):
    text = f"ab{chr(int(code, 16))}cd"
    assert name_fault(text)[0].code == "SM103" and [*unseen_parts(text)] == []


@pytest.mark.parametrize("number", range(len(HONEST)))
def test_honest_text_is_accepted_and_shown_as_it_is(number):
    assert [*unseen_parts(HONEST[number])] == [] and name_fault(HONEST[number], is_free=True) is None
    assert visible(HONEST[number]) == HONEST[number]


@pytest.mark.parametrize("number", range(len(LOOKALIKES)))
def test_lookalike_is_found_in_a_name(number):
    name, character = [*LOOKALIKES.items()][number]
    rule, message, _ = name_fault(name)
    assert lookalike(name)[0] == character and rule.code == "SM115" and f"U+{ord(character):04X} " in message


@pytest.mark.parametrize("code", ["E000", "F8FF", "0335", "0338"])
def test_private_character_or_stroke_is_found_in_a_name(code):
    text = f"s3://example-data/ct{chr(int(code, 16))}r/"
    assert name_fault(text)[0].code == "SM103" and [*unseen_parts(text)] == []


@pytest.mark.parametrize("path", ["image.run", "entry_point.command", "entry_point.args"])
def test_command_has_no_lookalikes(path):
    """A command names hosts and programs, and may hold text in any script."""
    at = (*path.split("."), 0)
    for text in ("curl exаmple.com | sh", "curl https://exаmple.com/a | sh", "pіp install x", "cp s3://ехample/a b"):
        assert fault_in_data(nested(at, text)) is not None, text
    for text in ("echo 'готово: обучение'", "--labels=кот,пёс", "grep [a-zа-яё] in.txt", "echo 训练完成", "модельV2"):
        assert fault_in_data(nested(at, text)) is None, text


def nested(path, value):
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    return value


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_name_in_another_script_is_accepted(number):
    assert name_fault(NAMES[number]) is None


@given(st.text())
def test_visible_text_has_nothing_that_cannot_be_seen(text):
    shown = visible(text)
    assert [*unseen_parts(shown)] == [] and "\n" not in shown and "\x1b" not in shown
    assert visible(shown) == shown.replace("\t", "    ")


@given(st.text())
def test_honest_neighbors_do_not_hide_a_bidirectional_control(text):
    assert not any(character in visible(f"{text}\u202e{text}") for character in BIDIRECTIONAL)


JOB = {
    "smspec": "v1",
    "name": "ctr",
    "role": "arn:aws:iam::111122223333:role/Training",
    "region": "us-west-2",
    "image": f"111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr@sha256:{'0' * 64}",
    "hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": "10GB"},
    "stopping": {"max_runtime": "2h"},
    "output": "s3://example-models/ctr/",
}
PLACES = {
    "role": lambda name: {"role": f"arn:aws:iam::111122223333:role/{name}"},
    "region": lambda name: {"region": name},
    "image": lambda name: {"image": f"111122223333.dkr.ecr.us-west-2.amazonaws.com/{name}:1"},
    "name": lambda name: {"name": name},
    "instance type": lambda name: {"hosts": {**JOB["hosts"], "instance_type": name}},
    "tag key": lambda name: {"tags": {name: "x"}},
    "channel name": lambda name: {"channels": {name: "s3://example-data/a/"}},
    "channel address": lambda name: {"channels": {"a": f"s3://example-data/{name}/"}},
    "output": lambda name: {"output": f"s3://{name}-models/"},
    "entry point": lambda name: {"entry_point": f"{name}.py"},
    "base spec": lambda name: {"extends": [f"{name}.yaml"]},
    "secret": lambda name: {"secrets": {"KEY": f"arn:aws:secretsmanager:us-west-2:111122223333:secret:{name}"}},
    "variable": lambda name: {"vars": {"x": {"default": name}}},
    "overlay": lambda name: {"overlays": {name: {"retries": 1}}},
    "address in the environment": lambda name: {"environment": {"URI": f"s3://example/{name}"}},
    "address in a hyperparameter": lambda name: {"hyperparameters": {"a": {"b": [f"https://example.com/{name}"]}}},
    "subnet": lambda name: {"network": {"subnets": [name], "security_groups": ["sg-01234567"]}},
    "API": lambda name: {"api": {"ExperimentConfig": {"ExperimentName": name}}},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("name", "code"), [("аdmin", "SM115"), ("ad\u200bmin", "SM103"), ("ad\xa0min", "SM103")], ids=range(3)
)
def test_name_of_a_spec(tmp_path, place, name, code):
    (tmp_path / "job.yaml").write_text(yaml.safe_dump({**JOB, **PLACES[place](name)}))
    reported = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert code in {one["code"] for one in reported}
    assert any(re.search(r"U\+(0430|200B|00A0) ", one["message"]) for one in reported)


FREE = {
    "description": lambda text: {"description": text},
    "variable": lambda text: {"vars": {"x": {"default": "1", "description": text}}},
    "tag": lambda text: {"tags": {"team": text}},
    "hyperparameter": lambda text: {"hyperparameters": {"prompt": text, "more": [{"a": text}]}},
    "reason": lambda text: {"checks": {"ignore": [{"rule": "SM318", "because": text}]}},
    "environment": lambda text: {"environment": {"GREETING": text}},
}


@pytest.mark.parametrize("place", FREE)
def test_free_text_of_a_spec(tmp_path, place):
    for number, text in enumerate([*HONEST, "аdmin", "10\xa0000"]):
        (tmp_path / f"job{number}.yaml").write_text(
            yaml.safe_dump({**JOB, "name": f"ctr{number}", **FREE[place](text)}, allow_unicode=True) + f"# {text}\n"
        )
    reported = json.loads(smspec("validate", ".", "--format", "json", cwd=tmp_path).out)
    assert {"SM103", "SM115"}.isdisjoint(one["code"] for one in reported)


@pytest.mark.parametrize("character", BIDIRECTIONAL + "\u200b\u2060\u3164\U000e0041", ids=range(16))
def test_comment_of_every_file_that_is_reviewed(tmp_path, character):
    """Trojan Source: a comment that reorders what a reviewer sees."""
    spec = yaml.safe_dump({**JOB, "extends": ["base.yaml"]})
    rule = {
        "code": "ORG1",
        "title": "few",
        "why": "few",
        "require": {"retries": {"max": 4, "optional": True}},
        "cases": {"right": [{}], "wrong": [{"retries": 5}]},
    }
    files = {
        "job.yaml": spec,
        "base.yaml": "smspec: v1\nretries: 1\n",
        "rule.yaml": yaml.safe_dump(rule),
        "smspec.toml": 'rule_files = ["rule.yaml"]\n',
    }
    for faulty in files:
        for name, text in files.items():
            (tmp_path / name).write_text(f"{text}# a{character}b\n" if name == faulty else text)
        run = smspec("validate", "job.yaml", cwd=tmp_path)
        assert run.status == 1 and f"U+{ord(character):04X} " in run.out + run.err and faulty in run.out + run.err
        assert not is_dangerous((run.out + run.err).replace("\x1b", ""))


def test_policy_and_request(tmp_path):
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(JOB))
    (tmp_path / "smspec.toml").write_text('allowed_regions = ["us-west-2",\n"us-wеst-1"]\n')
    (one,) = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert (one["code"], one["file"]) == ("SM747", "smspec.toml") and "U+0435 CYRILLIC SMALL LETTER IE" in one[
        "message"
    ]
    (tmp_path / "smspec.toml").unlink()
    request = json.loads(smspec("render", "--api-json", "job.yaml", cwd=tmp_path).out)
    for changed, code in (
        ({"RoleArn": "arn:aws:iam::111122223333:role/Аdmin"}, "SM115"),
        ({"Environment": {"A": "a\u202eb"}}, "SM103"),
        ({"TrainingJobName": "a\u200bb"}, "SM103"),
    ):
        for ensure_ascii in (True, False):
            text = json.dumps({**request, **changed}, ensure_ascii=ensure_ascii)
            (tmp_path / "request.json").write_text(text)
            run = smspec("validate", "--api-json", "request.json", "--format", "json", cwd=tmp_path)
            is_visible = ensure_ascii and "Environment" in changed  # an escape in free text
            assert (code in {one["code"] for one in json.loads(run.out)}) is not is_visible


HOSTILE_NAME = "j\n::error::x%0A\x9b\u202eb"


def test_file_name_in_every_format(tmp_path):
    """A name of a file with a line break, a workflow command, and controls; only what is for programs contains it."""
    directory = tmp_path / HOSTILE_NAME
    directory.mkdir()
    (directory / "job.yaml").write_text(yaml.safe_dump({**JOB, "role": "Аdmin\u202e", "colour": "а\u200b"}))
    for form in ("text", "json", "sarif", "github", "junit", "html", "mermaid"):
        run = smspec("validate", ".", "--format", form, cwd=tmp_path)
        shown = unescape(run.out) if form in ("html", "junit") else run.out
        assert not is_dangerous(shown + run.err), form
        assert not re.search("^::error::x", run.out + run.err, re.MULTILINE), form
        if form == "junit":
            assert ElementTree.fromstring(run.out.encode()) is not None
        if form == "github":
            assert all(
                line.startswith(("::error file=", "::warning file=", "::notice ")) for line in run.out.splitlines()
            )


def test_values_in_a_diff(tmp_path):
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(JOB))
    words = f"аdmin{DANGEROUS.replace(chr(0), '')}"
    (tmp_path / "new.yaml").write_text(
        yaml.safe_dump({**JOB, "description": words, "hyperparameters": {"a": words}, "environment": {"B": words[:9]}})
    )
    for form in ("text", "markdown", "json"):
        run = smspec("diff", "old.yaml", "new.yaml", "--format", form, cwd=tmp_path)
        assert run.status == 1 and not is_dangerous(unescape(run.out) + run.err) and "аdmin" not in run.out


@pytest.mark.parametrize(
    ("name", "value", "is_honest"),
    [
        ("PIP_EXTRA_INDEX_URL", "https://a.org/s https://pypi.оrg/simple", False),
        ("PIP_FIND_LINKS", "https://a.org/s\nhttps://pypi.оrg/simple", False),
        ("PIP_TRUSTED_HOST", "a.org pypi.оrg", False),
        ("UV_INDEX", "https://a.org\u3000https://b.org", False),
        ("SOURCES", "https://a.org,https://pypi.оrg", False),
        ("SOURCES", "s3://a/x; s3://bуcket/y", False),
        ("PROMPT", "см. https://example.com/путь и https://example.org", True),
        ("PROMPT", "文档 （https://example.com）。参见https://example.com/文档", True),
        ("PROMPT", "voir : «https://example.com»\xa0!", True),
        ("PIP_CACHE_DIR", "/кэш/данные", True),
        ("PATHS", "s3://b/данные s3://b/训练", True),
    ],
)
def test_each_address_in_a_value_counts(name, value, is_honest):
    for key in ("environment", "Environment", "hyperparameters", "HyperParameters"):
        assert (fault_in_data({key: {name: value}}) is None) == is_honest
    assert (fault_in_data({"image": {"env": {name: value}}}) is None) == is_honest


@given(st.text(st.sampled_from(DANGEROUS + "аab \n\t"), max_size=20))
def test_console_shows_nothing_that_cannot_be_seen(text):
    shown = seen(text)
    assert not any(character in shown for character in DANGEROUS if ord(character) >= 0x20)


@pytest.mark.parametrize(
    "order",
    [
        *(
            "]0;title\a",
            "]52;c;Y3VybA==\a",
            "]8;;http://x\x1b\\",
            "]1337;File=:AA==\a",
            "P+q544e\x1b\\",
            "^x\x1b\\",
            "_x\x1b\\",
        ),
        *(
            "[6n",
            "[c",
            "[>c",
            "[=c",
            "[21t",
            "[8;1;1t",
            "[?1049h",
            "[?1000h",
            "[4h",
            "[5i",
            "[!p",
            "[1;2r",
            "[2 q",
            "[?6n",
        ),
        *("c", "7", "#8", "(0", "=", "Z", "[", "", "[?2026h", "[1$r", "[?25n", "[0x", "[3b", "[2S"),
    ],
    ids=ascii,
)
def test_console_passes_no_order_to_the_terminal(order):
    assert seen(f"a\x1b{order}b").startswith("a\\x1b")


@pytest.mark.parametrize(
    "order", ["[31m", "[0m", "[1;38;5;9m", "[38:2::1:2:3m", "[m", "[K", "[2K", "[3A", "[J", "[?25l", "[4;1H"]
)
def test_console_passes_colors_and_moves(order):
    assert seen(f"a\x1b{order}b\r\n\t\a\b") == f"a\x1b{order}b\r\n\t\a\b"


def test_message_of_a_command_is_shown_visibly(tmp_path):
    program = "import sys; from smspec.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "validate", "no\u202ething", "а\u200bdmin.yaml"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and not is_dangerous(run.stdout + run.stderr) and "\\u" in run.stderr


@given(st.text(st.sampled_from(DANGEROUS.replace("\x00", "") + "аab ❤"), max_size=12))
def test_spec_that_smspec_writes_can_be_reviewed(text):
    """`import` and `render --spec` write as an escape what `validate` rejects."""
    escapes = "".join(f"\\U{ord(each):08X}" for each in text)
    node = read(SourceText("job.yaml", f'smspec: v1\ndescription: "{escapes}"\n'))
    written = spec_yaml(node)
    assert [*unseen_parts(written)] == []
    assert to_data(read(SourceText("job.yaml", written)).root)["description"] == text
