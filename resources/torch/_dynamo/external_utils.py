"""Small functions that are traced."""


def is_compiling():
    """Whether the code runs while it is compiled."""
    import torch

    return torch.compiler.is_compiling()
