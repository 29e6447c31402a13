"""torch on Kerf's engine: tensors and functions are those of the extension module, layers are Python."""

from torch import _C
