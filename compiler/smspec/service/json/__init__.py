"""Parse JSON as RFC 8259 defines it into trees that keep positions. This package does not know requests."""
