"""What a script asks of AWS, found in the text of its modules without following it."""
