"""What tests share, by what it supports; what stands here itself serves tests of several areas."""
