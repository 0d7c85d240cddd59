"""What every request has to have."""
