import mlflow
import numpy
import pandas
import sklearn.metrics

print(mlflow, numpy, pandas, sklearn)
