"""hloom: compiles StableHLO programs to x86 and CUDA. The front door; everything behind it is imported on first use."""
