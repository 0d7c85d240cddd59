"""Ways out of the processes of `smspec check`, and the world that they must not change."""
