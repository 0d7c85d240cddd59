"""What a job needs outside of this machine before it starts: its image, built by an engine and pushed to a registry."""
