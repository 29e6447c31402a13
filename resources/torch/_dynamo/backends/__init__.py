"""Backends of torch.compile."""
