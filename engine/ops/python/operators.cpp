// operator.* on tensors as Dynamo writes it: x[...], x[...] = y, matmul, and in-place arithmetic.
#include <algorithm>
#include <array>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

bool isEllipsis(const Value& value) { return value.as<std::string>() && *value.as<std::string>() == "..."; }

/// {"slice", start, stop, step}, as slices arrive.
bool isSlice(const Value& value) {
  return value.isList() && value.list().size() == 4 && value.list()[0].as<std::string>() &&
         *value.list()[0].as<std::string>() == "slice";
}

/// A bool tensor without dimensions.
bool isOneFlag(const Value& item) {
  return item.isTensor() && item.tensor().dtype() == DType::Bool && item.tensor().dim() == 0;
}

/// An int or slice takes one dimension, a bool mask as many as it has, None and `...` none.
std::int64_t dimensionsTaken(const Value& item) {
  if (item.isNone() || isEllipsis(item) || item.as<bool>()) return 0;
  if (item.isTensor() && item.tensor().dtype() == DType::Bool) return item.tensor().dim();
  return 1;
}

/// A list of numbers, as in x[[1, 2]]: the tensor of them indexes.
bool isNumberList(const Value& value) {
  return value.isList() && !isSlice(value) && !value.list().empty() &&
         std::ranges::all_of(value.list(), [](const Value& item) { return item.asSymInt() || item.as<bool>(); });
}

/// Lists in lists, of numbers alone.
bool isNestedNumbers(const Value& value) {
  if (isNumberList(value)) return true;
  return value.isList() && !isSlice(value) && !value.list().empty() &&
         std::ranges::all_of(value.list(), isNestedNumbers);
}

/// Index items in order, with `...` replaced by full slices.
Result<ValueList> itemsOf(const PythonCall& call, const Tensor& self, const Value& index) {
  const bool single = !index.isList() || isSlice(index);
  ValueList given = single ? ValueList{index} : index.list();
  for (Value& item : given) {
    if (item.isList() && item.list().empty()) {
      KERF_TRY(const Tensor nothing, Tensor::zeros(DType::Int64, {0}));
      KERF_TRY(item, call.aten("lift_fresh_copy.default", {Value(nothing)}));
    }
    if (!isNestedNumbers(item)) continue;
    KERF_TRY(item, callPythonLevel("torch.tensor", {item}, {}, call.ops));
  }
  for (Value& item : given) {
    if (!isSlice(item)) continue;
    ValueList bounds = item.list();
    for (Value& bound : bounds)
      if (bound.isTensor()) {
        KERF_TRY(bound, call.aten("item.default", {bound}));
      }
    item = Value(std::move(bounds));
  }
  std::int64_t taken = 0;
  for (const Value& item : given) taken += dimensionsTaken(item);
  if (taken > self.dim())
    return fail(ErrorCode::ShapeMismatch, "{}: {} indices for {} dimensions", call.name, taken, self.dim());
  ValueList items;
  bool open = true;
  for (const Value& item : given) {
    if (!isEllipsis(item)) {
      items.push_back(item);
      continue;
    }
    if (!open) return fail(ErrorCode::ShapeMismatch, "{}: more than one '...'", call.name);
    open = false;
    const Value all(ValueList{Value(std::string("slice")), Value(), Value(), Value()});
    items.insert(items.end(), std::size_t(self.dim() - taken), all);
  }
  return items;
}

/// The view that ints, slices and None make, and what tensors still index in it.
struct Picked {
  Tensor view;
  ValueList tensors;  ///< per dimension of the view; none where nothing indexes it
  bool indexed = false;
};

bool isNumberOrNone(const Value& value, std::int64_t number) {
  return value.isNone() || (value.as<std::int64_t>() != nullptr && *value.as<std::int64_t>() == number);
}

/// `:` takes everything, for which PyTorch calls nothing.
Result<Value> sliced(const PythonCall& call, const Tensor& self, std::int64_t dim, const ValueList& slice) {
  const bool plainStep = isNumberOrNone(slice[3], 1);
  if (isNumberOrNone(slice[1], 0) && slice[2].isNone() && plainStep) return Value(self);
  ValueList args{Value(self), Value(dim), slice[1], slice[2]};
  if (!plainStep) args.push_back(slice[3]);
  return call.aten("slice.Tensor", args);
}

