print("works")
