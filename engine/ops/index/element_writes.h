// Writes of single elements, one after the other, into a wide copy: what the kernels of scatter, index_add and put
// share.
#pragma once

#include <vector>

#include "engine/ops/core/op_call.h"
#include "engine/ops/index/writing.h"

namespace kerf::inline ops {

/// One write: which element of self, and which element of the (row-major) source.
struct ElementWrite {
  std::int64_t target, source;
};

/// Whether a running sum is stored in self's own dtype after every write (vectors, index ops other than index_add,
/// put), or 16-bit floats are kept as float32 until the end (scatter ops, index_add of matrices). float32 is rounded
/// after every write either way, as PyTorch's CPU kernels do.
enum class Rounding : std::uint8_t { EveryWrite, AtEnd };

/// How `reduce` combines, or an error that names the argument's value.
Result<Writing> combineNamed(const BoundArguments& args, std::string_view name);
/// self as a wide, contiguous working copy: double for floats, int64 for integers and bool. UnsupportedOp for complex
/// tensors, which would lose their imaginary parts.
Result<Tensor> workingCopy(const Tensor& self);
/// Writes elements of `source` into `working` in their order, and the result into `out`.
Result<void> applyWrites(const std::vector<ElementWrite>& writes, const Tensor& working, const Tensor& source,
                         Writing how, bool includeSelf, const Tensor& out, Rounding rounding = Rounding::AtEnd);

/// Of ops whose result has the sizes of self (argument 0) and that write along `dim` (argument 1).
Result<Value> writtenShape(const BoundArguments& args);
/// The sizes, those of one element for a tensor without dimensions.
Sizes atLeastOne(const Sizes& sizes);
/// The number argument as a tensor of the index's shape; first it becomes an element of self (0.5 is true).
Result<Tensor> numberLike(const BoundArguments& args, std::size_t i, const Tensor& index);

}  // namespace kerf::inline ops
