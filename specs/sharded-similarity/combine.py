"""Make one file of the parts in a model.tar.gz, rows in order of name: ``combine.py model.tar.gz result.csv``."""

import sys
import tarfile


def main():
    archive, result = sys.argv[1:]
    lines = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name.rpartition("/")[2].startswith("part-"):
                lines += tar.extractfile(member).read().decode().splitlines()
    with open(result, "w") as file:
        file.writelines(line + "\n" for line in sorted(lines))
    print("{} rows in {}".format(len(lines), result))


if __name__ == "__main__":
    main()
