"""Memory formats of convolutions."""

import torch


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lay the weights of convolutions out anew."""
    for m in module.modules():
        if isinstance(m, (torch.nn.Conv2d, torch.nn.ConvTranspose2d)):
            m.weight.data = m.weight.detach().clone().contiguous(memory_format=memory_format)
    return module
