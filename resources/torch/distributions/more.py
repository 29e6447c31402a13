"""Distributions that fewer programs use."""

import math

import torch

from . import constraints
from .continuous import Cauchy, Chi2, Gamma, _batch
from .discrete import Categorical
from .distribution import Distribution, broadcast_all


class StudentT(Distribution):
    """Student's t."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        shape = _batch(df, loc, scale)
        super().__init__(self.df.size() if shape is None else shape, validate_args=validate_args)

    @property
    def mean(self):
        """The mean; nan where there is none."""
        return torch.where(self.df <= 1, torch.full_like(self.loc, math.nan), self.loc)

    @property
    def variance(self):
        """The variance."""
        m = torch.where(self.df > 2, self.scale.pow(2) * self.df / (self.df - 2), torch.full_like(self.df, math.inf))
        return torch.where(self.df <= 1, torch.full_like(m, math.nan), m)

    def rsample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        x = torch.empty(shape, dtype=self.df.dtype, device=self.df.device).normal_()
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df)
        z = z - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - z


class HalfCauchy(Distribution):
    """The positive half of the Cauchy distribution."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _expanded = ("scale",)

    def __init__(self, scale, validate_args=None):
        (self.scale,) = broadcast_all(scale)
        self._base = Cauchy(torch.zeros_like(self.scale), self.scale)
        super().__init__(self.scale.size(), validate_args=validate_args)

    def rsample(self, sample_shape=torch.Size()):
        return self._base.rsample(sample_shape).abs()

    def log_prob(self, value):
        log_prob = self._base.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, torch.full_like(log_prob, -math.inf))


class FisherSnedecor(Distribution):
    """The F distribution."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        shape = _batch(df1, df2)
        super().__init__(self.df1.size() if shape is None else shape, validate_args=validate_args)

    def rsample(self, sample_shape=torch.Size()):
        x1, x2 = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = torch.finfo(x2.dtype).tiny
        return torch.clamp(x1 / torch.clamp(x2, min=tiny), min=tiny)

    def log_prob(self, value):
        ct1, ct2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        first = (ct1 + ct2).lgamma() - ct1.lgamma() - ct2.lgamma()
        second = ct1 * ratio.log() + (ct1 - 1) * torch.log(value)
        return first + second - (ct1 + ct2) * torch.log1p(ratio * value)


class NegativeBinomial(Distribution):
    """Successes before total_count failures."""

    arg_constraints = {"total_count": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _expanded = ("total_count", "probs", "logits")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
            self.logits = self.probs.log() - (-self.probs).log1p()
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
            self.probs = torch.sigmoid(self.logits)
        super().__init__(self.total_count.shape, validate_args=validate_args)

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            rate = Gamma(self.total_count, torch.exp(-self.logits)).sample(sample_shape)
            return torch.poisson(rate)

    def log_prob(self, value):
        self._validate_sample(value)
        plain = self.total_count * torch.nn.functional.logsigmoid(-self.logits)
        plain = plain + value * torch.nn.functional.logsigmoid(self.logits)
        count = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        return plain - count.masked_fill(self.total_count + value == 0.0, 0.0)


class Multinomial(Distribution):
    """Counts of categories in total_count draws."""

    _expanded = ()

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        shape = self._categorical.logits.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=False)

    logits = property(lambda self: self._categorical.logits)
    probs = property(lambda self: self._categorical.probs)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        samples = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        order = [*range(1, samples.dim()), 0]
        samples = samples.permute(*order)
        counts = samples.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, samples, torch.ones_like(samples))
        return counts.type_as(self.probs)

    def log_prob(self, value):
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        first, second = torch.lgamma(value.sum(-1) + 1), torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -math.inf)] = 0
        return first - second + (logits * value).sum(-1)

    def __repr__(self):
        return "Multinomial()"
