"""What a run predicts about its job in SageMaker: start, disk, and the rate of its data in each input mode, in ranges.

A `Prediction` has a range for each mode and the assumptions that it rests on. It is made from the size of the data and
documented limits of instances and S3. What is unknown is listed as such and is never replaced by a guess: how long a
script computes depends on the instance, so a run on another machine does not show it.
"""
