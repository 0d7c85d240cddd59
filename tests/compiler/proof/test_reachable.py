"""The modules that a script can import, and whether it has a parser to stop at."""

import pytest

from smspec.pipeline.inputs import gather
from smspec.proof.steps import parser_count, reachable_modules
from smspec.script.reach import Reach
from smspec.source import SourceText
from support.small_job import write_job

JOB = "image: {base: 'python:3.12-slim'}\nsource: src/\nentry_point: train.py\n"


def gathered(directory, files):
    write_job(directory, JOB)
    for name, text in files.items():
        path = directory / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return gather(str(directory / "job.yaml"))


def reachable(inputs):
    assert isinstance(inputs.reach, Reach)
    files = {file.path: file.origin for file in inputs.build_inputs.source.files}
    return reachable_modules(inputs.reach, files, f"{inputs.directory}/src", is_handler=False)


def test_modules_on_every_way_are_found(tmp_path):
    files = {
        "train.py": "import certain\ntry:\n    import optional\nexcept ImportError:\n    pass\n",
        "certain.py": "def later():\n    from package import part\n",
        "optional.py": "from . import nothing\n",
        "package/__init__.py": "",
        "package/part.py": "from .sibling import name\n",
        "package/sibling.py": "name = 1\n",
        "unused.py": "print 'python 2'\n",
    }
    inputs = gathered(tmp_path, files)
    found = {module.path: (module.name, module.is_certain) for module in reachable(inputs)}
    assert found == {
        "train.py": ("", True),
        "certain.py": ("certain", True),
        "optional.py": ("optional", False),
        "package/__init__.py": ("package", False),
        "package/part.py": ("package.part", False),
        "package/sibling.py": ("package.sibling", False),
    }


@pytest.mark.parametrize(
    ("train", "other", "count"),
    [
        ("import argparse\nargs = argparse.ArgumentParser().parse_args()\n", "", 1),
        ("import tool\nprint(1)\n", "import argparse\n", 0),
        ("import tool\ntool.main()\n", "import argparse\ndef main():\n    argparse.ArgumentParser().parse_args()\n", 1),
        ("import fire\nfire.Fire(lambda: 1)\n", "", 1),
        ("from hydra import main\n@main()\ndef run(_): ...\nrun()\n", "", 1),
        ("from hydra import compose\nprint(compose('config'))\n", "", 0),
        ("import tyro\nfrom tyro.extras import SubcommandApp\nSubcommandApp().cli()\n", "", 0),
        ("from omegaconf import OmegaConf\nprint(OmegaConf.from_cli())\n", "", 0),
        ("print(1)\n", "", 0),
    ],
)
def test_script_without_a_parser_is_not_run(tmp_path, train, other, count):
    inputs = gathered(tmp_path, {"train.py": train, "tool.py": other})
    texts = [SourceText("train.py", train), SourceText("tool.py", other)]
    assert parser_count(inputs.program, texts) == count
