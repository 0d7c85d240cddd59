"""Which exceptions certainly end the job, too."""

import pytest

from smspec.plan.plan import ImagePlan
from smspec.proof.failures import Circumstances, is_certain
from smspec.proof.observation import Raised
from smspec.proof.shared_libraries import lacking

SLIM = "python:3.12-slim-bookworm"


def image(base=SLIM, system_packages=(), run=()):
    return ImagePlan(
        base=base,
        platform="linux/amd64",
        system_packages=tuple(system_packages),
        python_packages=(),
        python_requirements=None,
        env={},
        run=tuple(run),
        labels={},
        secrets={},
        title="",
        holds_source=True,
        needs_ssh=False,
        repository="job",
        tag="x",
    )


def circumstances(of_image=None, is_complete=True, code="/nowhere"):
    return Circumstances(
        path=("entry_point",),
        code=str(code),
        directory="src",
        script="train.py",
        image=of_image or image(),
        is_complete=is_complete,
    )


def raised(error, module=None, frames=(("/nowhere/train.py", 1),)):
    kinds = tuple(kind.__name__ for kind in type(error).__mro__)
    return Raised(kind=kinds[0], kinds=kinds, message=str(error), frames=tuple(frames), module=module)


@pytest.mark.parametrize(
    ("error", "certain"),
    [
        (NameError("name 'x' is not defined"), True),
        (AttributeError("module 'numpy' has no attribute 'float'"), True),
        (ImportError("cannot import name 'load_metric' from 'datasets'"), True),
        (TypeError("unexpected keyword argument 'nargss'"), True),
        (AttributeError("'NoneType' object has no attribute 'name'"), False),
        (ImportError("libcuda.so.1: cannot open shared object file: No such file"), False),
        (ImportError("libunknown.so.3: cannot open shared object file: No such file"), False),
        (ImportError("libGL.so.1: cannot open shared object file: No such file"), True),
        (RuntimeError("no data"), False),
        (FileNotFoundError(2, "No such file or directory", "/opt/ml/input/data/train/x"), False),
        (AttributeError("module 'torch._C' has no attribute '_cuda_setDevice'"), False),
        (PermissionError(13, "`smspec check` allows no writing here"), False),
        (KeyError("column"), False),
    ],
)
def test_exceptions_about_the_code_are_certain(error, certain):
    assert is_certain(raised(error), circumstances()) is certain


def test_missing_variable_is_certain():
    assert is_certain(raised(KeyError("SM_CHANNEL_X"), frames=[("/usr/lib/python3.12/os.py", 9)]), circumstances())
    assert is_certain(raised(KeyError("SM_CHANNEL_X"), frames=[("<frozen os>", 9)]), circumstances())


def test_missing_package_is_certain_where_all_are_known(tmp_path):
    missing = raised(ModuleNotFoundError("No module named 'numpy'"), "numpy")
    assert is_certain(missing, circumstances())
    assert not is_certain(missing, circumstances(is_complete=False))
    assert not is_certain(raised(ImportError("requires accelerate")), circumstances(is_complete=False))
    assert not is_certain(raised(AttributeError("no attribute 'float'")), circumstances(is_complete=False))
    assert is_certain(raised(NameError("name 'x' is not defined")), circumstances(is_complete=False))
    (tmp_path / "own").mkdir()
    own = raised(ModuleNotFoundError("No module named 'own.part'"), "own.part")
    assert is_certain(own, circumstances(is_complete=False, code=tmp_path))


@pytest.mark.parametrize(
    ("of_image", "found"),
    [
        (image(), ["libGL.so.1", "libgomp.so.1"]),
        (image("python:3.12"), ["libGL.so.1"]),
        (image("python:3.12-alpine"), []),
        (image("example.com/python-slim:1"), []),
        (image(system_packages=["libgl1", "libgomp1=12"]), []),
        (image(system_packages=["git", "ca-certificates"]), ["libGL.so.1", "libgomp.so.1"]),
        (image(run=["apt-get install libgomp1"]), []),
    ],
)
def test_libraries_of_small_images_are_known(of_image, found):
    libraries = [
        "/usr/lib/x86_64-linux-gnu/libGL.so.1",
        "/usr/lib/libgomp.so.1",
        "/usr/lib/libc.so.6",
        "/env/libX11.so.6",
    ]
    assert lacking(libraries, of_image, ["/env"]) == found
