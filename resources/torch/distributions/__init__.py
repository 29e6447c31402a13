"""torch.distributions: samples, densities and entropies."""

from torch import _absent
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
from . import transforms  # noqa: F401
from .more import FisherSnedecor, HalfCauchy, Multinomial, NegativeBinomial, StudentT  # noqa: F401
from .relaxed import OneHotCategoricalStraightThrough, RelaxedBernoulli, RelaxedOneHotCategorical  # noqa: F401
from .transformed import (  # noqa: F401
    Kumaraswamy,
    LogisticNormal,
    MixtureSameFamily,
    Pareto,
    TransformedDistribution,
    Weibull,
)
from .transforms import (  # noqa: F401
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__getattr__ = _absent.getter(__name__)

