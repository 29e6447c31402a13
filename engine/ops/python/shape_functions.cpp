// Functions of Python over shapes and places: broadcast_shapes, unravel_index, dim_order, range, tensor_split at places that
// a tensor holds; and lu.
#include <algorithm>
#include <numeric>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// An int, or a list of ints.
Result<SymSizes> shapeOf(const Value& value, std::string_view name) {
  SymSizes sizes;
  if (const auto number = value.asSymInt()) return SymSizes{*number};
  if (!value.isList()) return fail(ErrorCode::BadInput, "{}: a shape must be an int or a sequence of ints", name);
  for (const Value& item : value.list()) {
    const auto size = item.asSymInt();
    if (!size) return fail(ErrorCode::BadInput, "{}: a shape must be an int or a sequence of ints", name);
    sizes.push_back(*size);
  }
  return sizes;
}

Result<Value> broadcastShapes(const PythonCall& call) {
  SymSizes common;
  for (const Value& value : call.args) {
    KERF_TRY(const SymSizes sizes, shapeOf(value, call.name));
    if (sizes.size() > common.size()) common.insert(common.begin(), sizes.size() - common.size(), SymInt(1));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      SymInt& size = common[common.size() - sizes.size() + i];
      if (guardOrFalse(sizes[i] == 1) || guardOrFalse(sizes[i] == size)) continue;
      if (!guardOrFalse(size == 1))
        return fail(ErrorCode::BadInput, "broadcast_shapes: sizes {} and {} do not fit", size, sizes[i]);
      size = sizes[i];
    }
  }
  return intList(common);
}

Result<Value> unravelIndex(const PythonCall& call) {
  KERF_TRY(const Tensor indices, call.tensor(0, "indices"));
  KERF_TRY(const SymSizes shape, shapeOf(call.get(1, "shape"), call.name));
  if (!isIntegral(indices.dtype()) || indices.dtype() == DType::Bool)
    return fail(ErrorCode::BadInput, "unravel_index: indices must be of an integer dtype, got {}",
                dtypeInfo(indices.dtype()).torchName);
  ValueList places(shape.size());
  SymInt step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (guardOrFalse(shape[i] < 0))
      return fail(ErrorCode::BadInput, "unravel_index: sizes must not be negative, got {}", shape[i]);
    KERF_TRY(const Value quotient, call.aten("div.Tensor_mode", {Value(indices), Value(step)},
                                             {{"rounding_mode", Value(std::string("floor"))}}));
    KERF_TRY(places[i], call.aten("remainder.Scalar", {quotient, Value(shape[i])}));
    step *= shape[i];
  }
  return Value(std::move(places));
}

/// Dimensions by falling strides.
Result<Value> dimOrder(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  std::vector<std::int64_t> order(std::size_t(self.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return guardOrFalse(self.symStrides()[std::size_t(a)] > self.symStrides()[std::size_t(b)]);
  });
  ValueList dims;
  for (const std::int64_t dim : order) dims.emplace_back(dim);
  return Value(std::move(dims));
}

/// The factors in one matrix, pivots, and what went wrong where it is asked for.
Result<Value> lu(const PythonCall& call) {
  KERF_TRY(const Value all, call.aten("_lu_with_info.default", {call.get(0, "A"), call.get(1, "pivot"),
                                                                Value(!call.truth(2, "get_infos", false))}));
  ValueList results = all.list();
  if (!call.truth(2, "get_infos", false)) results.resize(2);
  return Value(std::move(results));
}

/// The places, or the number of pieces, are what a tensor holds.
Result<Value> splitAtTensor(const PythonCall& call) {
  KERF_TRY(const Tensor places, call.tensor(SIZE_MAX, "tensor_indices_or_sections"));
  const Value input = call.get(0, "input"), dim = call.get(SIZE_MAX, "dim");
  if (places.dtype() != DType::Int64 || places.dim() > 1)
    return fail(ErrorCode::ShapeMismatch, "tensor_split: the places must be an int64 tensor of at most one dimension");
  if (!places.defined() || places.isSymbolic())
    return fail(ErrorCode::UnsupportedOp, "tensor_split: the places are a tensor's elements, which are not known yet");
  if (places.dim() == 0) return call.aten("tensor_split.sections", {input, Value(places.itemAsInt()), dim});
  Sizes numbers;
  for (std::int64_t i = 0; i < places.numel(); ++i) numbers.push_back(places.itemAsInt(i));
  return call.aten("tensor_split.indices", {input, intList(numbers), dim});
}

constexpr PythonRow rows[] = {
    {"torch.tensor_split(Tensor input, Tensor tensor_indices_or_sections, int dim=0)", splitAtTensor},
    {"Tensor.tensor_split(Tensor tensor_indices_or_sections, int dim=0)", splitAtTensor},
    {"torch.broadcast_shapes", broadcastShapes},
    {"torch.unravel_index", unravelIndex},
    {"Tensor.dim_order", dimOrder},
    {"torch.lu", lu},
    {"Tensor.lu", lu},
};

}  // namespace

Result<Value> rangeOf(const ValueList& args) {
  constexpr std::int64_t most = 1 << 20;
  std::vector<std::int64_t> numbers;
  for (const Value& value : args) {
    const auto number = value.asSymInt();
    if (!number) return fail(ErrorCode::BadInput, "range takes ints");
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > 3)
    return fail(ErrorCode::BadInput, "range takes 1 to 3 ints, got {}", numbers.size());
  const std::int64_t begin = numbers.size() > 1 ? numbers[0] : 0, end = numbers.size() > 1 ? numbers[1] : numbers[0];
  const std::int64_t step = numbers.size() > 2 ? numbers[2] : 1;
  if (step == 0) return fail(ErrorCode::BadInput, "range: the step must not be zero");
  ValueList items;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    if (std::int64_t(items.size()) >= most) return fail(ErrorCode::TooLarge, "range has more than {} numbers", most);
    items.emplace_back(i);
  }
  return Value(std::move(items));
}

PythonRows shapeFunctionRows() { return rows; }

}  // namespace kerf::inline ops
