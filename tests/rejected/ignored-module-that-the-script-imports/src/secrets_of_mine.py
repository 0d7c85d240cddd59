KEY = 1
