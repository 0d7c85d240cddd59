"""The review of many jobs at once: equal changes grouped, and their effects added up."""
