"""torch.classes: no custom classes."""
