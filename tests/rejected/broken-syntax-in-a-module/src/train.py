from steps import count

print(count())
