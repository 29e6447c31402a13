// _trilinear: products of three tensors, summed; what bilinear layers are made of.
#include <algorithm>
#include <array>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

// _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)

bool contains(const Sizes& dims, std::int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

struct Trilinear {
  std::array<Tensor, 3> inputs;  ///< with size-1 dimensions where expanded
  SymSizes sizes;                ///< broadcast
  Sizes summedFirst, summedLast;
  SymSizes outSizes;
};

Result<Trilinear> trilinear(const BoundArguments& args) {
  Trilinear plan;
  const auto total = std::size_t(args.tensor(0).dim()) + args.sizes(3).size();
  SymSizes broadcast;
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor& input = args.tensor(k);
    if (std::size_t(input.dim()) + args.sizes(3 + k).size() != total)
      return mismatch(args, "inputs expand to different numbers of dimensions");
    Sizes dims = args.sizes(3 + k);
    std::ranges::sort(dims);
    Value expanded = input;
    for (std::int64_t dim : dims) {
      KERF_TRY(expanded, callOp("aten.unsqueeze.default"_op, {expanded, dim}));
    }
    plan.inputs[k] = expanded.tensor();
    auto sizes = k == 0 ? Result<SymSizes>(plan.inputs[k].sizes()) : broadcastSizes(broadcast, plan.inputs[k].sizes());
    if (!sizes) return mismatch(args, "{}", sizes.error().message);
    broadcast = std::move(*sizes);
  }
  const Sizes sums = args.sizes(6);
  for (std::int64_t dim : sums)
    if (dim < 0 || dim >= std::int64_t(total)) return mismatch(args, "sumdim {} is out of range", dim);
  for (std::size_t d = 0; d < total; ++d) {
    const auto dim = std::int64_t(d);
    if (!contains(sums, dim)) plan.outSizes.push_back(broadcast[d]);
    if (contains(sums, dim)) (contains(args.sizes(5), dim) ? plan.summedFirst : plan.summedLast).push_back(dim);
  }
  plan.sizes = std::move(broadcast);
  return plan;
}

Result<Value> trilinearShape(const BoundArguments& args) {
  SymSizes sizes;
  const auto total = std::size_t(args.tensor(0).dim()) + args.sizes(3).size();
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor& input = args.tensor(k);
    if (input.dtype() != args.tensor(0).dtype()) return mismatch(args, "inputs differ in dtype");
    if (std::size_t(input.dim()) + args.sizes(3 + k).size() != total)
      return mismatch(args, "inputs expand to different numbers of dimensions");
    SymSizes own;
    std::size_t next = 0;
    for (std::size_t d = 0; d < total; ++d) {
      const bool added = contains(args.sizes(3 + k), std::int64_t(d));
      if (!added && next == input.symSizes().size()) return mismatch(args, "an expand list names dimensions wrongly");
      own.push_back(added ? SymInt(1) : input.symSizes()[next++]);
    }
    auto both = k == 0 ? Result<SymSizes>(own) : broadcastSizes(sizes, own);
    if (!both) return mismatch(args, "{}", both.error().message);
    sizes = std::move(*both);
  }
  SymSizes kept;
  for (std::size_t d = 0; d < total; ++d)
    if (!contains(args.sizes(6), std::int64_t(d))) kept.push_back(sizes[d]);
  return Value(metaTensor(args.tensor(0).dtype(), kept));
}

/// One product and its sum, in double or int64; the partial result of the first two inputs rounds to `dtype`, as their
/// product there.
Result<Tensor> trilinearSum(const Trilinear& plan, const std::array<Tensor, 3>& inputs, DType dtype) {
  const DType wide = inputs[0].dtype();
  KERF_TRY(Tensor partial, callTensorOp("aten.mul.Tensor"_op, {inputs[0], inputs[1]}));
  if (!plan.summedFirst.empty()) {
    KERF_TRY(partial, callTensorOp("aten.sum.dim_IntList"_op, {partial, intList(plan.summedFirst), true}));
  }
  KERF_TRY(const Tensor rounded, partial.to(dtype));
  KERF_TRY(partial, rounded.to(wide));
  KERF_TRY(Tensor product, callTensorOp("aten.mul.Tensor"_op, {partial, inputs[2]}));
  Sizes summed = plan.summedLast;
  if (!summed.empty()) {
    KERF_TRY(product, callTensorOp("aten.sum.dim_IntList"_op, {product, intList(summed), true}));
  }
  return product.to(dtype);
}

/// unroll_dim is a loop: where it is summed over, the running sum is kept in the result's dtype.
Result<Value> trilinearKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (out.numel() == 0) return Value(std::move(out));
  KERF_TRY(const Trilinear plan, trilinear(args));
  const std::int64_t unrolled = args.integer(7);
  const bool loop = contains(args.sizes(6), unrolled);
  std::array<Tensor, 3> inputs;
  for (std::size_t k = 0; k < 3; ++k) {
    KERF_TRY(inputs[k], plan.inputs[k].to(isFloating(out.dtype()) ? DType::Float64 : DType::Int64));
  }
  Tensor result;
  for (std::int64_t k = 0; k < (loop ? std::int64_t{plan.sizes[std::size_t(unrolled)]} : 1); ++k) {
    std::array<Tensor, 3> slices = inputs;
    for (Tensor& slice : slices)
      if (loop && slice.size(unrolled) > 1) {
        KERF_TRY(slice, callTensorOp("aten.slice.Tensor"_op, {slice, unrolled, k, k + 1}));
      }
    KERF_TRY(Tensor part, trilinearSum(plan, slices, out.dtype()));
    if (result.defined()) {
      KERF_TRY(part, callTensorOp("aten.add.Tensor"_op, {result, part}));
    }
    result = std::move(part);
  }
  if (!result.defined()) return Value(std::move(out));
  KERF_TRY(const Tensor flat, result.contiguous());
  KERF_CHECK(copyElements(flat.viewAs(out.sizes(), contiguousStrides(out.sizes()), flat.offset()), out));
  return Value(std::move(out));
}

constexpr OpRow trilinearRows[] = {
    {"aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int "
     "unroll_dim=1) -> Tensor",
     OpTrait::None, trilinearShape, trilinearKernel},
};

const OpRegistration trilinearOps({.rows = trilinearRows});

}  // namespace

}  // namespace kerf::inline ops