Result<Picked> pick(const PythonCall& call, const Tensor& self, const Value& index) {
  KERF_TRY(const ValueList items, itemsOf(call, self, index));
  Picked picked{self, {}, false};
  std::int64_t dim = 0;
  for (const Value& item : items) {
    Value view;
    if (const bool* taken = item.as<bool>()) {  // a new dimension, of one or of nothing
      KERF_TRY(picked.view, call.atenTensor("unsqueeze.default", {Value(picked.view), Value(dim)}));
      KERF_TRY(const Tensor places, Tensor::zeros(DType::Int64, {*taken ? 1 : 0}));
      KERF_TRY(Value index, call.aten("lift_fresh_copy.default", {Value(places)}));
      picked.tensors.push_back(std::move(index));
      picked.indexed = true;
      ++dim;
      continue;
    }
    if (item.asSymInt()) {
      KERF_TRY(picked.view, call.atenTensor("select.int", {Value(picked.view), Value(dim), item}));
      continue;
    }
    if (isOneFlag(item)) {  // as True or False: a mask of the new dimension
      KERF_TRY(picked.view, call.atenTensor("unsqueeze.default", {Value(picked.view), Value(dim)}));
      KERF_TRY(Value mask, call.aten("unsqueeze.default", {item, Value(std::int64_t{0})}));
      picked.tensors.push_back(std::move(mask));
      picked.indexed = true;
      ++dim;
      continue;
    }
    if (item.isNone()) {
      KERF_TRY(picked.view, call.atenTensor("unsqueeze.default", {Value(picked.view), Value(dim)}));
    } else if (isSlice(item)) {
      KERF_TRY(view, sliced(call, picked.view, dim, item.list()));
      picked.view = view.tensor();
    } else if (!item.isTensor()) {
      return fail(ErrorCode::UnsupportedOp, "{}: this kind of index is not supported", call.name);
    }
    picked.indexed = picked.indexed || item.isTensor();
    picked.tensors.push_back(item.isTensor() ? item : Value());
    dim += std::max<std::int64_t>(item.isTensor() ? dimensionsTaken(item) : 1, 1);
  }
  return picked;
}

Result<Value> getItem(const PythonCall& call) {
  if (call.args.size() == 2 && call.args[0].isList() && call.args[1].isTensor()) {  // a list at a tensor's value
    KERF_TRY(const Value index, call.aten("item.default", {call.args[1]}));
    return call.ops.call("operator.getitem", {call.args[0], index}, {});
  }
  KERF_TRY(const Tensor self, call.tensor(0, "a"));
  return indexTensor(call, self, call.get(1, "b"));
}

/// As PyTorch writes values to places that tensors name: without dimensions of one in front.
Result<Value> withoutOnesInFront(const PythonCall& call, const Value& value) {
  const SymSizes& own = value.tensor().symSizes();
  const auto* const first = std::ranges::find_if(own, [](SymInt size) { return !guardOrFalse(size == 1); });
  if (first == own.begin()) return value;
  return call.aten("view.default", {value, intList(SymSizes(first, own.end()))});
}

/// x[0] = values of shape [1, 3]: dimensions of one in front of those that the place has are taken away.
Result<Value> withoutLeadingOnes(const PythonCall& call, const Value& value, const Tensor& place) {
  const SymSizes& own = value.tensor().symSizes();
  const auto extra = std::int64_t(own.size()) - place.dim();
  if (extra <= 0) return value;
  for (std::int64_t i = 0; i < extra; ++i)
    if (value.tensor().symSize(i) != 1)
      return fail(ErrorCode::ShapeMismatch, "{}: the value has more dimensions than its place", call.name);
  return call.aten("view.default", {value, intList(SymSizes(own.begin() + extra, own.end()))});
}

/// Where one mask alone chooses, one value of another dtype is converted (masked_fill); elsewhere the dtypes must agree.
bool fillsMask(const Picked& picked) {
  std::size_t masks = 0;
  for (const Value& item : picked.tensors) {
    if (item.isNone()) continue;
    const bool isNumber = item.isTensor() && item.tensor().dim() == 0 && isIntegral(item.tensor().dtype()) &&
                          item.tensor().dtype() != DType::Bool && item.tensor().dtype() != DType::UInt8;
    if (isNumber) continue;  // the place that it names
    const bool isMask =
        item.isTensor() && (item.tensor().dtype() == DType::Bool || item.tensor().dtype() == DType::UInt8);
    if (!isMask || ++masks > 1) return false;
  }
  return true;
}

