"""Jobs whose arguments are in objects of classes of the program."""

import pytest

from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from support.service.imported_requests import imported_program, without_names

HEAD = """
import os
from dataclasses import asdict, dataclass, field, replace
from sagemaker.pytorch import PyTorch
C = dict(role="arn:aws:iam::111122223333:role/X", instance_type="ml.m5.xlarge", entry_point="t.py",
         framework_version="2.3.0", py_version="py311", output_path="s3://example-models/o/")
def start(count, **hp):
    PyTorch(**C, instance_count=count, hyperparameters=hp).fit()
"""
JOB = "class Job:\n    count = 1\n    def run(self):\n        start(self.count)\n"
INIT = (
    "class Job:\n    def __init__(self, n=1):\n        self.count = n\n    def run(self):\n        start(self.count)\n"
)
DATA = "@dataclass\nclass Job:\n    count: int = 1\n    hp: dict = field(default_factory=lambda: {'lr': 0.1})\n"
OTHERS = "class Job:\n    hp = {'lr': 0.1}\n    def run(self):\n        start(3, **self.hp)\n"


def counts(text):
    found = found_jobs("a.py", f"{HEAD}{text}\n".encode())
    jobs = [imported_job(found, str(number)) for number in range(1, len(found.jobs) + 1)]
    return [without_names(job.request["ResourceConfig"].get("InstanceCount")) for job in jobs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{JOB}Job().run()", [1]),
        (f"{JOB}j = Job()\nj.count = 4\nj.run()", [4]),
        (f"{JOB}Job.count = 4\nJob().run()", [4]),
        (f"{JOB}class Big(Job):\n    count = 4\nBig().run()\nJob().run()", [4, 1]),
        (f"{JOB}class Big(Job):\n    def run(self):\n        self.count += 2\n        super().run()\nBig().run()", [3]),
        (f"{JOB}j = Job()\nif u():\n    j.count = 4\nj.run()", ["?"]),
        (f"{JOB}j = Job()\nwhile u():\n    j.run()\n    j.count += 1", ["?"]),
        (f"{JOB}j = Job()\nlib.change(j)\nj.run()", ["?"]),
        (f"{JOB}if u():\n    Job.count = 4\nJob().run()", ["?"]),
        (f"{JOB}def other(j):\n    j.count = 4\n    j.run()\n", ["?"]),
        (f"{JOB}", ["?", 1]),
        ("def same(f):\n    return lambda *a: f(*a)\n@same\ndef go(n):\n    start(n)\ngo(2)", [2]),
        ("import lib\n@lib.task\ndef go(n):\n    start(n)\ngo(2)", ["?"]),
        ("class Job:\n    def n(self):\n        return 2\nj = Job()\nj.n = lambda: 7\nstart(j.n())", [7]),
        (f"{JOB}def late(j):\n    j.count = 4\n", ["?"]),
        (f"{INIT}Job(3).run()", [3]),
        (f"{INIT}Job(n=5).run()\nJob().run()", [5, 1]),
        (f"{INIT}class Big(Job):\n    def __init__(self):\n        super().__init__(8)\nBig().run()", [8]),
        (f"{INIT}class Big(Job):\n    def __init__(self):\n        Job.__init__(self, 8)\nBig().run()", [8]),
        (f"{INIT}for n in (1, 2):\n    Job(n).run()", [1, 2]),
        (f"{INIT}j = Job(2)\nvars(j)['count'] = 6\nsetattr(j, 'count', j.count + 1)\nj.run()", [7]),
        (f"{DATA}start(Job(count=4).count)", [4]),
        (f"{DATA}start(replace(Job(4), count=5).count)", [5]),
        (f"{DATA}    def __post_init__(self):\n        self.count *= 2\nstart(Job(4).count)", [8]),
        (f"{DATA}    def __post_init__(self):\n        self.count *= 2\nstart(replace(Job(4), hp={{}}).count)", [16]),
        (f"{DATA}j = Job(4)\nj.count = 7\nstart(replace(j, hp={{}}).count)", [7]),
        (f"{DATA}start(replace(Job(4), **u()).count)", ["?"]),
        (f"{DATA}start(Job(**u()).count)", ["?"]),
        (f"{DATA}@dataclass\nclass Big(Job):\n    count: int = 9\n    size: int = 2\nb = Big()\nstart(b.count)", [9]),
        ("class Cfg:\n    N = 2\n    M = N + 1\nstart(Cfg.M)", [3]),
        ("class Job:\n    @classmethod\n    def make(cls, n=2):\n        return cls().go(n)\n"
         "    @staticmethod\n    def go(n):\n        start(n)\nJob.make(5)", [5]),
        ("class Job:\n    @property\n    def count(self):\n        return 6\nstart(Job().count)", [6]),
        ("class Job:\n    def __call__(self, n):\n        start(n)\nJob()(7)", [7]),
        ("class Job:\n    def __getattr__(self, name):\n        return 1\nstart(Job().count)", ["?"]),
        ("class Job(dict):\n    count = 1\nstart(Job().count)", ["?"]),
        ("@u\nclass Job:\n    count = 1\nstart(Job().count)", ["?"]),
        ("class Job(metaclass=M):\n    count = 1\nstart(Job().count)", ["?"]),
        (f"{JOB}    def __init_subclass__(cls): ...\nclass X(Job):\n    count = 5\nX().run()", ["?"]),
        (f"{JOB}    def __getitem__(self, key): ...\nclass X(Job):\n    def run(self): ...\n", ["?", 1]),
        ("class Job(lib.A):\n    def size(self):\n        return 1\n    def run(self):\n        start(self.size())\n"
         "class Big(Job):\n    def size(self):\n        return 8\nBig().run()", ["?"]),
        ("from abc import ABC, abstractmethod\nclass Job(ABC):\n    @abstractmethod\n    def size(self): ...\n"
         "    def run(self):\n        start(self.size())\nclass Big(Job):\n    def size(self):\n        return 8\n"
         "for kind in (Big,):\n    kind().run()", [8]),
        ("class Job:\n    def __enter__(self):\n        self.n = 1\n        return self\n"
         "    def __exit__(self, *a):\n        start(self.n)\nwith Job() as j:\n    j.n = 6", [6]),
        (f"{JOB}Job.run = lambda self: start(9)\nJob().run()", [9]),
        (f"{JOB}    def more(self):\n        type(self).count += 1\nJob().more()\nJob().run()", [2]),
        (f"{JOB}    def more(self):\n        self.__class__.count += 1\nJob().more()\nJob().more()\nJob().run()", [3]),
        (f"{JOB}class Big(Job):\n    def more(self):\n        type(self).count = 6\n"
         "Big().more()\nJob().run()\nBig().run()", [1, 6]),
        (f"{JOB}j = Job()\nj.__class__.count = 4\nif u():\n    type(j).count = 5\nj.run()", ["?"]),
    ],
)  # fmt: skip
def test_attributes_of_objects_have_their_values(text, expected):
    assert counts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{OTHERS}Job().run()", {"lr": "0.1"}),
        (f"{DATA}start(1, a=asdict(Job(count=4)))", {"a": '{"count": 4, "hp": {"lr": 0.1}}'}),
        (f"{DATA}j = Job()\nj.hp['lr'] = 0.2\nstart(1, **j.hp)\n", {"lr": "0.2"}),
        (f"{DATA}one, two = Job(), Job()\none.hp['lr'] = 0.2\nstart(1, **two.hp)\n", {"lr": "0.1"}),
    ],
)
def test_hyperparameters_of_objects_are_sent(text, expected):
    found = imported_program(f"{HEAD}{text}\n")
    assert (found.request["HyperParameters"], found.not_imported) == (expected, ())


