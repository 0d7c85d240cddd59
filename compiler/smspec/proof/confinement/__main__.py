"""Start the program from any directory: ``python -I -S CONFINEMENT OPTIONS WORD…``."""

import importlib
import os
import sys

_PACKAGES = ("smspec", "smspec.local", "smspec.local.engines", "smspec.local.engines.namespace")


def main() -> None:
    """Import modules of smspec without the content of the packages around them, which needs libraries."""
    here = os.path.dirname(os.path.abspath(__file__))
    above = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    for name in (*_PACKAGES, "smspec.local.engines.namespace.cell", "smspec.proof", "smspec.proof.confinement"):
        package = type(sys)(name)
        package.__path__ = [os.path.join(above, *name.split("."))]
        sys.modules[name] = package
    sys.exit(importlib.import_module("smspec.proof.confinement.program").main(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    main()
