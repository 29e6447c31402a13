"""torch.utils._triton: there is no Triton here."""


def has_triton():
    """Whether Triton compiles for a device."""
    return False


def has_triton_package():
    """Whether Triton can be imported."""
    return False
