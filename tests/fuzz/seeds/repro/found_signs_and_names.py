import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('c', tensor(1.0))  # one
        self.d = tensor([1, 2]).cuda()  # two
        self.__dict__['\ud800'] = Linear()
    def forward(self, x, y, z, v):
        div = operator.div(x, y)
        text = f('a\
b', v)
        both = text + z
        return (div, text, both)

def load_args(reader):
    reader.symint(-4)  # x
    reader.const('\x00')
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # z
    reader.symint(-9223372036854775808, expr='-s0')
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