@pytest.mark.parametrize(
    "change", ["Job.hp['lr'] = 0.5", "def f(j):\n    j.hp.update(lr=0.5)", "def f(j):\n    h = j.hp\n    h['lr'] = 0.5"]
)
def test_collection_of_a_class_that_is_changed_is_doubted(change):
    found = imported_job(found_jobs("a.py", f"{HEAD}{OTHERS}{change}\nJob().run()\n".encode()), "1")
    assert found.not_imported
    assert found.request.get("HyperParameters", {}).get("lr") != "0.1"


def test_estimator_that_two_methods_share_has_its_channels():
    text = (
        "class Job:\n    def build(self):\n        self.made = PyTorch(**C, instance_count=2)\n"
        "    def run(self):\n        self.made.fit({'train': 's3://example-data/t'})\n"
        "j = Job()\nj.build()\nj.made.max_run = 60\nj.run()\n"
    )
    found = imported_job(found_jobs("a.py", f"{HEAD}{text}".encode()), "made")
    assert [channel["ChannelName"] for channel in found.request["InputDataConfig"]] == ["train"]
    assert found.request["StoppingCondition"] == {"MaxRuntimeInSeconds": 60}


CACHED = """
import functools
SIZES = {"now": 1}
@functools.cache
def size(name):
    return SIZES["now"]
class Job:
    n = 1
    @functools.cached_property
    def count(self):
        return self.n
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size('a')\nSIZES['now'] = 5\nstart(size('a'))\nstart(size('b'))", [1, 5]),
        ("size(name='a')\nSIZES['now'] = 5\nstart(size(name='a'))\nstart(size('a'))", [1, 5]),
        ("size('a')\nSIZES['now'] = 5\nsize.cache_clear()\nstart(size('a'))", [5]),
        ("size('a')\nSIZES['now'] = 5\nstart(size(u()))", ["?"]),
        ("size(u())\nSIZES['now'] = 5\nstart(size('a'))", ["?"]),
        ("if u():\n    size('a')\nSIZES['now'] = 5\nstart(size('a'))", ["?"]),
        ("lib.use(size)\nstart(size('a'))", ["?"]),
        ("start(size(u()))", [1]),
        ("j = Job()\nj.count\nj.n = 5\nstart(j.count)\nk = Job()\nk.n = 8\nstart(k.count)", [1, 8]),
        ("j = Job()\nj.n = 5\nstart(j.count)", [5]),
        ("j = Job()\nif u():\n    j.count\nj.n = 5\nstart(j.count)", ["?"]),
    ],
)
def test_results_that_are_kept(text, expected):
    assert counts(CACHED + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 1\nwith suppress(KeyError):\n    n = u()['a']\n    n = 3\nstart(n)", ["?"]),
        ("n = 1\nwith contextlib.suppress(KeyError):\n    n = 2\nstart(n)", ["?"]),
        ("n = 1\nwith suppress(KeyError):\n    u()\nstart(n)", [1]),
        ("n = 1\nwith open('a') as file:\n    n = 2\nstart(n)", [2]),
    ],
)
def test_block_that_an_exception_may_leave(text, expected):
    assert counts(f"import contextlib\nfrom contextlib import suppress\n{text}") == expected
