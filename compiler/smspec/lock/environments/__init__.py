"""Resolve the packages of images, with uv or pip: files with hashes, and what scripts can import from each."""
