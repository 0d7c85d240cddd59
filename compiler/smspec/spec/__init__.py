"""The job spec: from texts to one merged tree, from the tree to values, and what is wrong on the way."""
