"""Random PyTorch programs by torch.compile and hloom.compile, forward and backward, compared with eager PyTorch."""
