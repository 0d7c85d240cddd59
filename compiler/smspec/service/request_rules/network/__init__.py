"""VpcConfig, network isolation, and encryption between hosts."""
