#include "app/bench/compiled_kernels.h"

namespace kerf::bench {
namespace {

std::vector<KernelBenchCase> allCases() {
  std::vector<KernelBenchCase> cases{
      {"tanh_gelu", R"(def forward(self, x: "f32[512, 3072]"):
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
      {"erf_gelu", R"(def forward(self, x: "f32[512, 3072]"):
    mul = torch.ops.aten.mul.Tensor(x, 0.5)
    mul_1 = torch.ops.aten.mul.Tensor(x, 0.7071067811865476)
    erf = torch.ops.aten.erf.default(mul_1)
    add = torch.ops.aten.add.Tensor(erf, 1)
    mul_2 = torch.ops.aten.mul.Tensor(mul, add)
    return (mul_2,)
)"},
      {"silu_mul", R"(def forward(self, x: "f32[512, 3072]", y: "f32[512, 3072]"):
    sigmoid = torch.ops.aten.sigmoid.default(x)
    mul = torch.ops.aten.mul.Tensor(x, sigmoid)
    mul_1 = torch.ops.aten.mul.Tensor(mul, y)
    return (mul_1,)
)"},
      {"sin_cos", R"(def forward(self, x: "f32[512, 3072]"):
    cos = torch.ops.aten.cos.default(x)
    sin = torch.ops.aten.sin.default(x)
    return (cos, sin)
)"},
      {"softmax", R"(def forward(self, x: "f32[12, 512, 512]"):
    amax = torch.ops.aten.amax.default(x, [-1], True)
    sub = torch.ops.aten.sub.Tensor(x, amax)
    exp = torch.ops.aten.exp.default(sub)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
    div = torch.ops.aten.div.Tensor(exp, sum_1)
    return (div,)
)"},
      {"softmax_backward", R"(def forward(self, grad: "f32[12, 512, 512]", out: "f32[12, 512, 512]"):
    mul = torch.ops.aten.mul.Tensor(grad, out)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [-1], True)
    mul_1 = torch.ops.aten.mul.Tensor(out, sum_1)
    sub = torch.ops.aten.sub.Tensor(mul, mul_1)
    return (sub,)
)"},
      {"layer_norm", R"(def forward(self, x: "f32[4096, 768]", w: "f32[768]", b: "f32[768]"):
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
      {"bias_gradient", R"(def forward(self, x: "f32[2048, 768]", y: "f32[2048, 768]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0])
    return (sum_1,)
)"},
      {"channel_sums", R"(def forward(self, x: "f32[16, 64, 56, 56]", y: "f32[16, 64, 56, 56]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0, 2, 3])
    sum_2 = torch.ops.aten.sum.dim_IntList(x, [0, 2, 3])
    return (sum_1, sum_2)
)"},
      {"transpose", R"(def forward(self, x: "f32[2048, 1024]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
      {"head_permute", R"(def forward(self, x: "f32[4, 512, 768]"):
    view = torch.ops.aten.view.default(x, [4, 512, 12, 64])
    permute = torch.ops.aten.permute.default(view, [0, 2, 1, 3])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
      {"sum_bf16", R"(def forward(self, x: "bf16[2048, 3072]"):
    sum_1 = torch.ops.aten.sum.default(x)
    return (sum_1,)
)"},
      {"cross_entropy", R"(def forward(self, x: "f32[256, 8192]", target: "i64[256]"):
    amax = torch.ops.aten.amax.default(x, [1], True)
    sub = torch.ops.aten.sub.Tensor(x, amax)
    exp = torch.ops.aten.exp.default(sub)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    log = torch.ops.aten.log.default(sum_1)
    sub_1 = torch.ops.aten.sub.Tensor(sub, log)
    return (sub_1,)
)"},
      {"cat", R"(def forward(self, x: "f32[64, 128, 196]", y: "f32[64, 64, 196]"):
    cat = torch.ops.aten.cat.default([x, y], 1)
    relu = torch.ops.aten.relu.default(cat)
    return (relu,)
)"},
      {"embedding", R"(def forward(self, w: "f32[2000, 768]", i: "i64[4, 512]", p: "f32[512, 768]"):
    embedding = torch.ops.aten.embedding.default(w, i)
    add = torch.ops.aten.add.Tensor(embedding, p)
    return (add,)
)"},
      {"embedding_backward", R"(def forward(self, g: "f32[8192, 768]", i: "i64[8192]"):
    mul = torch.ops.aten.mul.Tensor(g, 0.5)
    embedding_dense_backward = torch.ops.aten.embedding_dense_backward.default(mul, i, 8192, -1, False)
    return (embedding_dense_backward,)
)"},
      {"index_put", R"(def forward(self, x: "f32[8192, 768]", i: "i64[8192]", v: "f32[8192, 768]"):
    index_put = torch.ops.aten.index_put.default(x, [i], v, True)
    return (index_put,)
)"},
      {"scatter_add", R"(def forward(self, x: "f32[4096, 1024]", i: "i64[4096, 1024]", v: "f32[4096, 1024]"):
    scatter_add = torch.ops.aten.scatter_add.default(x, 1, i, v)
    return (scatter_add,)
)"},
      {"scatter_rows", R"(def forward(self, x: "f32[4096, 1024]", i: "i64[2048, 1024]", v: "f32[2048, 1024]"):
    scatter = torch.ops.aten.scatter.src(x, 0, i, v)
    return (scatter,)
)"},
      {"cumsum_rows", R"(def forward(self, x: "f32[4096, 1024]"):
    gt = torch.ops.aten.gt.Scalar(x, 0.0)
    full = torch.ops.aten.full.default([], 0.0, dtype = torch.float32)
    where = torch.ops.aten.where.self(gt, x, full)
    cumsum = torch.ops.aten.cumsum.default(where, 1)
    sub = torch.ops.aten.sub.Tensor(cumsum, where)
    return (sub,)
)"},
      {"cumsum_columns", R"(def forward(self, x: "f32[4096, 1024]"):
    cumsum = torch.ops.aten.cumsum.default(x, 0)
    return (cumsum,)
)"},
      // what costs as much as an exponential before a write, and beside a scan along rows
      {"expensive_scatter_add", R"(def forward(self, z: "f32[4096]", i: "i64[4194304]", v: "f32[4194304]"):
    tanh = torch.ops.aten.tanh.default(v)
    exp = torch.ops.aten.exp.default(tanh)
    scatter_add = torch.ops.aten.scatter_add.default(z, 0, i, exp)
    return (scatter_add,)
)"},
      {"expensive_cumsum_rows", R"(def forward(self, x: "f32[4096, 1024]"):
    tanh = torch.ops.aten.tanh.default(x)
    exp = torch.ops.aten.exp.default(tanh)
    cumsum = torch.ops.aten.cumsum.default(exp, 1)
    return (cumsum,)
)"},
  };
  const std::size_t singles = cases.size();
  for (std::size_t i = 0; i < singles; ++i)
    for (const char* name : {"softmax", "bias_gradient", "silu_mul"})
      if (cases[i].name == name) cases.push_back(inBfloat16(cases[i]));
  return cases;
}

}  // namespace

KernelBenchCase inBfloat16(const KernelBenchCase& single) {
  KernelBenchCase half{.name = single.name + "_bf16", .text = single.text};
  constexpr std::string_view f32 = "\"f32[", bf16 = "\"bf16[";
  for (std::size_t at = 0; (at = half.text.find(f32, at)) != std::string::npos;)
    half.text.replace(at, f32.size(), bf16);
  return half;
}

KernelBenchCase roundedWhenStored(KernelBenchCase each) {
  each.name += "_fused";
  each.roundsEachOp = false;
  return each;
}

const std::vector<KernelBenchCase>& kernelBenchCases() {
  static const std::vector<KernelBenchCase> cases = allCases();
  return cases;
}

}  // namespace kerf::bench
