import torch
s0 = 4
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('b', tensor([1.0, 2.0]))
        self.__dict__['0'] = Linear(in_features=3, out_features=4, bias=True)
        self.lam = None  # not Python: '<lambda>()'
    def forward(self, x, torch_1, y, s0):
        gxyz = builtins.gxyz(x)
        g = globals()["<built-in function g>"](gxyz)
        mul = s0 * 2
        neg = _operator_neg(1)
        t = (x, gxyz)
        item = t[0]
        rnd = torch.ops.aten.random.from(x, from = 1)
        meth = getattr(x, "class")(mul)
        add = _operator_add(1, 2j)
        pw = (-1) ** x
        c = f(x, -0.0, -2j, complex(0.0, -2.0), 1e999j, (-0.0+2j), 2*s0 + 1)
        device = torch.relu(y)
        z = getattr(device, "a b")
        sub = getattr(self, "0")(z, **{'in': 3})
        x += 1;  iadd = x
        (2).bit
        y = math.a.b(c, rnd) @ add
        return (item, neg, meth, pw, z, sub, iadd, y)
def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (s0, 4), (4, 1))  # x
    reader.tensor(buf0, (s0, # a comment
        4))  # torch_1
    reader.tensor(buf0, (4, 4))  # y
    reader.symint(4, expr='s0')  # s0
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
