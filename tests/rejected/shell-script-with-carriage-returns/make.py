"""Written here: git may convert the ends of lines."""

with open("src/train.sh", "wb") as file:
    file.write(b"#!/bin/sh -e\r\npython3 train.py\r\n")
