"""Cost of capture: run as `kerf capture tests/bench/capture_gpt2.py --timeout 600`.

Prints how long a 12-layer GPT-2-like model (hidden 768, random weights) takes to be captured, what the check of 100 guards costs,
and that of all its guards."""

import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.fc, self.out = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.heads = heads

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln_1(x)).chunk(3, -1)
        q, k, v = [a.view(b, t, self.heads, d // self.heads).transpose(1, 2) for a in (q, k, v)]
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers=12, d=768, heads=12, vocab=50257, context=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(context, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))


def seconds(call, *args):
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def capture_time():
    model = GPT().eval()
    ids = torch.randint(0, 50257, (1, 8))
    compiled = torch.compile(model, backend="eager")
    with torch.no_grad():
        first = seconds(compiled, ids)
        later = min(seconds(compiled, ids) for _ in range(3))
    return first - later, later


def guard_time(count=400, calls=300):
    def f(x, numbers):
        total = 0
        for n in numbers:
            total += n
        return x + total

    x = torch.ones(2)
    times = []
    for numbers in ([], list(range(count))):
        torch._dynamo.reset()
        compiled = torch.compile(f, backend="eager", dynamic=False)
        compiled(x, numbers)
        times.append(min(seconds(lambda: [compiled(x, numbers) for _ in range(calls)]) for _ in range(3)) / calls)
    return (times[1] - times[0]) / count * 100


def model_guard_time(calls=20):
    """What a call takes whose graph computes nothing: the check of all guards of a small model of as many layers."""
    model = GPT(d=8, heads=2, vocab=16, context=16).eval()
    ids = torch.randint(0, 16, (1, 8))
    with torch.no_grad():
        made = model(ids)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=lambda gm, inputs: lambda *given: (made,))
        compiled(ids)
        return min(seconds(compiled, ids) for _ in range(calls))


if __name__ == "__main__":
    capture, later = capture_time()
    print(f"capture of 12 layers: {capture:.2f} s, a later call {later:.2f} s")
    print(f"check of 100 guards: {guard_time() * 1e6:.1f} us")
    print(f"check of the model's guards: {model_guard_time() * 1e6:.0f} us")
