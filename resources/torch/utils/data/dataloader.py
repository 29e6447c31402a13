"""The loader, by its old place."""

from torch.utils.data import DataLoader, default_collate  # noqa: F401
