"""torch.special: special functions."""

from torch import _C

for _name in dir(_C._special):
    if _name.startswith("special_"):
        globals()[_name[8:]] = getattr(_C._special, _name)
