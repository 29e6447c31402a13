"""Invertible functions of random values, and how much they stretch."""

import math

import torch
import torch.nn.functional as F
from torch import _absent

from . import constraints


class Transform:
    """y = f(x), with the logarithm of the slope."""

    bijective = False
    domain = codomain = constraints.real

    def __init__(self, cache_size=0):
        self._cache_size = cache_size
        self._inv = None

    @property
    def inv(self):
        """The inverse."""
        return _Inverse(self)

    @property
    def sign(self):
        """+1 where it grows, -1 where it falls."""
        return 1

    def with_cache(self, cache_size=1):
        """The same; nothing is cached."""
        return self

    def __call__(self, x):
        return self._call(x)

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """log |dy/dx|."""
        raise NotImplementedError

    def forward_shape(self, shape):
        """The shape of y."""
        return shape

    def inverse_shape(self, shape):
        """The shape of x."""
        return shape

    def __repr__(self):
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    bijective = True

    def __init__(self, transform):
        super().__init__()
        self._of = transform
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def inv(self):
        return self._of

    @property
    def sign(self):
        return self._of.sign

    def _call(self, x):
        return self._of._inverse(x)

    def _inverse(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)


class ComposeTransform(Transform):
    """One after the other."""

    bijective = True

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)

    @property
    def sign(self):
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            after = part(x)
            total = total + part.log_abs_det_jacobian(x, after)
            x = after
        return total if self.parts else torch.zeros_like(x)

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class ExpTransform(Transform):
    """exp."""

    bijective = True
    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x ** exponent."""

    bijective = True
    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = torch.as_tensor(exponent)

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """sigmoid."""

    bijective = True
    codomain = constraints.unit_interval

    def _call(self, x):
        info = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=info.tiny, max=1.0 - info.eps)

    def _inverse(self, y):
        info = torch.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(Transform):
    """softplus."""

    bijective = True
    codomain = constraints.positive

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class TanhTransform(Transform):
    """tanh."""

    bijective = True
    codomain = constraints.Constraint("interval", lambda v: (v >= -1) & (v <= 1), "Interval(lower_bound=-1.0, upper_bound=1.0)")

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """abs."""

    codomain = constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, torch.Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, torch.Tensor):
            slope = torch.abs(self.scale).log()
        else:
            slope = torch.full_like(x, math.log(abs(self.scale)))
        if self._event_dim:
            return slope.expand(x.shape).flatten(-self._event_dim).sum(-1)
        return slope.expand(x.shape)


class SoftmaxTransform(Transform):
    """softmax; not invertible."""

    codomain = constraints.simplex

    def _call(self, x):
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """Real vectors to points of a simplex with one more coordinate."""

    bijective = True
    codomain = constraints.simplex

    def _call(self, x):
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        z = torch.clamp(torch.sigmoid(x - offset.log()), torch.finfo(x.dtype).tiny, 1.0 - torch.finfo(x.dtype).eps)
        rest = (1 - z).cumprod(-1)
        return F.pad(z, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y):
        cut = y[..., :-1]
        offset = y.shape[-1] - cut.new_ones(cut.shape[-1]).cumsum(-1)
        rest = torch.clamp(1 - cut.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return cut.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x, y):
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)


class IndependentTransform(Transform):
    """A transform whose last dimensions belong together."""

    bijective = True

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inverse(y)

    def log_abs_det_jacobian(self, x, y):
        value = self.base_transform.log_abs_det_jacobian(x, y)
        for _ in range(self.reinterpreted_batch_ndims):
            value = value.sum(-1)
        return value


class ReshapeTransform(Transform):
    """Another shape of the event."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)

    def _call(self, x):
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])


class LowerCholeskyTransform(Transform):
    """Any matrix to a lower triangle with a positive diagonal."""

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()

__getattr__ = _absent.getter(__name__)

