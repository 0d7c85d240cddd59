"""What runs in the training container: standard library only, Python 3.8 and up."""
