// Shape arithmetic that many ops share: broadcasting, the strides PyTorch gives new tensors, and views. Sizes may be
// symbolic everywhere: what is decided becomes a guard, and sizes that depend on data take the general case.
#pragma once

#include <optional>
#include <span>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Whether sizes are the same; of those that depend on data it is assumed from then on (a runtime assert).
bool checkEqual(const SymSizes& a, const SymSizes& b);

/// Sizes that all operands broadcast to; ShapeMismatch (without the op's name) when they do not.
Result<SymSizes> broadcastSizes(std::span<const Tensor> operands);
Result<SymSizes> broadcastSizes(const SymSizes& a, const SymSizes& b);
/// Product of the sizes; TooLarge where numbers overflow.
Result<SymInt> checkedCount(const SymSizes& sizes);
/// Strides with which a tensor is read as if it had `sizes` (0 where it is repeated). It must broadcast to them.
SymSizes broadcastStrides(const Tensor& tensor, const SymSizes& sizes);

/// Strides of the fresh output of an element-wise op: dense, in the operands' order of dimensions (TensorIterator).
SymSizes elementwiseStrides(std::span<const Tensor> operands, const SymSizes& sizes);

bool isContiguousAs(const Tensor& tensor, MemoryFormat format);
bool isNonOverlappingAndDense(const Tensor& tensor);
/// Whether no two elements of a view share memory: each dimension steps over all that those with smaller strides cover.
bool isInjective(const Sizes& sizes, const Sizes& strides);
/// Strides for a format; Preserve counts as Contiguous here. ShapeMismatch when the rank does not fit.
Result<SymSizes> formatStrides(const SymSizes& sizes, MemoryFormat format);
/// Channels-last when the strides say so, as at::suggest_memory_format.
MemoryFormat suggestFormat(const Tensor& tensor);
/// Strides of `empty_like(tensor, memory_format=format)`; no format means Preserve.
Result<SymSizes> likeStrides(const Tensor& tensor, std::optional<MemoryFormat> format);

/// Replaces the one -1 and checks the element count.
Result<SymSizes> inferSize(const BoundArguments& args, const SymSizes& sizes, SymInt numel);
/// Strides of tensor.view(sizes); none when it cannot be done without a copy.
std::optional<SymSizes> viewStrides(const Tensor& tensor, const SymSizes& sizes);

}  // namespace kerf::inline ops
