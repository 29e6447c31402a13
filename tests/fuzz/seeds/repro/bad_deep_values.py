import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
        t0 = x
        t1 = [t0]
        t2 = [t1]
        t3 = [t2]
        t4 = [t3]
        t5 = [t4]
        t6 = [t5]
        t7 = [t6]
        t8 = [t7]
        t9 = [t8]
        t10 = [t9]
        t11 = [t10]
        t12 = [t11]
        t13 = [t12]
        t14 = [t13]
        t15 = [t14]
        t16 = [t15]
        t17 = [t16]
        t18 = [t17]
        t19 = [t18]
        t20 = [t19]
        t21 = [t20]
        t22 = [t21]
        t23 = [t22]
        t24 = [t23]
        t25 = [t24]
        t26 = [t25]
        t27 = [t26]
        t28 = [t27]
        t29 = [t28]
        t30 = [t29]
        t31 = [t30]
        t32 = [t31]
        t33 = [t32]
        t34 = [t33]
        t35 = [t34]
        t36 = [t35]
        t37 = [t36]
        t38 = [t37]
        t39 = [t38]
        t40 = [t39]
        t41 = [t40]
        t42 = [t41]
        t43 = [t42]
        t44 = [t43]
        t45 = [t44]
        t46 = [t45]
        t47 = [t46]
        t48 = [t47]
        t49 = [t48]
        t50 = [t49]
        t51 = [t50]
        t52 = [t51]
        t53 = [t52]
        t54 = [t53]
        t55 = [t54]
        t56 = [t55]
        t57 = [t56]
        t58 = [t57]
        t59 = [t58]
        t60 = [t59]
        v = f(t60)
        return v

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # a0
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
