"""What is kept of a value: its shape and a checksum, or figures, or all of it."""

ODD = 0x9E3779B97F4A7C15 - (1 << 64)  # as a signed number


def plain(tensor):
    """The values as a dense tensor of the same dtype, or None where there are none to read."""
    import torch

    value = tensor.detach()
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        value = getattr(value, "_local_tensor", None) if hasattr(value, "_local_tensor") else value
    if value is None or value.layout != torch.strided or value.is_quantized or getattr(value, "is_nested", False):
        return None
    return value.resolve_conj().resolve_neg()


def about(tensor):
    return {"shape": [int(s) for s in tensor.shape], "dtype": str(tensor.dtype), "device": str(tensor.device),
            "stride": [int(s) for s in tensor.stride()] if tensor.layout == tensor.new_empty(0).layout else None}


def words_of(value):
    """The bytes, in the order of indices, as 64-bit words; what is left over is filled with zeros."""
    import torch

    flat = value.contiguous().reshape(-1).view(torch.uint8)
    rest = -flat.numel() % 8
    if rest:
        flat = torch.nn.functional.pad(flat, (0, rest))
    return flat.view(torch.int64)


def checksum(value):
    """A tensor with one 64-bit number, on the value's own device: nothing waits for it. Equal bits give equal numbers."""
    import torch

    words = words_of(value)
    place = torch.arange(1, words.numel() + 1, dtype=torch.int64, device=words.device)
    mixed = (words ^ (words >> 31)) * (place * ODD | 1)
    return (mixed ^ (mixed >> 29)).sum().reshape(1)


def figures(value):
    """A tensor of 6 float64 numbers: least, greatest, mean, root of the sum of squares, NaNs, infinities."""
    import torch

    if value.is_complex():
        value = torch.view_as_real(value)
    wide = value.to(torch.float64).reshape(-1)
    if wide.numel() == 0:
        return torch.zeros(6, dtype=torch.float64, device=value.device)
    good = torch.nan_to_num(wide, 0.0, 0.0, 0.0)
    finite = wide.isfinite()
    low = torch.where(finite, wide, torch.inf).min()
    high = torch.where(finite, wide, -torch.inf).max()
    return torch.stack([low, high, good.sum() / finite.sum(), good.norm(), wide.isnan().sum().double(), wide.isinf().sum().double()])


NAMES = ("min", "max", "mean", "norm", "nan", "inf")


def difference(compiled, eager):
    """A tensor of 3 numbers: the greatest absolute and relative difference, and how many elements are beyond assert_close."""
    import torch

    rtol, atol = TOLERANCES.get(compiled.dtype, (0.0, 0.0)) if eager.dtype == compiled.dtype else (0.0, 0.0)
    if compiled.is_complex():
        compiled, eager = torch.view_as_real(compiled), torch.view_as_real(eager)
    one, other = compiled.to(torch.float64), eager.to(torch.float64)
    same = (one == other) | (one.isnan() & other.isnan())
    gap = torch.where(same, 0.0, (one - other).abs())
    gap = torch.where(gap.isnan(), torch.inf, gap)
    if gap.numel() == 0:
        return gap.new_zeros(3)
    relative = torch.where(same, 0.0, gap / other.abs().clamp_min(1e-30))
    beyond = (gap > atol + rtol * other.abs()) & ~same
    return torch.stack([gap.max(), torch.nan_to_num(relative, torch.inf).max(), (beyond | (gap == torch.inf)).sum().double()])


class Tolerances(dict):
    """Those of torch.testing.assert_close, read when torch is there."""

    def get(self, dtype, other):
        if not self:
            import torch

            self.update({torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5),
                         torch.float64: (1e-7, 1e-7), torch.complex64: (1.3e-6, 1e-5), torch.complex128: (1e-7, 1e-7)})
        return super().get(dtype, other)


TOLERANCES = Tolerances()
