"""VpcConfig, network isolation and encryption between the hosts."""