/// x[True] = values is a copy into all of x, which converts.
bool convertsValue(const Value& index, const Picked& picked, const Tensor& value) {
  if (index.as<bool>() != nullptr) return true;
  return guardOrFalse(value.symNumel() == 1) && fillsMask(picked);
}

Result<Value> setItem(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "a"));
  KERF_TRY(const Picked picked, pick(call, self, call.get(1, "b")));
  const Value value = call.get(2, "c");
  if (picked.indexed) {
    Value source = value;
    if (!source.isTensor()) {
      KERF_TRY(source, call.aten("scalar_tensor.default", {value}, {{"dtype", Value(self.dtype())}}));
    } else if (source.tensor().dtype() != self.dtype() && convertsValue(call.get(1, "b"), picked, source.tensor())) {
      KERF_TRY(source, call.aten("_to_copy.default", {source}, {{"dtype", Value(self.dtype())}}));
    }
    KERF_TRY(source, withoutOnesInFront(call, source));
    return call.aten("index_put_.default", {Value(picked.view), Value(picked.tensors), source});
  }
  if (value.isTensor()) {
    KERF_TRY(const Value fitting, withoutLeadingOnes(call, value, picked.view));
    return call.aten("copy_.default", {Value(picked.view), fitting});
  }
  return call.aten("fill_.Scalar", {Value(picked.view), value});
}

struct TensorOperator {
  std::string_view name;
  std::string_view aten;
};
/// In-place forms write into the left tensor; on numbers they are the plain operators.
constexpr TensorOperator inplaceOperators[] = {
    {"iadd", "add"},
    {"isub", "sub"},
    {"imul", "mul"},
    {"itruediv", "div"},
    {"ifloordiv", "floor_divide"},
    {"imod", "remainder"},
    {"ipow", "pow"},
    {"iand", "bitwise_and"},
    {"ior", "bitwise_or"},
    {"ixor", "bitwise_xor"},
};

Result<Value> inplace(const PythonCall& call) {
  const auto& entry = *std::ranges::find(inplaceOperators, call.name, &TensorOperator::name);
  if (call.args.empty()) return fail(ErrorCode::ShapeMismatch, "{}: two operands are needed", call.name);
  if (!call.args[0].isTensor())
    return call.ops.call(fmt::format("operator.{}", call.name.substr(1)), call.args, call.kwargs);
  return callPythonLevel(fmt::format("method.{}_", entry.aten), call.args, call.kwargs, call.ops);
}

constexpr TensorOperator plainOperators[] = {
    {"matmul", "matmul"}, {"invert", "bitwise_not"}, {"inv", "bitwise_not"}, {"abs", "abs"},
    {"pos", "positive"},  {"imatmul", "matmul"},  // torch.Tensor has no __imatmul__: Python writes a = a @ b
};

Result<Value> plain(const PythonCall& call) {
  const auto& entry = *std::ranges::find(plainOperators, call.name, &TensorOperator::name);
  if (call.name == "pos" && call.get(0, "a").isTensor() && call.get(0, "a").tensor().dtype() == DType::Bool)
    return fail(ErrorCode::ShapeMismatch, "operator.pos: the + of a bool tensor is not defined");
  if (call.name == "pos") return call.get(0, "a");
  return callPythonLevel(fmt::format("method.{}", entry.aten), call.args, call.kwargs, call.ops);
}

constexpr PythonRow pythonOperatorRowsTable[] = {
    {"getitem", getItem},  {"setitem", setItem},   {"iadd", inplace},  {"isub", inplace}, {"imul", inplace},
    {"itruediv", inplace}, {"ifloordiv", inplace}, {"imod", inplace},  {"ipow", inplace}, {"iand", inplace},
    {"ior", inplace},      {"ixor", inplace},      {"matmul", plain},  {"invert", plain}, {"inv", plain},
    {"abs", plain},        {"pos", plain},         {"imatmul", plain},
};

}  // namespace

Result<Value> indexTensor(const PythonCall& call, const Tensor& self, const Value& index) {
  KERF_TRY(const Picked picked, pick(call, self, index));
  if (!picked.indexed) return Value(picked.view);
  return call.aten("index.Tensor", {Value(picked.view), Value(picked.tensors)});
}

PythonRows pythonOperatorRows() { return pythonOperatorRowsTable; }

}  // namespace kerf::inline ops
