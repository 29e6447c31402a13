"""Distributions of whole numbers."""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from .distribution import Distribution, broadcast_all


def _clamped(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def _one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Binary(Distribution):
    """Parameters as probabilities or as their logits."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _expanded = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        value = probs if probs is not None else logits
        (made,) = broadcast_all(value)
        self.__dict__["probs" if probs is not None else "logits"] = made
        shape = torch.Size() if isinstance(value, (int, float)) else made.size()
        super().__init__(shape, validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs" and "logits" in self.__dict__:
            return torch.sigmoid(self.logits)
        if name == "logits" and "probs" in self.__dict__:
            probs = _clamped(self.probs)
            return torch.log(probs) - torch.log1p(-probs)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class Bernoulli(_Binary):
    """1 with a probability, else 0."""

    support = constraints.boolean
    has_enumerate_support = True
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Geometric(_Binary):
    """How often a trial fails before it succeeds."""

    support = constraints.nonnegative_integer
    mean = property(lambda self: 1.0 / self.probs - 1.0)
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = torch.empty(shape, dtype=self.probs.dtype).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        return value * (-probs).log1p() + probs.log()

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(_Binary):
    """How many of total_count trials succeed."""

    support = constraints.nonnegative_integer

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        count, value = broadcast_all(total_count, probs if probs is not None else logits)
        self.total_count = count.type_as(value)
        if probs is not None:
            super().__init__(probs=value, validate_args=validate_args)
        else:
            super().__init__(logits=value, validate_args=validate_args)

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        n, logits = self.total_count, self.logits
        ways = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        return ways + value * logits - n * torch.nn.functional.softplus(logits)


class Categorical(Distribution):
    """The number of a class."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.nonnegative_integer
    has_enumerate_support = True
    _expanded = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        value = probs if probs is not None else logits
        if value.dim() < 1:
            raise ValueError(f"`{'probs' if probs is not None else 'logits'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.__dict__["probs"] = probs / probs.sum(-1, keepdim=True)
        else:
            self.__dict__["logits"] = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = value.size()[-1]
        super().__init__(value.size()[:-1], validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs" and "logits" in self.__dict__:
            return torch.nn.functional.softmax(self.logits, dim=-1)
        if name == "logits" and "probs" in self.__dict__:
            return torch.log(_clamped(self.probs))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=torch.Size()):
        sample_shape = torch.Size(sample_shape)
        with torch.no_grad():
            flat = self.probs.reshape(-1, self._num_events)
            return torch.multinomial(flat, sample_shape.numel(), True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        value, log = torch.broadcast_tensors(value, self.logits)
        return log.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        low = torch.finfo(self.logits.dtype).min
        return -(torch.clamp(self.logits, min=low) * self.probs).sum(-1)


class OneHotCategorical(Distribution):
    """A class as a vector with one 1."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, torch.Size([self._categorical._num_events]),
                         validate_args=validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    def sample(self, sample_shape=torch.Size()):
        index = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(index, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()


class Poisson(Distribution):
    """The Poisson distribution."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _expanded = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        shape = torch.Size() if isinstance(rate, (int, float)) else self.rate.size()
        super().__init__(shape, validate_args=validate_args)

    mean = property(lambda self: self.rate)
    variance = property(lambda self: self.rate)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
