"""torch.fft: Fourier transforms."""

from torch import _C

for _name in dir(_C._fft):
    if _name.startswith("fft_"):
        globals()[_name[4:]] = getattr(_C._fft, _name)


def hfftn(input, s=None, dim=None, norm=None):
    """The transform of half of a Hermitian signal."""
    dims = list(range(input.dim())) if dim is None and s is None else dim
    dims = list(range(-len(s), 0)) if dims is None else list(dims)
    last = None if s is None else s[-1]
    rest, sizes = dims[:-1], None if s is None else list(s[:-1])
    if rest:
        input = fftn(input, sizes, rest, norm)  # noqa: F821
    return hfft(input, last, dims[-1], norm)  # noqa: F821


def hfft2(input, s=None, dim=(-2, -1), norm=None):
    """hfftn of two dimensions."""
    return hfftn(input, s, dim, norm)


def ihfftn(input, s=None, dim=None, norm=None):
    """The inverse of hfftn."""
    dims = list(range(input.dim())) if dim is None and s is None else dim
    dims = list(range(-len(s), 0)) if dims is None else list(dims)
    made = ihfft(input, None if s is None else s[-1], dims[-1], norm)  # noqa: F821
    return ifftn(made, None if s is None else list(s[:-1]), dims[:-1], norm) if dims[:-1] else made  # noqa: F821


def ihfft2(input, s=None, dim=(-2, -1), norm=None):
    """ihfftn of two dimensions."""
    return ihfftn(input, s, dim, norm)
