"""Distribution: what all distributions share."""

import warnings

import torch


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape."""
    if all(isinstance(v, torch.Tensor) for v in values):
        return torch.broadcast_tensors(*values)
    like = next((v for v in values if isinstance(v, torch.Tensor)), None)
    options = dict(dtype=torch.get_default_dtype()) if like is None else dict(dtype=like.dtype, device=like.device)
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, **options) for v in values])


class Distribution:
    """Something to draw samples from."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    support = None
    _validate_args = True

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            if name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters are checked."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    @property
    def batch_shape(self):
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one sample."""
        return self._event_shape

    @property
    def stddev(self):
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        """Samples without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        """Samples through which gradients pass to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """n samples."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density."""
        raise NotImplementedError

    def entropy(self):
        """The entropy."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy)."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value):
        if not self._validate_args or self.support is None:
            return
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        if not bool(self.support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def expand(self, batch_shape, _instance=None):
        """The distribution with parameters of a wider shape."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name in self._expanded:
            if name in made.__dict__:
                value = getattr(self, name)
                extra = value.shape[len(self._batch_shape):]
                setattr(made, name, value.expand(torch.Size(batch_shape) + extra))
        made._batch_shape = torch.Size(batch_shape)
        return made

    _expanded = ()

    def __repr__(self):
        names = [k for k in self.arg_constraints if k in self.__dict__]
        parts = []
        for name in names:
            value = self.__dict__[name]
            parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return self.__class__.__name__ + "(" + ", ".join(parts) + ")"


class Independent(Distribution):
    """A distribution with some batch dimensions as dimensions of the sample."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _sum(self, value):
        for _ in range(self.reinterpreted_batch_ndims):
            value = value.sum(-1)
        return value

    mean = property(lambda self: self.base_dist.mean)
    variance = property(lambda self: self.base_dist.variance)

    def sample(self, sample_shape=torch.Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self):
        return self._sum(self.base_dist.entropy())

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
