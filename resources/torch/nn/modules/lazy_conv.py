"""Convolutions that learn in_channels from their first input."""

from torch.nn.parameter import UninitializedParameter

from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin


class _LazyConvXdMixin(LazyModuleMixin):
    spatial_dims = 0

    def reset_parameters(self):
        """Draw weight and bias anew, once they have a shape."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Take in_channels from the input."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input):
        alone = self.spatial_dims + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to {self.__class__.__name__}, but "
                f"got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == alone + 1 else input.shape[0]

    def _lazy_weights(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)


def _lazy(base, dims, transposed):
    """The lazy class of a convolution."""
    if transposed:
        def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                     dilation=1, padding_mode="zeros", device=None, dtype=None):
            super(made, self).__init__(0, 0, kernel_size, stride, padding, output_padding, 1, False, dilation,
                                       padding_mode, device=device, dtype=dtype)
            self.groups = groups
            self._lazy_weights(out_channels, bias, device, dtype)
    else:
        def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                     padding_mode="zeros", device=None, dtype=None):
            super(made, self).__init__(0, 0, kernel_size, stride, padding, dilation, 1, False, padding_mode,
                                       device=device, dtype=dtype)
            self.groups = groups
            self._lazy_weights(out_channels, bias, device, dtype)

    name = "Lazy" + base.__name__
    made = type(name, (_LazyConvXdMixin, base), {"__init__": __init__, "cls_to_become": base, "spatial_dims": dims,
                                                 "__module__": __name__, "__doc__": f"A lazy {base.__name__}."})
    return made


LazyConv1d = _lazy(Conv1d, 1, False)
LazyConv2d = _lazy(Conv2d, 2, False)
LazyConv3d = _lazy(Conv3d, 3, False)
LazyConvTranspose1d = _lazy(ConvTranspose1d, 1, True)
LazyConvTranspose2d = _lazy(ConvTranspose2d, 2, True)
LazyConvTranspose3d = _lazy(ConvTranspose3d, 3, True)
