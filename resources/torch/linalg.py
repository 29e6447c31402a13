"""torch.linalg: linear algebra."""

from torch import _C

LinAlgError = getattr(_C, "_LinAlgError", RuntimeError)

for _name in dir(_C._linalg):
    if _name.startswith("linalg_"):
        globals()[_name[7:]] = getattr(_C._linalg, _name)
