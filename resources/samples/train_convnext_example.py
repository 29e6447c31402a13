"""Train a ConvNeXt whose images are sharded along their width over all ranks.

Each rank has a strip of every image and all parameters. A convolution reads a little beyond its strip: the ranks bring each
other the columns that are missing. Run it with four ranks; the loss is that of one rank.
"""

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor, init_device_mesh

FULL = False  # the sizes of PyTorch's own example: some 550 million parameters
DEPTHS, WIDTHS = ([3, 3, 27, 3], [256, 512, 1024, 2048]) if FULL else ([1, 1, 2, 1], [8, 16, 32, 64])
IMAGES, CLASSES = ([7, 3, 512, 1024], 1000) if FULL else ([2, 3, 64, 256], 10)
STEPS, LEARNING_RATE = 2, 1e-2


class ChannelNorm(nn.Module):
    """Layer norm over the channels, in the last dimension or in the second one."""

    def __init__(self, channels, channels_last=False, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.channels, self.channels_last, self.eps = channels, channels_last, eps

    def forward(self, x):
        if self.channels_last:
            return F.layer_norm(x, (self.channels,), self.weight, self.bias, self.eps)
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class Block(nn.Module):
    """Depthwise 7x7, norm, and two 1x1 convolutions around a GELU, added to the input."""

    def __init__(self, channels, scale=1e-6):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, kernel_size=7, padding=3, groups=channels)
        self.norm = ChannelNorm(channels)
        self.widen = nn.Conv2d(channels, 4 * channels, kernel_size=1)
        self.narrow = nn.Conv2d(4 * channels, channels, kernel_size=1)
        self.scale = nn.Parameter(scale * torch.ones(channels, 1, 1))

    def forward(self, x):
        inner = self.narrow(F.gelu(self.widen(self.norm(self.depthwise(x)))))
        return x + self.scale * inner


class DownSampling(nn.Module):
    """Norm, then a convolution whose windows do not overlap; the stem has them in the other order."""

    def __init__(self, before, after, size, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.norm = ChannelNorm(before if norm_first else after)
        self.conv = nn.Conv2d(before, after, kernel_size=size, stride=size)

    def forward(self, x):
        return self.conv(self.norm(x)) if self.norm_first else self.norm(self.conv(x))


class ConvNeXt(nn.Module):
    """Four stages, the mean over each image, and a linear layer."""

    def __init__(self, channels, classes, depths, widths):
        super().__init__()
        before = [channels, *widths[:-1]]
        self.down = nn.ModuleList(
            DownSampling(a, b, size=4 if stage == 0 else 2, norm_first=stage > 0)
            for stage, (a, b) in enumerate(zip(before, widths))
        )
        self.stages = nn.ModuleList(nn.Sequential(*[Block(w) for _ in range(n)]) for n, w in zip(depths, widths))
        self.norm = ChannelNorm(widths[-1], channels_last=True)
        self.head = nn.Linear(widths[-1], classes)
        self.apply(self._initialise)

    @staticmethod
    def _initialise(module):
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        for down, stage in zip(self.down, self.stages):
            x = stage(down(x))
        return self.head(self.norm(x.mean([-2, -1])))


def replicate_parameters(name, module, mesh):
    """The partition function: every rank has every parameter."""
    for key, parameter in list(module.named_parameters(recurse=False)):
        whole = distribute_tensor(parameter.data, mesh, [Replicate()])
        module.register_parameter(key, nn.Parameter(whole, parameter.requires_grad))


def train_convnext_example():
    """A few steps of gradient descent; prints the loss of each."""
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)
    model = distribute_module(ConvNeXt(IMAGES[1], CLASSES, DEPTHS, WIDTHS), mesh, replicate_parameters)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    images = distribute_tensor(torch.randn(IMAGES), mesh, [Shard(3)])
    target = distribute_tensor(torch.randint(CLASSES, (IMAGES[0],)), mesh, [Replicate()])
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = criterion(model(images), target)
        loss.backward()
        optimizer.step()
        whole = loss.full_tensor().item()
        if dist.get_rank() == 0:
            print(f"step {step}: loss {whole:.6f}, a strip is {tuple(images.to_local().shape)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    train_convnext_example()
