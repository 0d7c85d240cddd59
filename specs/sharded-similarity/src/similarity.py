"""Cosine similarity of every row with every row. Each host computes its rows and writes them to its own file.

Which rows are a host's own: its slice of all rows, or, when the job has the channel ``queries``, the rows of the
objects that SageMaker dealt out to it.
"""

import csv
import math
import os

import smspec_runtime


def read_rows(directory):
    """Return [(name, unit vector)] of every CSV file of a channel, in the order of the file names."""
    rows = []
    for file_name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, file_name), newline="") as file:
            for name, *cells in csv.reader(file):
                vector = [float(cell) for cell in cells]
                length = math.sqrt(sum(x * x for x in vector))
                rows.append((name, [x / length for x in vector]))
    return rows


def main():
    job = smspec_runtime.job()
    matrix = read_rows(job.channels["matrix"].path)
    if "queries" in job.channels:
        own = read_rows(job.channels["queries"].path)
    else:
        own = [matrix[index] for index in job.rows(len(matrix))]

    decimals = job.hyperparameters["decimals"]
    part = os.path.join(job.model_dir, "part-{}.csv".format(job.host))
    with open(part, "w", newline="") as file:
        writer = csv.writer(file)
        for name, vector in own:
            similarities = (sum(a * b for a, b in zip(vector, other)) for _, other in matrix)
            writer.writerow([name] + ["{:.{}f}".format(value, decimals) for value in similarities])
    print("{}: {} of {} rows".format(job.host, len(own), len(matrix)))


if __name__ == "__main__":
    main()
