"""Write file trees to directories, and compare directories with trees."""
