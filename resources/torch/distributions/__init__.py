"""torch.distributions: samples, densities and entropies."""

from . import constraints  # noqa: F401
from .continuous import (  # noqa: F401
    Beta,
    Cauchy,
    Chi2,
    Dirichlet,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete import (  # noqa: F401
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from .distribution import Distribution, Independent  # noqa: F401
from .kl import kl_divergence, register_kl  # noqa: F401
