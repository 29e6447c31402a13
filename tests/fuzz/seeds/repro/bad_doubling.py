import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
        t0 = (x, x)
        t1 = (t0, t0)
        t2 = (t1, t1)
        t3 = (t2, t2)
        t4 = (t3, t3)
        t5 = (t4, t4)
        t6 = (t5, t5)
        t7 = (t6, t6)
        t8 = (t7, t7)
        t9 = (t8, t8)
        t10 = (t9, t9)
        t11 = (t10, t10)
        t12 = (t11, t11)
        t13 = (t12, t12)
        t14 = (t13, t13)
        t15 = (t14, t14)
        t16 = (t15, t15)
        t17 = (t16, t16)
        v = f(t17)
        return v

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # a0
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
