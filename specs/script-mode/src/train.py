"""Print what SageMaker injects into a script, then pretend to train."""

import argparse
import json
import os


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hp1", type=str)
    parser.add_argument("--hp2", type=int, default=50)
    parser.add_argument("--hp3", type=float, default=0.1)
    parser.add_argument("--train", type=str, default=os.environ.get("SM_CHANNEL_TRAIN"))
    parser.add_argument("--validation", type=str, default=os.environ.get("SM_CHANNEL_VALIDATION"))
    parser.add_argument("--model-dir", type=str, default=os.environ.get("SM_MODEL_DIR"))
    return parser.parse_args()


def rows(directory):
    """Yield the rows of every CSV file of a channel as lists of numbers."""
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name)) as file:
            for line in file:
                yield [float(cell) for cell in line.split(",")]


def main():
    args = arguments()
    print("hyperparameters:", {"hp1": args.hp1, "hp2": args.hp2, "hp3": args.hp3})
    for name in sorted(os.environ):
        if name.startswith("SM_") and name != "SM_TRAINING_ENV":
            print("{}={}".format(name, os.environ[name]))

    train, validation = list(rows(args.train)), list(rows(args.validation))
    weight = 0.0
    for step in range(args.hp2):
        slope = sum((weight * x - y) * x for x, y in train) / len(train)
        weight -= args.hp3 * slope
        if step % 100 == 0:
            loss = sum((weight * x - y) ** 2 for x, y in validation) / len(validation)
            print("step={} validation_loss={:.4f}".format(step, loss))

    with open(os.path.join(args.model_dir, "model.json"), "w") as file:
        json.dump({"weight": weight}, file)


if __name__ == "__main__":
    main()
