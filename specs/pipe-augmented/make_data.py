"""Make sample data for ``smspec run``: pictures of discs, crosses and frames, and the two manifests that label them.

A picture is a PGM file of 12 by 12 gray pixels. A line of a manifest has the attributes that the job streams, and, as
the lines that labelling tools write, one that it does not.
"""

import json
import os
import random

SIZE = 12
CLASSES = ("disc", "cross", "frame")
PICTURES = {"train": 450, "validation": 150}
PREFIX = "s3://example-data/pipe-augmented/"


def shape(kind, x, y):
    """Tell whether a point is part of the shape; the middle is (0, 0)."""
    if kind == "disc":
        return x * x + y * y < 10
    if kind == "cross":
        return min(abs(x), abs(y)) < 1 and max(abs(x), abs(y)) < 5
    return 3 < max(abs(x), abs(y)) < 5


def picture(kind, chance):
    """Return the bytes of a PGM file: the shape, a pixel off the middle at most, in noise."""
    left, top = (chance.uniform(-1, 1) - (SIZE - 1) / 2 for _ in range(2))
    pixels = bytearray()
    for row in range(SIZE):
        for column in range(SIZE):
            light = 150 if shape(kind, column + left, row + top) else 90
            pixels.append(min(max(int(chance.gauss(light, 40)), 0), 255))
    return b"P5 %d %d 255\n" % (SIZE, SIZE) + bytes(pixels)


def main():
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    chance = random.Random(7)
    for channel, count in PICTURES.items():
        os.makedirs(os.path.join(directory, channel), exist_ok=True)
        with open(os.path.join(directory, channel + ".manifest"), "w") as manifest:
            for number in range(count):
                label = number % len(CLASSES)
                key = "{}/{:04d}.pgm".format(channel, number)
                with open(os.path.join(directory, key), "wb") as file:
                    file.write(picture(CLASSES[label], chance))
                metadata = {"class-name": CLASSES[label], "human-annotated": "yes"}
                line = {"picture-ref": PREFIX + key, "class": label, "class-metadata": metadata}
                manifest.write(json.dumps(line) + "\n")
        print("{} pictures in {}".format(count, os.path.relpath(os.path.join(directory, channel))))


if __name__ == "__main__":
    main()
