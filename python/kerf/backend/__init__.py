"""torch.compile(fn, backend="kerf"): graphs of AOTAutograd, compiled by Kerf; what Kerf lacks runs in PyTorch."""
from .compiler import kerf, report

__all__ = ["kerf", "report"]
