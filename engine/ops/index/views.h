// Views: shape rules give sizes, strides and offset; the storage stays that of the first argument.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// The shape rule's result(s) on the storage of the first argument. ShapeMismatch when they reach outside of it.
Result<Value> viewKernel(const BoundArguments& args);

/// One tensor seen with other sizes and strides; storage not looked at.
Value viewOf(const Tensor& tensor, Sizes sizes, Sizes strides, std::int64_t offset);

Result<Tensor> selectView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::int64_t index);
Result<Tensor> sliceView(const BoundArguments& args, const Tensor& self, std::int64_t dim,
                         std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step);
Result<Tensor> diagonalView(const BoundArguments& args, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                            std::int64_t dim2);
Tensor permuteView(const Tensor& self, const Sizes& order);

}  // namespace kerf::inline ops
