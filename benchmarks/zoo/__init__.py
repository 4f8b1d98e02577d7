"""Public models by torch.compile's backend of hloom."""
