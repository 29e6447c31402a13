"""torch.fft: Fourier transforms."""

from torch import _C

for _name in dir(_C._fft):
    if _name.startswith("fft_"):
        globals()[_name[4:]] = getattr(_C._fft, _name)
