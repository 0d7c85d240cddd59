"""The files of a repository that a command may read: its boundary, ignore rules, source files, and revisions of git.

A `Boundary` opens regular files below one directory and nothing else, links followed: pull requests come from
strangers, and a path in a spec may lead anywhere. A `SourceWalk` finds the files of a source, without ignored ones, and
a `Revision` has those of a commit, so that both sides of a comparison are read in the same way.

git is started by `smspec.source.git_command`, in which a stranger's working tree runs no program. The package also has
what commands keep outside of a repository, the cache and temporary directories, and the guard of their processes.

It must not know what the files mean: the top-level key `smspec` makes a file a spec, and its content is checked above.
"""
