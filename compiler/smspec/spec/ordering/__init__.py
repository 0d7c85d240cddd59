"""Order the keys of a spec without changing a character of its lines."""
