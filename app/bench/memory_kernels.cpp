#include "app/bench/memory_kernels.h"

namespace kerf::bench {
namespace {

/// Operands and results of each fill 200 to 270 MB in float32.
constexpr std::pair<const char*, const char*> groups[] = {
    {"tanh_gelu", R"(def forward(self, x: "f32[8192, 4096]"):
    mul = torch.ops.aten.mul.Tensor(x, 0.5)
    pow_1 = torch.ops.aten.pow.Tensor_Scalar(x, 3.0)
    mul_1 = torch.ops.aten.mul.Tensor(pow_1, 0.044715)
    add = torch.ops.aten.add.Tensor(x, mul_1)
    mul_2 = torch.ops.aten.mul.Tensor(add, 0.7978845608028654)
    tanh = torch.ops.aten.tanh.default(mul_2)
    add_1 = torch.ops.aten.add.Tensor(tanh, 1.0)
    mul_3 = torch.ops.aten.mul.Tensor(mul, add_1)
    return (mul_3,)
)"},
    {"erf_gelu", R"(def forward(self, x: "f32[8192, 4096]"):
    mul = torch.ops.aten.mul.Tensor(x, 0.5)
    mul_1 = torch.ops.aten.mul.Tensor(x, 0.7071067811865476)
    erf = torch.ops.aten.erf.default(mul_1)
    add = torch.ops.aten.add.Tensor(erf, 1)
    mul_2 = torch.ops.aten.mul.Tensor(mul, add)
    return (mul_2,)
)"},
    {"silu_mul", R"(def forward(self, x: "f32[7168, 3072]", y: "f32[7168, 3072]"):
    sigmoid = torch.ops.aten.sigmoid.default(x)
    mul = torch.ops.aten.mul.Tensor(x, sigmoid)
    mul_1 = torch.ops.aten.mul.Tensor(mul, y)
    return (mul_1,)
)"},
    {"add", R"(def forward(self, x: "f32[7168, 3072]", y: "f32[7168, 3072]"):
    add = torch.ops.aten.add.Tensor(x, y)
    return (add,)
)"},
    {"dropout", R"(def forward(self, x: "f32[8192, 4096]"):
    inductor_seeds = torch.ops.prims.inductor_seeds.default(1, device(type='cpu'))
    inductor_lookup_seed = torch.ops.prims.inductor_lookup_seed.default(inductor_seeds, 0)
    inductor_random = torch.ops.prims.inductor_random.default([8192, 4096], inductor_lookup_seed, 'rand')
    gt = torch.ops.aten.gt.Scalar(inductor_random, 0.1)
    mul = torch.ops.aten.mul.Tensor(gt, x)
    mul_1 = torch.ops.aten.mul.Tensor(mul, 1.1111111111111112)
    return (mul_1,)
)"},
    {"softmax", R"(def forward(self, x: "f32[128, 512, 512]"):
    amax = torch.ops.aten.amax.default(x, [-1], True)
    sub = torch.ops.aten.sub.Tensor(x, amax)
    exp = torch.ops.aten.exp.default(sub)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
    div = torch.ops.aten.div.Tensor(exp, sum_1)
    return (div,)
)"},
    {"softmax_backward", R"(def forward(self, grad: "f32[84, 512, 512]", out: "f32[84, 512, 512]"):
    mul = torch.ops.aten.mul.Tensor(grad, out)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [-1], True)
    mul_1 = torch.ops.aten.mul.Tensor(out, sum_1)
    sub = torch.ops.aten.sub.Tensor(mul, mul_1)
    return (sub,)
)"},
    {"layer_norm", R"(def forward(self, x: "f32[43000, 768]", w: "f32[768]", b: "f32[768]"):
    var_mean = torch.ops.aten.var_mean.correction(x, [1], correction = 0, keepdim = True)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    add = torch.ops.aten.add.Tensor(getitem, 1e-05)
    rsqrt = torch.ops.aten.rsqrt.default(add)
    sub = torch.ops.aten.sub.Tensor(x, getitem_1)
    mul = torch.ops.aten.mul.Tensor(sub, rsqrt)
    mul_1 = torch.ops.aten.mul.Tensor(mul, w)
    add_1 = torch.ops.aten.add.Tensor(mul_1, b)
    return (add_1,)
)"},
    {"layer_norm_backward", R"(def forward(self, g: "f32[28672, 768]", x: "f32[28672, 768]", w: "f32[768]",
                             r: "f32[28672, 1]"):
    mul = torch.ops.aten.mul.Tensor(g, w)
    mul_1 = torch.ops.aten.mul.Tensor(mul, 768)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [1], True)
    mul_2 = torch.ops.aten.mul.Tensor(mul, x)
    sum_2 = torch.ops.aten.sum.dim_IntList(mul_2, [1], True)
    mul_3 = torch.ops.aten.mul.Tensor(x, sum_2)
    sub = torch.ops.aten.sub.Tensor(mul_1, sum_1)
    sub_1 = torch.ops.aten.sub.Tensor(sub, mul_3)
    mul_4 = torch.ops.aten.mul.Tensor(r, sub_1)
    return (mul_4,)
)"},
    {"layer_norm_weights", R"(def forward(self, g: "f32[43000, 768]", x: "f32[43000, 768]"):
    mul = torch.ops.aten.mul.Tensor(g, x)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0])
    sum_2 = torch.ops.aten.sum.dim_IntList(g, [0])
    return (sum_1, sum_2)
)"},
    {"group_norm", R"(def forward(self, x: "f32[32, 256, 64, 64]", w: "f32[256]", b: "f32[256]"):
    view = torch.ops.aten.view.default(x, [32, 32, 8, 4096])
    var_mean = torch.ops.aten.var_mean.correction(view, [2, 3], correction = 0, keepdim = True)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    add = torch.ops.aten.add.Tensor(getitem, 1e-05)
    rsqrt = torch.ops.aten.rsqrt.default(add)
    sub = torch.ops.aten.sub.Tensor(view, getitem_1)
    mul = torch.ops.aten.mul.Tensor(sub, rsqrt)
    view_1 = torch.ops.aten.view.default(mul, [32, 256, 64, 64])
    view_2 = torch.ops.aten.view.default(w, [1, 256, 1, 1])
    view_3 = torch.ops.aten.view.default(b, [1, 256, 1, 1])
    mul_1 = torch.ops.aten.mul.Tensor(view_1, view_2)
    add_1 = torch.ops.aten.add.Tensor(mul_1, view_3)
    return (add_1,)
)"},
    {"bias_gradient", R"(def forward(self, x: "f32[43000, 768]", y: "f32[43000, 768]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0])
    return (sum_1,)
)"},
    {"batch_norm_sums", R"(def forward(self, x: "f32[40, 64, 112, 112]", y: "f32[40, 64, 112, 112]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0, 2, 3])
    sum_2 = torch.ops.aten.sum.dim_IntList(x, [0, 2, 3])
    return (sum_1, sum_2)
)"},
    {"sum", R"(def forward(self, x: "f32[16384, 4096]"):
    sum_1 = torch.ops.aten.sum.default(x)
    return (sum_1,)
)"},
    {"transpose", R"(def forward(self, x: "f32[8192, 4096]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
    {"transpose_odd", R"(def forward(self, x: "f32[8211, 4097]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
    {"transposed_add", R"(def forward(self, x: "f32[8192, 2816]", y: "f32[2816, 8192]"):
    permute = torch.ops.aten.permute.default(y, [1, 0])
    add = torch.ops.aten.add.Tensor(x, permute)
    return (add,)
)"},
    {"head_permute", R"(def forward(self, x: "f32[84, 512, 768]"):
    view = torch.ops.aten.view.default(x, [84, 512, 12, 64])
    permute = torch.ops.aten.permute.default(view, [0, 2, 1, 3])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
    {"cat", R"(def forward(self, x: "f32[896, 128, 196]", y: "f32[896, 64, 196]"):
    cat = torch.ops.aten.cat.default([x, y], 1)
    relu = torch.ops.aten.relu.default(cat)
    return (relu,)
)"},
    {"embedding", R"(def forward(self, w: "f32[32768, 768]", i: "i64[64, 512]", p: "f32[512, 768]"):
    embedding = torch.ops.aten.embedding.default(w, i)
    add = torch.ops.aten.add.Tensor(embedding, p)
    return (add,)
)"},
    {"index_rows", R"(def forward(self, w: "f32[32768, 1024]", i: "i64[32768]"):
    index_select = torch.ops.aten.index_select.default(w, 0, i)
    return (index_select,)
)"},
};

}  // namespace

const std::vector<KernelBenchCase>& memoryBenchCases() {
  static const std::vector<KernelBenchCase> cases = [] {
    std::vector<KernelBenchCase> all;
    for (const auto& [name, text] : groups) all.push_back({std::string("memory/") + name, text});
    for (const auto& [name, text] : groups) all.push_back(inBfloat16({std::string("memory/") + name, text}));
    return all;
  }();
  return cases;
}

}  // namespace kerf::bench
