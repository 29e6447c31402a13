"""The package `functorch`: the old home of torch.func."""

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: F401
from torch.func import (  # noqa: F401
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

__version__ = "2.11.0"
