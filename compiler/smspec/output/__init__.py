"""Write file trees to directories, and compare directories with trees.

`write_tree` takes a `FileTree` of `smspec.render` and puts it in place atomically: it writes a new directory next to
the old one and then replaces it by renaming, so a killed process leaves no half of a tree. `OutputRefused` means that
the directory is not one that smspec wrote; it is never overwritten.

The content, the permissions, and the times of files depend on the tree alone, so the same tree gives the same bytes on
every machine. The package must not know specs or what the files mean.
"""
