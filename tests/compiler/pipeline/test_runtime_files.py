"""The delivered runtime is the installed one."""

from pathlib import Path

import smspec_runtime
from smspec.pipeline.named_files import runtime_listing


def test_listing_contains_only_the_runtime_modules():
    package = Path(smspec_runtime.__file__).parent
    found = runtime_listing().files
    modules = {str(path.relative_to(package)) for path in package.rglob("*.py")}
    assert {file.path for file in found} == modules | {"py.typed"}
    assert [file.path for file in found] == sorted((file.path for file in found), key=str.encode)
    assert not any(file.executable for file in found)
