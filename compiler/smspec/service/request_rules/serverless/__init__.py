"""ServerlessJobConfig and ModelPackageConfig."""
