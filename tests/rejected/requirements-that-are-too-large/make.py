"""A disk image under the name of a list."""

with open("requirements.txt", "w") as file:
    file.truncate((1 << 20) + 1)
