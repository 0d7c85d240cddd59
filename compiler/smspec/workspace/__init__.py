"""The files of a repository that a command may read: its boundary, ignore rules, source files, and revisions of git."""
