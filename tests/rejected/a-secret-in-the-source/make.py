"""Put together here, so that no scanner takes this file for a leak."""

key = "AKIA" + "QWERTYUIOP234567"
with open("src/config.py", "w") as file:
    file.write(f'REGION = "us-west-2"\nKEY = "{key}"\n')
body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" + "a1B2" * 10
with open("src/id.pem", "w") as file:
    file.write(f"-----BEGIN PRIVATE {'KEY'}-----\n{body}\n-----END PRIVATE {'KEY'}-----\n")
