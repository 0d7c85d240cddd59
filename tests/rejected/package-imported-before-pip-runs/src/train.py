import subprocess
import sys

import numpy


def install(package):
    subprocess.check_call([sys.executable, "-m", "pip", "install", package])


def main():
    install("xgboost")

    import xgboost

    print(xgboost.__version__, numpy.__version__)


if __name__ == "__main__":
    main()
