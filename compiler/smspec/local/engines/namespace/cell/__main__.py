"""Start the cell from any directory: ``python -I -S DIRECTORY probe``, or ``… run PLAN``."""

import importlib.util
import os
import sys

PACKAGE = "smspec_cell"


def main() -> None:
    """Import this directory as a package, whatever its name and without changing the search path, and run it."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    importlib.import_module(PACKAGE + ".program").main(sys.argv[1:])


if __name__ == "__main__":
    main()
