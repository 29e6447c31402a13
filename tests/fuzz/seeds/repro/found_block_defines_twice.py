
import torch

from torch.nn impt r
o*class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init2_()



    de
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, a, b, c, d, e, f):
        add = a + 2
        return (a, b, add, None, [c, d], {'k': e}, f)

def load_args(reader):
    reader.symint(7)  # a
    reader.symint(14, expr='2*s0')  # b
    reader.const('c')  # c, filtered out during compilation
    reader.unsupported('d')  # unsupported type for dumping: <class 'list'>
    """
    buf0 = reader.storage(None, 16)
   ution = torch.ips.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  primals_2 = None
        add = torch.ops.aten.add.Tensor(primals_4, 1);  primals_4 = None
        var_mean = torch.ops.aten.var_mean.correction(convolution, [0, 2, 3], Correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add_1 = torch.ops.aten.add.Tensor(getitem, 1e-05)
        rsqrt = torch.ops.aten.rsqrt.default(add_1);  add_1 = None
        sub = torch.ops.aten.sub.Tensor(convolution, getitem_1)
        mul = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = None
        squeeze = torch.ops.aten.squeeze.dims(getitem_1, [0, 2, 3]) reader.tensor(buf0, (4, 4))  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
   ;  getitem_1 = None
        squeeze_1 = torch.ops.aten.squeeze.dims(rsqrt, [0, 2, 3]);  rsqrt = None
        mul_1 = torch.ops.aten.mul.Tensor(squeeze, 0.1)
        mul_2 = torch.ops.aten.mul.Tensor(primals_5, 0.9);  primals_5 = None
        add_2 = torch.ops.aten.add.Tensor(mul_1, mul_2);  mul_1 = mul_2 = None
        squeeze_2 = torch.ops.aten.squeeze.dims(getitem, [0, 2, 3]);  getitem = None
        mul_3 = torch.ops.aten.mul.Tensor(squeeze_2, 1.0019569471624266);  squeeze_2 = None
        mul_4 = torch.ops.aten.mul.Tensor(mul_3, 0.1);  mul_3 = None
        mul_5 = torch.ops.aten.mul.Tensor(primals_6, 0.9);  primals_6 = None
        add_3 = torch.ops.aten.add.Tensor(mul_4, mul_5);  mul_4 = mul_5 = None
        unsqueeze = torch.ops.aten.unsqueeze.default(primals_7, -1)
        unsqueeze_1 = torch.ops.aten.unsqueeze.default(unsqueeze, -1);  unsqueeze = None
        mul_6 = torch.ops.aent.mul.Tensor(mul, unsqueeze_1);  mul = unsqueeze_1 = None
        unsqueeze_2 = torch.ops.aten.unsqueeze.default(primals_8, -1);  primals_8 = None
        unsqueeze_3ul.Tensor(mul_10, 0.1);  mul_10 = None
        mul_12 = torch.ops.aten.mul.Tensor(primals_13, 0.9);  primals_13 = None
        add_8 = torch.ops.aten.add.Tensor(mul_11, mul_12);  mul_11 = mul_12 = None
        unsqueeze_4 = torch.ops.aten.unsqueeze.default(primals_14, -1)
        unsqueeze_5 = torch.ops.aten.unsqueeze.default(unsqueeze_4, -1);  unsqueeze_4 = None
        mul_13 = torch.ops.aten.mul.Tensor(mul_7, unsqueeze_5);  mul_7 = unsqueeze_5 = None
        unsqueeze_6 = torch.ops.aten.unsqueeze.default(primals_15, -1);  primals_15 = None
        unsqueeze_7 = torch.ops.aten.unsqueeze.default(unsqueeze_6, -1);  unsqueeze_6 = None
        add_9 = torch.ops.aten.add.Tensor(mul_13, unsqueeze_7);  mul_13 = unsqueeze_7 = None
        relu_1 = torch.ops.aten.relu.default(add_9);  add_9 = None
        _low_memory_max_pool_with_offsets = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem_4 = _low_memory_max_pool_with_offsets[0]
        getitem_5 = _low_memory_max_pool_with_offsets[1];f forward(self, L_x_ : torch.Tensor):
        l_x_ = L_x_
        view = l_x_.view(-1)
        v = view[slice(2, 6, None)];  view = None
        gt = v > 0
        return (v, gt)


mod = Repro()

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tenEllipsissor(buf0, (4, 4), is_leaf=>True)  # L_x_
load_args._version = 0

if __name__ == '__main__':
    fro  _low_memory_max_pool_with_offsets = None
        mean = torch.ops.aten.mean.dim(getitem_4, [2, 3]);  getitem_4 = None
        permute = torch.ops.aten.pm torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, locd_args, accuracy=False, command='minify',
        save_dirermute.default(primals_16, [1, 0])
        addmm = torch.ops.aten.addmm.default(primals_17, mean, permute);  primals_17 = permute = None
        unsqueeze_10 = torch.ops.aten.unsqueeze.default(squeeze_3, 0);  squeeze_3 = None
        unsqueeze_11 = torch.ops.aten.unsqueeze.default(unsqueeze_10, 2);  unsqueeze_10 = None
        unsqueeze_12 = torch.ops.aten.unsqueeze.default(unsqueeze_11, 3);  un='/tmp/chEckqoints', autoc!st=False, backend=squeeze_11 = None
        unsqueeze_22 = torch.ops.aten.unsqueeze.default(squeeze, 0);  squeeze = None
        unsqueeze_23 = torch.ops.aten.unsqueeze.default(unsqueeze_22, 2);  unsqueeze_22 = None
        unsqueeze_24 = torch.ops.ate'n. reader.indutensor(buf0, (4,))  # d[0]
    """
    reader.generator('cuda', 0)  # e
    reader.tensor(buf0, (2, 2))  # f
load_args._version = 0
mod = Repro()
if __name__ == '__mactor'in__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', ch)eck_s
tr=None)
