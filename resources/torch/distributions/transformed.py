"""Distributions made of others."""

import torch

from .continuous import Uniform
from .discrete import Categorical
from .distribution import Distribution, Independent
from .transforms import AffineTransform, ComposeTransform, ExpTransform, PowerTransform, SigmoidTransform, Transform


class TransformedDistribution(Distribution):
    """A distribution whose samples go through transforms."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, validate_args=False)

    @property
    def has_rsample(self):
        """Whether the base has it."""
        return self.base_dist.has_rsample

    def _through(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=torch.Size()):
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        total, y = 0.0, value
        events = len(self.event_shape)
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            slope = transform.log_abs_det_jacobian(x, y)
            for _ in range(events - (value.dim() - slope.dim())):
                slope = slope.sum(-1)
            total, y = total - slope, x
        return total + self.base_dist.log_prob(y)

    def cdf(self, value):
        """The probability of less than value."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        value = self.base_dist.cdf(value)
        sign = ComposeTransform(self.transforms).sign
        return sign * (value - 0.5) + 0.5

    def icdf(self, value):
        """The value that less than has this probability."""
        sign = ComposeTransform(self.transforms).sign
        return self._through(self.base_dist.icdf(sign * (value - 0.5) + 0.5))

    def __repr__(self):
        return f"{type(self).__name__}()"


class MixtureSameFamily(Distribution):
    """One of several distributions of one kind."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args=False)

    def _padded(self, x):
        return x.reshape(x.shape + (1,) * len(self.event_shape))

    @property
    def mean(self):
        """The mean."""
        probs = self._padded(self.mixture_distribution.probs)
        return (probs * self.component_distribution.mean).sum(-1 - len(self.event_shape))

    @property
    def variance(self):
        """The variance."""
        probs, at = self._padded(self.mixture_distribution.probs), -1 - len(self.event_shape)
        within = (probs * self.component_distribution.variance).sum(at)
        between = (probs * (self.component_distribution.mean - self.mean.unsqueeze(at)).pow(2.0)).sum(at)
        return within + between

    def log_prob(self, x):
        x = x.unsqueeze(-1 - len(self.event_shape))
        each = self.component_distribution.log_prob(x)
        return torch.logsumexp(each + torch.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def cdf(self, x):
        """The probability of less than x."""
        each = self.component_distribution.cdf(x.unsqueeze(-1 - len(self.event_shape)))
        return torch.sum(each * self.mixture_distribution.probs, dim=-1)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            at, events = len(sample_shape) + len(self.batch_shape), len(self.event_shape)
            picked = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            index = picked.reshape(picked.shape + (1,) * (events + 1))
            index = index.repeat((1,) * (picked.dim() + 1) + tuple(self.event_shape))
            return torch.gather(samples, at, index).squeeze(at)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


class Pareto(TransformedDistribution):
    """The Pareto distribution."""

    def __init__(self, scale, alpha, validate_args=None):
        from .continuous import Exponential
        from .distribution import broadcast_all

        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha), [ExpTransform(), AffineTransform(loc=0, scale=self.scale)])

    @property
    def mean(self):
        """The mean."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)


class Weibull(TransformedDistribution):
    """The Weibull distribution."""

    def __init__(self, scale, concentration, validate_args=None):
        from .continuous import Exponential
        from .distribution import broadcast_all

        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale))
        super().__init__(base, [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)])

    @property
    def mean(self):
        """The mean."""
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution."""

    def __init__(self, concentration1, concentration0, validate_args=None):
        from .distribution import broadcast_all

        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(torch.zeros_like(self.concentration0), torch.ones_like(self.concentration0))
        super().__init__(base, [PowerTransform(self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
                                PowerTransform(self.concentration1.reciprocal())])


class LogisticNormal(TransformedDistribution):
    """Softmax of normal values."""

    def __init__(self, loc, scale, validate_args=None):
        from .continuous import Normal
        from .transforms import StickBreakingTransform

        base = Normal(loc, scale)
        super().__init__(base, StickBreakingTransform())
        self._event_shape = torch.Size([base.batch_shape[-1] + 1])
        self._batch_shape = base.batch_shape[:-1]


__all__ = ["Independent", "SigmoidTransform"]
