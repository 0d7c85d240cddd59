"""What a run predicts about its job in SageMaker: start, disk, and throughput in each input mode, in ranges.

A `Prediction` has a range for each mode and the assumptions that it rests on. It is made from what the run measured of
the script, the size of the data, and documented limits of instances and S3. What is unknown is listed as such and is
never replaced by a guess. It runs after the job is over, so it must not change a run or slow it down.
"""
