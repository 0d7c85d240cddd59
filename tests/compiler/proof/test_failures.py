"""Which exceptions certainly end the job, too."""

import pytest

from smspec.plan import ImagePlan
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


def circumstances(of_image=None, is_complete=True, code="/nowhere", knows_variables=True, data=()):
    return Circumstances(
        path=("entry_point",),
        code=str(code),
        directory="src",
        script="train.py",
        image=of_image or image(),
        is_complete=is_complete,
        knows_variables=knows_variables,
        data=data,
        has_host=True,
    )


def raised(error, module=None, frames=(("/nowhere/train.py", 1),)):
    kinds = tuple(kind.__name__ for kind in type(error).__mro__)
    return Raised(kind=kinds[0], kinds=kinds, message=str(error), frames=tuple(frames), module=module)


@pytest.mark.parametrize(
    ("error", "certain"),
    [
        (TypeError("reduce() of empty iterable with no initial value"), False),
        (AttributeError("module 'numpy' has no attribute 'float'"), True),
        (ImportError("cannot import name 'load_metric' from 'datasets'"), True),
        (TypeError("unexpected keyword argument 'nargss'"), True),
        (AttributeError("'NoneType' object has no attribute 'name'"), False),
        (ImportError("libcuda.so.1: cannot open shared object file: No such file"), False),
        (ImportError("libunknown.so.3: cannot open shared object file: No such file"), False),
        (ImportError("libGL.so.1: cannot open shared object file: No such file"), True),
        (RuntimeError("no data"), False),
        (FileNotFoundError(2, "No such file or directory", "/etc/x"), False),
        (FileNotFoundError(2, "No such file or directory", "/opt/ml/input/data/absent/x"), True),
        (AttributeError("module 'torch._C' has no attribute '_cuda_setDevice'"), False),
        (PermissionError(13, "`smspec check` allows no writing here"), False),
        (KeyError("column"), False),
    ],
)
def test_exceptions_about_the_code_are_certain(error, certain):
    assert is_certain(raised(error), circumstances()) is certain


OS = "/usr/lib/python3.12/os.py"


@pytest.mark.parametrize(
    ("name", "certain"),
    [
        ("SM_CHANNEL_X", True),
        ("TRACKING_USER", True),
        *(
            (name, False)
            for name in ("LD_LIBRARY_PATH", "PYTHON_VERSION", "GPG_KEY", "LANG", "AWS_REGION", "TRAINING_JOB_ARN")
        ),
        *(
            (name, False)
            for name in ("OMPI_COMM_WORLD_NODE_RANK", "PMIX_RANK", "ROLE_NAME", "TORCHELASTIC_MAX_RESTARTS")
        ),
    ],
)
def test_missing_variable_is_certain_if_nothing_may_set_it(name, certain):
    for file in (OS, "<frozen os>"):
        assert is_certain(raised(KeyError(name), frames=[(file, 9)]), circumstances()) is certain
    assert not is_certain(raised(KeyError(name), frames=[(OS, 9)]), circumstances(knows_variables=False))


LOOP = "for file in files:\n    columns = 1\nprint(columns)\n"


@pytest.mark.parametrize(
    ("files", "certain"),
    [
        ({"train.py": "print(columns)\n"}, True),
        ({"train.py": "print(columns)\n", "other.py": LOOP}, True),
        ({"train.py": "import argparse\nprint(columns, vars(1))\n"}, True),
        ({"train.py": LOOP}, False),
        ({"train.py": "from other import *\nprint(columns)\n", "other.py": LOOP}, False),
        ({"train.py": "from other import *\nprint(columns)\n", "other.py": ""}, True),
        ({"train.py": "print(columns)\n", "other.py": "import train\ntrain.columns = 1\n"}, False),
        ({"train.py": "print(columns)\n", "other.py": "setattr(module, 'columns', 1)\n"}, False),
        ({"train.py": "globals().update(values)\nprint(columns)\n"}, False),
        ({"train.py": "try:\n    import columns\nexcept ImportError:\n    pass\nprint(columns)\n"}, False),
        ({"train.py": "def f():\n    global columns\nprint(columns)\n"}, False),
        ({"train.py": "print(columns) syntax of a later Python\n"}, False),
    ],
)
def test_undefined_name_is_certain_if_nothing_binds_it(tmp_path, files, certain):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    failure = raised(NameError("name 'columns' is not defined"), frames=[(str(tmp_path / "train.py"), 3)])
    assert is_certain(failure, circumstances(code=tmp_path)) is certain
    unbound = raised(UnboundLocalError("cannot access local variable 'columns'"), frames=failure.frames)
    assert not is_certain(unbound, circumstances(code=tmp_path))


def test_star_import_of_unknown_packages_may_bind(tmp_path):
    (tmp_path / "train.py").write_text("from package import *\nprint(columns)\n")
    failure = raised(NameError("name 'columns' is not defined"), frames=[(str(tmp_path / "train.py"), 2)])
    assert is_certain(failure, circumstances(code=tmp_path))
    assert not is_certain(failure, circumstances(code=tmp_path, is_complete=False))


@pytest.mark.parametrize(
    ("error", "certain"),
    [
        (TypeError("can only concatenate str (not 'int') to str"), False),
        (TypeError("load() missing 1 required positional argument: 'path'"), False),
        (AttributeError("'list' object has no attribute 'shape'"), False),
        (TypeError("load() got an unexpected keyword argument 'pth'"), True),
        (AttributeError("module 'numpy' has no attribute 'float'"), True),
        (ImportError("cannot import name 'load_metric' from 'datasets'"), True),
    ],
)
def test_empty_channels_explain_other_exceptions(error, certain):
    assert is_certain(raised(error), circumstances(data=("/opt/ml/input/data/train",))) is certain
    assert is_certain(raised(error), circumstances())


def test_name_of_an_own_module_may_depend_on_data(tmp_path):
    (tmp_path / "data.py").write_text(LOOP)
    for name, certain in (("columns", False), ("rows", True)):
        imported = raised(ImportError(f"cannot import name '{name}' from 'data' (/x/data.py)"), "data")
        used = raised(AttributeError(f"module 'data' has no attribute '{name}'"))
        for failure in (imported, used):
            assert is_certain(failure, circumstances(code=tmp_path)) is certain


def test_missing_package_is_certain_where_all_are_known(tmp_path):
    missing = raised(ModuleNotFoundError("No module named 'numpy'"), "numpy")
    assert is_certain(missing, circumstances())
    assert not is_certain(missing, circumstances(is_complete=False))
    assert not is_certain(raised(ImportError("requires accelerate")), circumstances(is_complete=False))
    assert not is_certain(raised(AttributeError("no attribute 'float'")), circumstances(is_complete=False))
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
    ids=["slim", "full", "alpine", "unknown", "installed", "others installed", "installed by a command"],
)
def test_libraries_of_small_images_are_known(of_image, found):
    libraries = [
        "/usr/lib/x86_64-linux-gnu/libGL.so.1",
        "/usr/lib/libgomp.so.1",
        "/usr/lib/libc.so.6",
        "/env/libX11.so.6",
    ]
    assert lacking(libraries, of_image, ["/env"]) == found
