"""Training programs that survive interruptions, and the same programs with one bug each."""
