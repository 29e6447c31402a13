// Shape arithmetic that many ops share: broadcasting, the strides PyTorch gives new tensors, and views.
#pragma once

#include <optional>
#include <span>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Sizes that all operands broadcast to; ShapeMismatch (without the op's name) when they do not.
Result<Sizes> broadcastSizes(std::span<const Tensor> operands);
Result<Sizes> broadcastSizes(const Sizes& a, const Sizes& b);
/// Strides with which a tensor is read as if it had `sizes` (0 where it is repeated). It must broadcast to them.
Sizes broadcastStrides(const Tensor& tensor, const Sizes& sizes);

/// Strides of the fresh output of an element-wise op: dense, in the operands' order of dimensions (TensorIterator).
Sizes elementwiseStrides(std::span<const Tensor> operands, const Sizes& sizes);

bool isContiguousAs(const Tensor& tensor, MemoryFormat format);
bool isNonOverlappingAndDense(const Tensor& tensor);
/// Strides for a format; Preserve counts as Contiguous here. ShapeMismatch when the rank does not fit.
Result<Sizes> formatStrides(const Sizes& sizes, MemoryFormat format);
/// Channels-last when the strides say so, as at::suggest_memory_format.
MemoryFormat suggestFormat(const Tensor& tensor);
/// Strides of `empty_like(tensor, memory_format=format)`; no format means Preserve.
Result<Sizes> likeStrides(const Tensor& tensor, std::optional<MemoryFormat> format);

/// Replaces the one -1 and checks the element count.
Result<Sizes> inferSize(const BoundArguments& args, const Sizes& sizes, std::int64_t numel);
/// Strides of tensor.view(sizes); none when it cannot be done without a copy.
std::optional<Sizes> viewStrides(const Tensor& tensor, const Sizes& sizes);

}  // namespace kerf::inline ops
