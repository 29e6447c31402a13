// A tensor's elements as doubles, for ops that are too rare for a typed kernel.
#pragma once

#include <vector>

#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {

using Doubles = std::vector<double>;

/// Row-major. UnsupportedOp for complex tensors, which would lose their imaginary parts.
inline Result<Doubles> doublesOf(const Tensor& tensor) {
  if (isComplex(tensor.dtype()))
    return fail(ErrorCode::UnsupportedOp, "not implemented for {}", dtypeInfo(tensor.dtype()).torchName);
  KERF_TRY(const Tensor wide, tensor.to(DType::Float64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  return Doubles(flat.data<double>(), flat.data<double>() + flat.numel());
}

/// Row-major, as if broadcast to `sizes`; ShapeMismatch when it does not.
inline Result<Doubles> doublesOf(const Tensor& tensor, const Sizes& sizes) {
  KERF_TRY(const Sizes both, broadcastSizes(tensor.sizes(), sizes));
  if (both != sizes)
    return fail(ErrorCode::ShapeMismatch, "shape [{}] does not broadcast to [{}]", fmt::join(tensor.sizes(), ", "),
                fmt::join(sizes, ", "));
  return doublesOf(tensor.viewAs(sizes, broadcastStrides(tensor, sizes), tensor.offset()));
}

}  // namespace kerf::inline ops
