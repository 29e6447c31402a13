// Gradients, flops and sharding of matrix products.
#include "engine/ops/linalg/families.h"

namespace kerf::inline ops {
namespace {

/// a·bᵀ-like products: the last two dimensions of `matrix` change places.
Tensor turned(CompositeSteps& s, const Value& matrix) {
  return matrix.tensor().dim() == 2 ? s("aten.t.default"_op, {matrix})
                                    : s("aten.transpose.int"_op, {matrix, std::int64_t{1}, std::int64_t{2}});
}

Tensor product(CompositeSteps& s, const Value& a, const Value& b) {
  return s(a.tensor().dim() == 2 ? "aten.mm.default"_op : "aten.bmm.default"_op, {a, b});
}

Tensor scaled(CompositeSteps& s, const Tensor& x, const Value& factor) {
  const auto* whole = factor.as<std::int64_t>();
  return whole != nullptr && *whole == 1 ? x : s("aten.mul.Scalar"_op, {x, factor});
}

/// mm(self, mat2), bmm(self, mat2).
Result<ValueList> matmul(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  const Value& a = call.args.values[0];
  const Value& b = call.args.values[1];
  const Tensor first = product(s, grads[0], turned(s, b));
  const Tensor second = product(s, turned(s, a), grads[0]);
  KERF_CHECK(s.done({}));
  return ValueList{first, second};
}

/// addmm(self, mat1, mat2, *, beta, alpha), baddbmm: beta·self + alpha·mat1·mat2.
Result<ValueList> addedMatmul(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  const ValueList& v = call.args.values;
  const Tensor added = scaled(s, sumToSize(s, grads[0].tensor(), call.args.tensor(0).symSizes()), v[3]);
  const Tensor first = scaled(s, product(s, grads[0], turned(s, v[2])), v[4]);
  const Tensor second = scaled(s, product(s, turned(s, v[1]), grads[0]), v[4]);
  KERF_CHECK(s.done({}));
  return ValueList{added, first, second, Value(), Value()};
}

Result<Value> addedMatmulJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  CompositeSteps s(run);
  const ValueList& v = call.args.values;
  Tensor total = s("aten.zeros_like.default"_op, {call.result()});
  if (tangents[0].isTensor()) total = s("aten.add.Tensor"_op, {total, scaled(s, tangents[0].tensor(), v[3])});
  if (tangents[1].isTensor()) total = s("aten.add.Tensor"_op, {total, scaled(s, product(s, tangents[1], v[2]), v[4])});
  if (tangents[2].isTensor()) total = s("aten.add.Tensor"_op, {total, scaled(s, product(s, v[1], tangents[2]), v[4])});
  return s.done(total);
}

/// Two per product: every element of the result for every element of the contracted dimension of argument `at`.
template <std::size_t at>
double contracted(const BoundArguments& args, const ValueList& results) {
  return 2.0 * double(results[0].tensor().numel()) * double(args.tensor(at).sizes().back());
}
double dot(const BoundArguments& args, const ValueList&) { return 2.0 * double(args.tensor(0).numel()); }

constexpr OpFacts einsum(const char* op, const char* equation) {
  return {.op = op, .sharding = {ShardingKind::Einsum, equation}};
}

constexpr OpFacts table[] = {
    {.op = "aten::mm", .gradient = matmul, .jvp = multilinearJvp, .flops = contracted<0>},
    {.op = "aten::bmm", .gradient = matmul, .jvp = multilinearJvp, .flops = contracted<0>},
    {.op = "aten::addmm", .gradient = addedMatmul, .jvp = addedMatmulJvp, .flops = contracted<1>},
    {.op = "aten::baddbmm", .gradient = addedMatmul, .jvp = addedMatmulJvp, .flops = contracted<1>},
    {.op = "aten::mv", .jvp = multilinearJvp, .flops = contracted<0>},
    {.op = "aten::addmv", .flops = contracted<1>},
    {.op = "aten::dot", .jvp = multilinearJvp, .flops = dot},
    {.op = "aten::_scaled_mm", .flops = contracted<0>},
    {.op = "aten::_int_mm", .flops = contracted<0>},
    einsum("aten::mm", "mk,kn->mn"),
    einsum("aten::bmm", "bmk,bkn->bmn"),
    einsum("aten::mv", "mk,k->m"),
    einsum("aten::dot", "k,k->"),
    einsum("aten::t", "mn->nm"),
};

}  // namespace

OpFactRows matmulFacts() { return table; }

}  // namespace kerf::inline ops
