"""Pages for a browser: one file each, readable without a network and without JavaScript."""
