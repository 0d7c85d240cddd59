import typer


def main(epochs: int = 1, batch_size: int = 16):
    print("training", epochs, batch_size)


if __name__ == "__main__":
    typer.run(main)
