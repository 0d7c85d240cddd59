def main():
    import data.reading

    print(data.reading.kind(0))


if __name__ == "__main__":
    main()
