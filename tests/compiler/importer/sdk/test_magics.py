"""Notebooks whose magics run other code: what that may set is a variable, and never the value of an earlier cell."""

import json

import pytest

from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import without_names

JOB = """import boto3
boto3.client("sagemaker").create_training_job(
    TrainingJobName="churn", RoleArn=role, HyperParameters={"lr": lr}, Environment={"LATER": later})"""
SETS = 'role = "arn:aws:iam::111122223333:role/X"\nlr = "0.1"'


def imported(*cells, choice=None):
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    content = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed})
    return imported_job(found_jobs("a.ipynb", content.encode()), choice)


def values(found):
    request = without_names(found.request)
    return request["RoleArn"], request["HyperParameters"]["lr"], request["Environment"]["LATER"]


ROLE = "arn:aws:iam::111122223333:role/X"


@pytest.mark.parametrize(
    ("cell", "expected", "said"),
    [
        ("%run config.py", ("?", "?", "l"), "%run config.py"),
        ("%run -i ./other.ipynb", ("?", "?", "l"), "%run -i ./other.ipynb"),
        ("%time %run config.py", ("?", "?", "l"), "%time %run config.py"),
        ("if True:\n    %run config.py", ("?", "?", "l"), "%run config.py"),
        ("%load config.py\n# comment", ("?", "?", "l"), "%load config.py"),
        ("%store -r", ("?", "?", "l"), "%store -r"),
        ("%store -r lr", (ROLE, "?", "l"), ""),
        ("get_ipython().run_line_magic('run', 'config.py')", ("?", "?", "l"), "get_ipython"),
        ("globals().update(load())", ("?", "?", "l"), "globals()"),
        ("globals().update({'lr': '0.2'})", (ROLE, "0.2", "l"), ""),
        ("globals()['lr'] = '0.2'", (ROLE, "0.2", "l"), ""),
        ("%%python\nlr = '0.2'", (ROLE, "?", "l"), ""),
        ("%%python3\nimport os\nfor lr in os.sys.argv:\n    print(lr)", (ROLE, "?", "l"), ""),
        ("%%bash --out lr\necho 0.2", (ROLE, "?", "l"), ""),
        ("%%sh --out lr --err role\necho 0.2", ("?", "?", "l"), ""),
        ("%%bash\nlr=0.2\necho $lr", (ROLE, "0.1", "l"), ""),
        ("%%capture lr\nprint(1)", (ROLE, "?", "l"), ""),
        ("%%capture\nlr = '0.2'", (ROLE, "0.2", "l"), ""),
        ("%%python\nthis is not Python", (ROLE, "0.1", "l"), ""),
        ("%load_ext autoreload\n%autoreload 2", (ROLE, "0.1", "l"), ""),
        ("  %run config.py", ("?", "?", "l"), "%run config.py"),
        ("\n  x = 1\n  %run config.py", (ROLE, "0.1", "l"), ""),
        ("run config.py", ("?", "?", "l"), "%run config.py"),
        ("  x = 1\n  run -i ./config.py", ("?", "?", "l"), "%run -i ./config.py"),
        ("store -r lr", (ROLE, "?", "l"), ""),
        ("store -r", ("?", "?", "l"), "%store -r"),
        ("run = 1\nrun -1", (ROLE, "0.1", "l"), ""),
        ("  lr = '0.2'\n  x = 1", (ROLE, "0.2", "l"), ""),
        ("get_ipython().ex('lr = 1')", ("?", "?", "l"), "get_ipython().ex"),
        ("get_ipython().push({'lr': 0.7})  # a comment", ("?", "?", "l"), "get_ipython().push"),
        ("get_ipython().user_ns['lr'] = 0.7", ("?", "?", "l"), "user_ns"),
        ("if True:\n    import sys; sys.modules['__main__'].lr = 1", ("?", "?", "l"), "__main__"),
        ("eval('globals().update(lr=1)')", ("?", "?", "l"), "eval"),
        ("if __name__ == '__main__':\n    lr = '0.2'", (ROLE, "?", "l"), ""),
        ('text = """\nrun the script\n"""', (ROLE, "0.1", "l"), ""),
        ("store = r = 1\nstore -r", (ROLE, "0.1", "l"), ""),
        ("%store lr", (ROLE, "0.1", "l"), ""),
        ("get_ipython().run_line_magic('autoreload', '2')", (ROLE, "0.1", "l"), ""),
        ("%%timeit -n 1\nlr = '0.2'", (ROLE, "?", "l"), ""),
        ("%timeit -n 1 lr = '0.2'", (ROLE, "?", "l"), ""),
        ("%time lr = '0.2'", (ROLE, "0.2", "l"), ""),
        ("%%memit\nlr = '0.2'", (ROLE, "0.2", "l"), ""),
        ("%%custom -x\nlr = '0.2'", (ROLE, "?", "l"), ""),
        ("%%html\nlr = 2", (ROLE, "0.1", "l"), ""),
        ("%edit config.py", ("?", "?", "l"), "%edit config.py"),
        ("%macro setup 1-2", ("?", "?", "l"), "%macro setup 1-2"),
        ("%alias_magic go run\n%go config.py", ("?", "?", "l"), "%run config.py"),
        ("get_ipython().run_cell_magic('time', '', 'lr = \"0.2\"\\n')", (ROLE, "0.2", "l"), ""),
        ("get_ipython().run_line_magic('time', 'lr = \"0.2\"')", (ROLE, "0.2", "l"), ""),
        ("get_ipython().magic('time lr = \"0.2\"')", (ROLE, "0.2", "l"), ""),
    ],
)
def test_names_that_other_code_may_set_are_variables(cell, expected, said):
    found = imported(SETS, cell, "later = 'l'", JOB)
    assert values(found) == expected
    doubts = [part for part in found.not_imported if "may set names" in part.why]
    assert [said in str(part) for part in doubts] == [True] * bool(said)
    assert not doubts or "cell 2" in doubts[0].why


