import secrets_of_mine

print(secrets_of_mine.KEY)
