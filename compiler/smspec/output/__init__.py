"""Trees of files become directories, and directories are compared with trees."""
