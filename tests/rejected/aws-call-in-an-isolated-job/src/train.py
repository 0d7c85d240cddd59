import boto3


def main():
    s3 = boto3.client("s3")
    s3.download_file("example-data", "vocabulary.txt", "/tmp/vocabulary.txt")


if __name__ == "__main__":
    main()
