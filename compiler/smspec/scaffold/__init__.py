"""A spec for a script that exists: what its text shows becomes keys, and what it leaves open is listed."""
