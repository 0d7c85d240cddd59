"""A megabyte of text, five times."""

with open("src/vocabulary.txt", "w") as file:
    file.write("word\n" * 1_100_000)
