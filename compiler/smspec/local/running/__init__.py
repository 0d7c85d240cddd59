"""One run, from its request to its end: what it is asked for, its directory, its hosts, and their supervision."""
