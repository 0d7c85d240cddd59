"""Module names from the lists of files of wheels."""

from __future__ import annotations

import pytest

from maintenance.pypi import _fits, names_in_wheel


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (["PIL/__init__.py", "pillow-12.dist-info/METADATA"], {"PIL"}),
        (["six.py", "six-1.dist-info/METADATA"], {"six"}),
        (["_cffi_backend.cpython-312-x86_64-linux-gnu.so", "cffi/api.py"], {"_cffi_backend", "cffi"}),
        (["y.abi3.so", "z.so"], {"y", "z"}),
        (["nvidia/cudnn/lib/libcudnn.so.9", "nvidia_cudnn-9.dist-info/RECORD"], {"nvidia"}),
        (["x-1.data/purelib/x/__init__.py", "x-1.data/scripts/run.py", "x-1.data/platlib/_x.so"], {"x", "_x"}),
        (["yaml-stubs/__init__.pyi", "types-1.dist-info/WHEEL", "readme.txt", "__init__.py"], set()),
    ],
)
def test_module_names_are_what_a_wheel_installs(entries, names):
    assert names_in_wheel(entries) == names


@pytest.mark.parametrize(
    ("wheel", "fits"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1-cp38-abi3-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp313-abi3-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("a-1-cp312-cp312-macosx_14_0_arm64.whl", False),
        ("a-1-cp312-cp312-manylinux_2_28_aarch64.whl", False),
    ],
)
def test_wheel_fits_the_python_of_the_image(wheel, fits):
    assert _fits(wheel, "312") is fits
