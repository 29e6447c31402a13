"""The old place of functional_call."""


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """See torch.func.functional_call."""
    from torch.func import functional_call as call

    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
