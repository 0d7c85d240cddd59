"""Make sample data for ``smspec run``: eight objects of 32 MB, or as many megabytes as the argument says."""

import os
import random
import sys

OBJECTS = 8


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "training")
    os.makedirs(directory, exist_ok=True)
    block = random.Random(7).getrandbits(8_000_000).to_bytes(1_000_000, "little")
    for number in range(OBJECTS):
        path = os.path.join(directory, "part-{:02d}.bin".format(number))
        size = megabytes // OBJECTS * len(block)
        if os.path.exists(path) and os.path.getsize(path) == size:
            continue
        with open(path, "wb") as file:
            for _ in range(megabytes // OBJECTS):
                file.write(block)
    print("{} objects, {} MB in {}".format(OBJECTS, megabytes, os.path.relpath(directory)))


if __name__ == "__main__":
    main()
