"""An ignore file of a megabyte: nobody wrote it."""

with open("src/.gitignore", "w") as file:
    file.write("a\n" * (1 << 20))
