
import os
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/x'

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
torch._inductor.config.deterministic = False
# torch version: 2.11.0+cu130

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1, arg10_1, arg11_1, arg12_1, arg13_1):
        permute = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm = torch.ops.aten.addmm.default(arg1_1, arg2_1, permute);  arg1_1 = arg2_1 = permute = None
        relu = torch.ops.aten.relu.default(addmm);  addmm = None
        permute_1 = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        addmm_1 = torch.ops.aten.addmm.default(arg4_1, relu, permute_1);  arg4_1 = relu = permute_1 = None
        relu_1 = torch.ops.aten.relu.default(addmm_1);  addmm_1 = None
        select = torch.ops.aten.select.int(arg5_1, 1, 0)
        embedding = torch.ops.aten.embedding.default(arg6_1, select);  arg6_1 = select = None
        select_1 = torch.ops.aten.select.int(arg5_1, 1, 1)
        embedding_1 = torch.ops.aten.embedding.default(arg7_1, select_1);  arg7_1 = select_1 = None
        select_2 = torch.ops.aten.select.int(arg5_1, 1, 2)
        embedding_2 = torch.ops.aten.embedding.default(arg8_1, select_2);  arg8_1 = select_2 = None
        select_3 = torch.ops.aten.select.int(arg5_1, 1, 3);  arg5_1 = None
        embedding_3 = torch.ops.aten.embedding.default(arg9_1, select_3);  arg9_1 = select_3 = None
        cat = torch.ops.aten.cat.default([relu_1, embedding, embedding_1, embedding_2, embedding_3], 1);  embedding = embedding_1 = embedding_2 = embedding_3 = None
        view = torch.ops.aten.view.default(cat, [6, 5, 8]);  cat = None
        permute_2 = torch.ops.aten.permute.default(view, [0, 2, 1])
        bmm = torch.ops.aten.bmm.default(view, permute_2);  view = permute_2 = None
        iota = torch.ops.prims.iota.default(10, start = 0, step = 1, dtype = torch.int64, device = device(type='cpu'), requires_grad = False)
        mul = torch.ops.aten.mul.Tensor(iota, 1);  iota = None
        add = torch.ops.aten.add.Tensor(mul, 0);  mul = None
        convert_element_type = torch.ops.prims.convert_element_type.default(add, torch.float64);  add = None
        mul_1 = torch.ops.aten.mul.Tensor(convert_element_type, 2)
        add_1 = torch.ops.aten.add.Tensor(mul_1, 0.25);  mul_1 = None
        sqrt = torch.ops.aten.sqrt.default(add_1);  add_1 = None
        add_2 = torch.ops.aten.add.Tensor(sqrt, -0.5);  sqrt = None
        floor = torch.ops.aten.floor.default(add_2);  add_2 = None
        add_3 = torch.ops.aten.add.Tensor(floor, 1)
        mul_2 = torch.ops.aten.mul.Tensor(add_3, floor);  add_3 = None
        mul_3 = torch.ops.aten.mul.Tensor(mul_2, 0.5);  mul_2 = None
        sub = torch.ops.aten.sub.Tensor(convert_element_type, mul_3);  convert_element_type = mul_3 = None
        floor_1 = torch.ops.aten.floor.default(sub);  sub = None
        add_4 = torch.ops.aten.add.Tensor(floor, 1);  floor = None
        convert_element_type_1 = torch.ops.prims.convert_element_type.default(add_4, torch.int64);  add_4 = None
        convert_element_type_2 = torch.ops.prims.convert_element_type.default(floor_1, torch.int64);  floor_1 = None
        clone = torch.ops.aten.clone.default(convert_element_type_1);  convert_element_type_1 = None
        clone_1 = torch.ops.aten.clone.default(convert_element_type_2);  convert_element_type_2 = None
        cat_1 = torch.ops.aten.cat.default([clone, clone_1]);  clone = clone_1 = None
        view_1 = torch.ops.aten.view.default(cat_1, [2, 10]);  cat_1 = None
        select_4 = torch.ops.aten.select.int(view_1, 0, 0)
        select_5 = torch.ops.aten.select.int(view_1, 0, 1);  view_1 = None
        index = torch.ops.aten.index.Tensor(bmm, [None, select_4, select_5]);  bmm = select_4 = select_5 = None
        cat_2 = torch.ops.aten.cat.default([relu_1, index], 1);  relu_1 = index = None
        permute_3 = torch.ops.aten.permute.default(arg10_1, [1, 0]);  arg10_1 = None
        addmm_2 = torch.ops.aten.addmm.default(arg11_1, cat_2, permute_3);  arg11_1 = cat_2 = permute_3 = None
        relu_2 = torch.ops.aten.relu.default(addmm_2);  addmm_2 = None
        permute_4 = torch.ops.aten.permute.default(arg12_1, [1, 0]);  arg12_1 = None
        addmm_3 = torch.ops.aten.addmm.default(arg13_1, relu_2, permute_4);  arg13_1 = relu_2 = permute_4 = None
        sigmoid = torch.ops.aten.sigmoid.default(addmm_3);  addmm_3 = None
        return (sigmoid,)

