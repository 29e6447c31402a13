"""torch.func: transforms of functions."""

from ._functional_call import functional_call, stack_module_state  # noqa: F401
from ._transforms import (  # noqa: F401
    debug_unwrap,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from ._vmap import chunk_vmap, vmap  # noqa: F401
from ._batch_norm import replace_all_batch_norm_modules_  # noqa: F401
