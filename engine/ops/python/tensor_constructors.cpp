// torch.tensor, as_tensor and new_tensor: numbers, symbols and tensors in nested lists as one tensor.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// Numbers in lists of lists: what they are, and the sizes of the lists.
struct Nested {
  std::vector<Value> items;
  SymSizes sizes;
  DType dtype = DType::Bool;
  bool plain = true;  ///< numbers alone
};

/// Python's float becomes the default dtype, ints int64, bools bool.
DType dtypeOf(const Value& item) {
  if (item.isTensor()) return item.tensor().dtype();
  if (item.as<bool>()) return DType::Bool;
  if (item.asSymInt()) return DType::Int64;
  if (const auto* number = item.as<SymNumber>()) return number->kind == SymKind::Bool ? DType::Bool : DType::Float32;
  return DType::Float32;
}

DType wider(DType a, DType b) {
  const auto rank = [](DType dtype) { return isComplex(dtype) ? 3 : isFloating(dtype) ? 2 : dtype != DType::Bool; };
  return rank(b) > rank(a) ? b : a;
}

Result<void> collect(const PythonCall& call, const Value& data, std::size_t depth, Nested& nested) {
  if (!data.isList()) {
    if (!isNumber(data) && !data.isTensor())
      return fail(ErrorCode::BadInput, "{}: expects numbers in lists", call.name);
    if (depth != nested.sizes.size()) return fail(ErrorCode::BadInput, "{}: lists of several depths", call.name);
    nested.plain = nested.plain && !data.isTensor() && !data.as<SymNumber>();
    nested.dtype = nested.items.empty() ? dtypeOf(data) : wider(nested.dtype, dtypeOf(data));
    nested.items.push_back(data);
    return {};
  }
  const auto length = SymInt(std::int64_t(data.list().size()));
  if (depth == nested.sizes.size() && nested.items.empty()) nested.sizes.push_back(length);
  if (depth >= nested.sizes.size() || nested.sizes[depth] != length)
    return fail(ErrorCode::BadInput, "{}: lists of several lengths", call.name);
  for (const Value& item : data.list()) KERF_CHECK(collect(call, item, depth + 1, nested));
  return {};
}

Result<Tensor> plainTensor(const Nested& nested) {
  const bool whole = nested.dtype == DType::Int64 || nested.dtype == DType::Bool;
  Sizes sizes;
  for (const SymInt& size : nested.sizes) sizes.push_back(size);
  KERF_TRY(Tensor made, Tensor::zeros(whole ? DType::Int64 : DType::Float64, sizes));
  for (std::size_t i = 0; i < nested.items.size(); ++i) {
    const Value& item = nested.items[i];
    const std::int64_t integer = item.as<bool>()           ? *item.as<bool>()
                                 : item.as<std::int64_t>() ? *item.as<std::int64_t>()
                                                           : 0;
    if (whole)
      made.data<std::int64_t>()[i] = integer;
    else
      made.data<double>()[i] = item.as<double>() ? *item.as<double>() : double(integer);
  }
  return made;
}

/// Symbols and tensors: each a tensor without dimensions, then stacked.
Result<Value> stacked(const PythonCall& call, const Nested& nested, DType dtype) {
  ValueList items;
  for (const Value& item : nested.items) {
    Value one = item;
    if (item.isTensor() && item.tensor().dim() != 0) {
      KERF_TRY(one, call.aten("reshape.default", {item, intList(SymSizes{})}));
    }
    KERF_TRY(one, item.isTensor() ? call.aten("_to_copy.default", {one}, {{"dtype", Value(dtype)}})
                                  : call.aten("scalar_tensor.default", {item}, {{"dtype", Value(dtype)}}));
    items.push_back(std::move(one));
  }
  if (nested.sizes.empty()) return items[0];
  KERF_TRY(const Value row, call.aten("stack.default", {Value(std::move(items))}));
  return nested.sizes.size() == 1 ? Result<Value>(row) : call.aten("reshape.default", {row, intList(nested.sizes)});
}

Result<Value> fromData(const PythonCall& call, const Value& data, std::optional<DType> wanted) {
  if (data.isTensor()) {  // a copy of it
    KERF_TRY(const Value plain, call.aten("detach.default", {data}));
    if (!wanted || *wanted == data.tensor().dtype()) return call.aten("clone.default", {plain});
    return call.aten("_to_copy.default", {plain}, {{"dtype", Value(*wanted)}});
  }
  Nested nested;
  KERF_CHECK(collect(call, data, 0, nested));
  if (nested.items.empty() && !wanted) nested.dtype = DType::Float32;
  const DType dtype = wanted.value_or(nested.dtype);
  if (!nested.plain) return stacked(call, nested, dtype);
  KERF_TRY(const Tensor exact, plainTensor(nested));
  KERF_TRY(Tensor made, exact.to(dtype));
  return call.aten("lift_fresh_copy.default", {Value(std::move(made))});
}

std::optional<DType> wantedDtype(const PythonCall& call) {
  const Value given = call.get(1, "dtype");
  return given.as<DType>() ? std::optional(*given.as<DType>()) : std::nullopt;
}

Result<Value> newTensor(const PythonCall& call) {
  std::optional<DType> dtype = wantedDtype(call);
  if (call.name == "new_tensor" && !dtype) {
    KERF_TRY(const Tensor self, call.tensor(SIZE_MAX, "self"));
    dtype = self.dtype();
  }
  return fromData(call, call.get(0, "data"), dtype);
}

Result<Value> asTensor(const PythonCall& call) {
  const Value data = call.get(0, "data").isNone() ? call.get(0, "obj") : call.get(0, "data");
  const std::optional<DType> dtype = wantedDtype(call);
  if (const Value copy = call.get(SIZE_MAX, "copy"); !data.isTensor() && copy.as<bool>() && !*copy.as<bool>())
    return fail(ErrorCode::BadInput, "{}: with copy=False the data must be a tensor", call.name);
  if (!data.isTensor()) return fromData(call, data, dtype);
  if (!dtype || *dtype == data.tensor().dtype()) return data;
  return call.aten("_to_copy.default", {data}, {{"dtype", Value(*dtype)}});
}

constexpr PythonRow rows[] = {
    {"torch.tensor", newTensor},
    {"Tensor.new_tensor", newTensor},
    {"torch.as_tensor", asTensor},
    {"torch.asarray", asTensor},
};

}  // namespace

PythonRows constructorRows() { return rows; }

}  // namespace kerf::inline ops
