"""Members that every request must have."""
