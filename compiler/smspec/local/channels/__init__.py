"""The channels of a run: their data on this machine or in S3, copied, mounted, or fed to the hosts."""
