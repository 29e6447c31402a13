// Outputs whose elements are not set yet, for kernels that write every one of them.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/tensor/empty.h"

namespace kerf::inline ops {

/// As allocate(), with arbitrary contents.
inline Result<Tensor> allocateEmpty(const Tensor& meta) {
  KERF_TRY(Tensor result, emptyTensor(meta.dtype(), meta.sizes(), meta.strides()));
  if (meta.device() != Device{}) result.setDevice(meta.device());
  return result;
}

/// As makeOutput(), with arbitrary contents.
inline Result<Tensor> makeEmptyOutput(const BoundArguments& args) {
  KERF_TRY(const Value meta, runShapeRule(args));
  return allocateEmpty(meta.tensor());
}

/// As makeOutputs(), with arbitrary contents.
inline Result<std::vector<Tensor>> makeEmptyOutputs(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  std::vector<Tensor> result;
  for (const Value& meta : metas.list()) {
    KERF_TRY(Tensor out, allocateEmpty(meta.tensor()));
    result.push_back(std::move(out));
  }
  return result;
}

}  // namespace kerf::inline ops
