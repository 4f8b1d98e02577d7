"""torch.compile(model, backend="hloom")."""
