"""Settings that an organization sets for all of its specs: its configuration file, policy, prices, and lockfile."""