def test_other_code_is_listed_once():
    found = imported("%run one.py", SETS, "%run two.py", "later = 'l'", JOB)
    (doubt,) = [part for part in found.not_imported if "may set names" in part.why]
    assert str(doubt).startswith("names: cell 1, line 1, and 1 more: `%run one.py` may set names")
    assert values(found) == ("?", "?", "l")


def test_job_of_a_cell_for_another_process_is_found():
    found = imported(SETS, f"%%python\nrole = 'other'\nlr = '0.3'\nlater = 'm'\n{JOB}")
    assert values(found) == ("other", "0.3", "m")


def test_names_set_in_the_main_module_are_variables():
    found = imported("import __main__", SETS, "__main__.lr = '0.3'", "later = 'l'", JOB)
    assert values(found) == ("?", "?", "l")
    (doubt,) = [part for part in found.not_imported if "may set names" in part.why]
    assert "cell 1, line 1, and 1 more: `import __main__`" in str(doubt)


@pytest.mark.parametrize(
    "cells",
    [
        ["%alias_magic t time", "%t START"],
        ["%alias_magic t time\n%t START"],
        ["%alias_magic -c -l t time", "%%t\nSTART"],
        ['%alias_magic -p "-r 1" t timeit', "%t START"],
        ["alias_magic t time", "%t START"],
        ["%alias_magic t time", "%alias_magic u t", "%u START"],
        ["get_ipython().run_cell_magic('time', '', START_TEXT)"],
        ["get_ipython().run_cell_magic('capture', 'out', START_TEXT)"],
        ["get_ipython().run_line_magic('time', START_TEXT)"],
        ["get_ipython().magic('%time ' + START_TEXT)"],
        ["%lprun -f train START"],
        ["%mprun -f train -T out.txt START"],
        ["%snakeviz START"],
        ["%%memit\nSTART"],
    ],
)
def test_job_that_a_magic_runs_is_found(cells):
    start = JOB.partition("\n")[2].replace("\n", "")
    head = f"import boto3\n{SETS}\nlater = 'l'\nSTART_TEXT = {start!r}"
    found = imported(head, *(cell.replace("START", start) if "_TEXT" not in cell else cell for cell in cells))
    assert values(found) == (ROLE, "0.1", "l")
