// Flops and sharding of matrix products.
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// Two per product: every element of the result for every element of the contracted dimension of argument `at`.
template <std::size_t at>
double contracted(const BoundArguments& args, const ValueList& results) {
  return 2.0 * double(results[0].tensor().numel()) * double(args.tensor(at).sizes().back());
}
double dot(const BoundArguments& args, const ValueList&) { return 2.0 * double(args.tensor(0).numel()); }

constexpr OpFacts einsum(const char* op, const char* equation) {
  return {.op = op, .sharding = {ShardingKind::Einsum, equation}};
}

constexpr OpFacts matmulFactsTable[] = {
    {.op = "aten::mm", .flops = contracted<0>},
    {.op = "aten::bmm", .flops = contracted<0>},
    {.op = "aten::addmm", .flops = contracted<1>},
    {.op = "aten::baddbmm", .flops = contracted<1>},
    {.op = "aten::mv", .flops = contracted<0>},
    {.op = "aten::addmv", .flops = contracted<1>},
    {.op = "aten::dot", .flops = dot},
    {.op = "aten::_scaled_mm", .flops = contracted<0>},
    {.op = "aten::_int_mm", .flops = contracted<0>},
    {.op = "onednn::qlinear_pointwise", .flops = contracted<0>},
    {.op = "onednn::qlinear_pointwise.tensor", .flops = contracted<0>},
    einsum("aten::mm", "mk,kn->mn"),
    einsum("aten::bmm", "bmk,bkn->bmn"),
    einsum("aten::mv", "mk,k->m"),
    einsum("aten::dot", "k,k->"),
    einsum("aten::t", "mn->nm"),
};

const OpRegistration matmulFacts({.facts = matmulFactsTable});

}  // namespace

}  // namespace kerf::inline ops
