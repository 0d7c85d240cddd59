from absl import app, flags

flags.DEFINE_boolean("amp", False, "mixed precision")
flags.DEFINE_float("lr", 0.01, "learning rate")


def main(_):
    print(flags.FLAGS.lr)


if __name__ == "__main__":
    app.run(main)
