"""Make sample data for ``smspec run``: records of eight features and a label, as recordio-protobuf in four objects.

The two formats are written by hand, so nothing has to be installed: RecordIO puts a magic number and the length before
each payload; the payload is a protobuf message ``Record`` with a float32 tensor named "values" of each kind.
"""

import os
import random
import struct

OBJECTS, RECORDS = 4, 1000
WEIGHTS = [2.0, -1.0, 0.5, 3.0, 0.0, -2.5, 1.5, -0.5]
BIAS, NOISE = 4.0, 0.1


def field(number, content):
    """Return a length-delimited field of protobuf. Here no length is above 127, so each takes one byte."""
    return bytes([number << 3 | 2, len(content)]) + content


def values(numbers):
    """Return the entry of a map from "values" to a float32 tensor."""
    tensor = field(1, struct.pack("<{}f".format(len(numbers)), *numbers))
    return field(1, b"values") + field(2, field(2, tensor))


def record(features, label):
    """Return one record with its RecordIO header, padded to a multiple of four bytes."""
    message = field(1, values(features)) + field(2, values([label]))
    return struct.pack("<II", 0xCED7230A, len(message)) + message + bytes(-len(message) % 4)


def main():
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "train")
    os.makedirs(directory, exist_ok=True)
    chance = random.Random(7)
    for number in range(OBJECTS):
        with open(os.path.join(directory, "part-{}.rec".format(number)), "wb") as file:
            for _ in range(RECORDS):
                features = [chance.uniform(-1, 1) for _ in WEIGHTS]
                label = BIAS + sum(w * x for w, x in zip(WEIGHTS, features)) + chance.gauss(0, NOISE)
                file.write(record(features, label))
    print("{} objects of {} records in {}".format(OBJECTS, RECORDS, os.path.relpath(directory)))


if __name__ == "__main__":
    main()
