"""torch.testing._internal: what PyTorch's own tests are made of, for posted scripts that are such tests."""
