// hash_tensor: a checksum of elements' bits.
#include <bit>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

// hash_tensor(self, dim, *, keepdim, mode): exclusive or of the elements' bits as double or int64

Result<Value> hashShape(const BoundArguments& args) {
  if (args.integer(3) != 0) return mismatch(args, "argument 'mode' must be 0, got {}", args.integer(3));
  KERF_TRY(const ReducedDims dims, reducedDims(args, args.tensor(0), args.values[1], args.boolean(2)));
  return Value(metaTensor(DType::UInt64, dims.outSizes));
}

Result<Value> hashKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const ReducedDims dims, reducedDims(args, self, args.values[1], args.boolean(2)));
  KERF_TRY(const Tensor wide, self.to(isFloating(self.dtype()) ? DType::Float64 : DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  Sizes steps(self.sizes().size(), 0);
  std::int64_t step = 1;
  for (std::size_t d = steps.size(); d-- > 0;) {
    if (dims.reduced[d]) continue;
    steps[d] = step;
    step *= self.sizes()[d];
  }
  const auto* bits = reinterpret_cast<const std::uint64_t*>(flat.storage()->data()) + flat.offset();
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    std::int64_t rest = i, to = 0;
    for (std::size_t d = steps.size(); d-- > 0; rest /= self.sizes()[d]) to += rest % self.sizes()[d] * steps[d];
    out.data<std::uint64_t>()[to] ^= bits[i];
  }
  return Value(std::move(out));
}

constexpr OpRow bitHashRows[] = {
    {"aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", OpTrait::Reduction,
     hashShape, hashKernel},
};

const OpRegistration bitHashOps({.rows = bitHashRows});

}  // namespace

}  // namespace kerf::inline ops
