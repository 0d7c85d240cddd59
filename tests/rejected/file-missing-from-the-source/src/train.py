import json

with open("settings.json", encoding="utf-8") as file:
    settings = json.load(file)
print(settings)
