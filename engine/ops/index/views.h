// Views: shape rules give sizes, strides and offset; the storage stays that of the first argument.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// The shape rule's result(s) on the storage of the first argument. ShapeMismatch when they reach outside of it.
Result<Value> viewKernel(const BoundArguments& args);

/// One tensor seen with other sizes and strides; storage not looked at.
Value viewOf(const Tensor& tensor, SymSizes sizes, SymSizes strides, SymInt offset);

/// The index may be unknown before the graph runs; then so is the offset.
Result<Tensor> selectView(const BoundArguments& args, const Tensor& self, std::int64_t dim, SymInt index);
/// As Python slices: bounds count from the end where negative, and are clamped. Where bounds depend on data, so does
/// the length.
Result<Tensor> sliceView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::optional<SymInt> start,
                         std::optional<SymInt> end, SymInt step);
/// `length` elements from `start` on, which were checked to be there.
Result<Tensor> partView(const BoundArguments& args, const Tensor& self, std::int64_t dim, SymInt start, SymInt length);
/// Windows of `size` elements in steps of `step`, as a new last dimension; `dim` is in [0, rank).
Result<Tensor> unfoldView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::int64_t size,
                          std::int64_t step);
Result<Tensor> diagonalView(const BoundArguments& args, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                            std::int64_t dim2);
Tensor permuteView(const Tensor& self, const Sizes& order);

}  // namespace kerf::inline ops
