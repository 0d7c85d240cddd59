"""A job is sent the modules of the runtime that it needs."""

import ast
from pathlib import Path, PurePosixPath

import pytest

import smspec_runtime
from smspec.rules.program.provided_modules import OF_TOOLKITS
from smspec.source import Listing
from smspec.spec.model import DISTRIBUTIONS
from smspec.workspace.source_listing import listed_file, runtime_files
from smspec_runtime import toolkit_api
from support.spec.job_documents import merged_text

PACKAGE = Path(smspec_runtime.__file__).parent
LOOP = "entry_point: {pipe_loop: train:handle}\n"
LAUNCHERS = (None, *DISTRIBUTIONS)


def paths(launcher=None, entry="", files=()):
    written = "" if launcher is None else f"distribution: {{{launcher}: {{}}}}\n"
    return {
        file.path for file in runtime_files(merged_text(f"smspec: v1\n{entry}{written}"), Listing(files=files)).files
    }


def size(found):
    return sum((PACKAGE / path).stat().st_size for path in found)


def imported(path):
    """Return the modules of the package that a module imports when it is loaded, as paths."""
    found = set()
    for node in ast.parse((PACKAGE / path).read_text()).body:
        if isinstance(node, ast.With):
            node = ast.Module(node.body, [])
        for part in getattr(node, "body", [node]) if isinstance(node, ast.Module) else [node]:
            if isinstance(part, ast.ImportFrom) and part.level:
                package = PurePosixPath(path).parents[part.level - 1]
                names = (part.module or "").split(".") if part.module else []
                target = package.joinpath(*names)
                if (PACKAGE / target).is_dir():
                    inner = [target / f"{alias.name}.py" for alias in part.names]
                    found |= {str(one) for one in inner if (PACKAGE / one).exists()} | {str(target / "__init__.py")}
                else:
                    found.add(f"{target}.py")
    return found


def named(directory, text, name="train.py"):
    (directory / name).write_text(text)
    return (listed_file(name, str(directory / name)),)


def test_files_are_modules_of_the_package(tmp_path):
    found = paths("mpi", LOOP, named(tmp_path, "import sagemaker_training\n"))
    every = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")} | {"py.typed"}
    others = ("multi_worker_mirrored", "parameter_server", "smdataparallel", "torchrun")
    unsent = {"image_plan.py", "local_tree.py"}
    assert found == every - unsent - {f"launchers/{name}.py" for name in others}
    listed = runtime_files(merged_text("smspec: v1\n"), Listing()).files
    assert [file.path for file in listed] == sorted((file.path for file in listed), key=str.encode)
    assert not any(file.executable for file in listed)


@pytest.mark.parametrize("entry", ["", LOOP], ids=["script", "loop"])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_module_finds_those_that_it_loads(launcher, entry, tmp_path):
    found = paths(launcher, entry, named(tmp_path, "import sagemaker_training\n"))
    for path in sorted(found - {"py.typed"}):
        assert imported(path) <= found, path


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_runtime_is_small(launcher, tmp_path):
    """At most 256,000 bytes for one job, so that an image hardly grows; for a script with one process, 180,000."""
    assert size(paths(launcher, LOOP, named(tmp_path, "import sagemaker_training\n"))) <= 256_000
    assert size(paths()) < 180_000


def test_only_teams_get_peers_and_only_mpirun_ssh():
    """torchrun's hosts wait for each other themselves."""
    peers = {launcher: {path for path in paths(launcher) if path.startswith("peers/")} for launcher in LAUNCHERS}
    assert peers["torchrun"] == peers[None] == set()
    assert peers["mpi"] == peers["smdataparallel"] == peers["parameter_server"] | {"peers/ssh.py"}
    assert "launchers/efa_instances.py" not in paths("parameter_server")


def test_code_that_names_the_runtime_gets_its_readers(tmp_path):
    assert not any(path.startswith(("pipe/", "launchers/", "peers/")) for path in paths())
    assert "pipe/stream.py" in paths(files=named(tmp_path, "from smspec_runtime import pipe\n"))


@pytest.mark.parametrize("text", ["from sagemaker_training import environment", "import sagemaker_containers as sc"])
def test_code_that_names_a_toolkit_gets_its_modules(text, tmp_path):
    assert not any(path.startswith("toolkit_api/") for path in paths())
    assert "toolkit_api/sagemaker_containers/__init__.py" in paths(files=named(tmp_path, text))


@pytest.mark.parametrize("text", ["sagemaker-training", "aws_sagemaker_training_job", "sagemaker_trainings"])
def test_similar_names_are_no_toolkit(text, tmp_path):
    assert paths(files=named(tmp_path, text)) == paths()


def test_modules_of_the_toolkits_are_known_to_the_rules():
    """Each module of the runtime's under both names; the rules list no others."""
    parts = {f"{mark}{part}" for part in toolkit_api._MODULES for mark in ("", "_")} | {"beta", "_beta"}
    names = ("sagemaker_containers", "sagemaker_training")
    assert {f"{name}.{part}" for name in names for part in parts} == OF_TOOLKITS
