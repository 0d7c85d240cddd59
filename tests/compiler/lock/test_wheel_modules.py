"""The modules in a wheel, by the names of its files."""

from __future__ import annotations

import pytest

from smspec.lock.wheel_modules import modules_of


@pytest.mark.parametrize(
    ("names", "modules"),
    [
        (["six.py", "six-1.17.0.dist-info/METADATA"], ("six",)),
        (["numpy/__init__.py", "numpy/core/_multiarray.cpython-311-x86_64-linux-gnu.so"], ("numpy",)),
        (["_cffi_backend.cpython-311-x86_64-linux-gnu.so", "cffi/__init__.py"], ("_cffi_backend", "cffi")),
        (["yaml/__init__.py", "_yaml.abi3.so"], ("_yaml", "yaml")),
        (["google/cloud/storage/__init__.py", "google/api/http_pb2.py"], ("google.api", "google.cloud")),
        (["google/cloud/storage/__init__.py", "google_nspkg-1.0-nspkg.pth"], ("google.cloud",)),
        (["mpl_toolkits/mplot3d/axes3d.py", "pylab.py"], ("mpl_toolkits.mplot3d", "pylab")),
        (["spam/ham.py"], ("spam.ham",)),
        (["spam-1.data/purelib/spam/__init__.py", "spam-1.data/scripts/eggs.py"], ("spam",)),
        (["spam-1.data/platlib/spam.cpython-38-x86_64-linux-gnu.so"], ("spam",)),
        (["pandas-stubs/__init__.pyi", "tests/test_pandas.py", "test/__init__.py"], ()),
        (["spam/__init__.pyi", "spam/py.typed"], ()),
        (["spam/data/words.txt", "LICENSE", "README.md", "setup.cfg"], ()),
        (["setuptools/__init__.py", "distutils-precedence.pth"], ("distutils", "setuptools")),
        (["spam/__init__.so"], ("spam",)),
        (["spam/__init__.pyc", "spam/ham.pyc", "eggs.pyc", "lone/ham.pyc"], ("eggs", "lone.ham", "spam")),
        (["spam/ham.py", "spam/__pycache__/ham.cpython-311.pyc", "__pycache__/eggs.cpython-311.pyc"], ("spam.ham",)),
        ([], ()),
    ],
)
def test_modules_are_found(names: list[str], modules: tuple[str, ...]) -> None:
    assert modules_of(names) == modules


def test_changed_search_path_makes_modules_unknown() -> None:
    assert modules_of(["spam/__init__.py", "spam.pth"]) is None