def load_args(reader):
    buf0 = reader.storage('b32c6fe937d20f966a5896ab09919ef7fa146057', 832)
    reader.tensor(buf0, (16, 13), requires_grad=True, is_leaf=True)  # arg0_1
    buf1 = reader.storage('4806356d096f31c4487c248265e0aa09b0a2c99d', 64)
    reader.tensor(buf1, (16,), requires_grad=True, is_leaf=True)  # arg1_1
    buf2 = reader.storage('92d76b1be6300cd78af05161ceb5273a236e8d97', 312)
    reader.tensor(buf2, (6, 13), is_leaf=True)  # arg2_1
    buf3 = reader.storage('084a2f3f82ba90c803bc3fe47bf931bba53a6c35', 512)
    reader.tensor(buf3, (8, 16), requires_grad=True, is_leaf=True)  # arg3_1
    buf4 = reader.storage('5067b56cddbd86bdc892ff9809efbbe60e3908e6', 32)
    reader.tensor(buf4, (8,), requires_grad=True, is_leaf=True)  # arg4_1
    buf5 = reader.storage('d8611c70a5b3832ff4b93e41da0a526f77a2bde7', 192, dtype_hint=torch.int64)
    reader.tensor(buf5, (6, 4), dtype=torch.int64, is_leaf=True)  # arg5_1
    buf6 = reader.storage('22e801bee36db2d8d503f0441253a492588259dd', 1600)
    reader.tensor(buf6, (50, 8), requires_grad=True, is_leaf=True)  # arg6_1
    buf7 = reader.storage('5a6a092082bdc8478a6464532bf14358d1386a5a', 1600)
    reader.tensor(buf7, (50, 8), requires_grad=True, is_leaf=True)  # arg7_1
    buf8 = reader.storage('17840ff43b2fe2418e6743a7febad54c713f0308', 1600)
    reader.tensor(buf8, (50, 8), requires_grad=True, is_leaf=True)  # arg8_1
    buf9 = reader.storage('296a03b11d84887aba46123b7af506b9f3d75f9b', 1600)
    reader.tensor(buf9, (50, 8), requires_grad=True, is_leaf=True)  # arg9_1
    buf10 = reader.storage('d1830d7859a715b1442bbcec3e987ea0405160ae', 1152)
    reader.tensor(buf10, (16, 18), requires_grad=True, is_leaf=True)  # arg10_1
    buf11 = reader.storage('c8a7dcdcb457e57e69d080809fbe3177ef10e615', 64)
    reader.tensor(buf11, (16,), requires_grad=True, is_leaf=True)  # arg11_1
    buf12 = reader.storage('54e7c19d9115c879d7cb005c6dee778dce6fd19d', 64)
    reader.tensor(buf12, (1, 16), requires_grad=True, is_leaf=True)  # arg12_1
    buf13 = reader.storage('04af98aeafb4df66edc1e962d7f7361d9fdbc3c7', 4)
    reader.tensor(buf13, (1,), requires_grad=True, is_leaf=True)  # arg13_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)