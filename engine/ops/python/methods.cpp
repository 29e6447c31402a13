// Tensor methods whose arguments ATen does not know in that form: conversions, sizes, layouts.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

Result<Value> converted(const PythonCall& call, const Value& input, DType dtype) {
  if (input.isTensor() && input.tensor().dtype() == dtype) return input;
  return call.aten("_to_copy.default", {input}, {{"dtype", Value(dtype)}});
}

/// x.to(dtype), x.to(device), x.to(device, dtype), x.to(other); devices change nothing here.
Result<Value> to(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  DType dtype = self.dtype();
  MemoryFormat format = MemoryFormat::Preserve;
  bool copy = false;
  const auto read = [&](const Value& value) {
    if (const auto* given = value.as<DType>()) dtype = *given;
    if (const auto* given = value.as<MemoryFormat>()) format = *given;
    if (value.isTensor()) dtype = value.tensor().dtype();
  };
  for (std::size_t i = 1; i < call.args.size(); ++i) read(call.args[i]);
  for (const auto& [key, value] : call.kwargs) {
    read(value);
    if (key == "copy") copy = value.as<bool>() && *value.as<bool>();
  }
  if (dtype == self.dtype() && !copy && format == MemoryFormat::Preserve) return Value(self);
  return call.aten("_to_copy.default", {Value(self)}, {{"dtype", Value(dtype)}, {"memory_format", Value(format)}});
}

struct DtypeMethod {
  std::string_view name;
  DType dtype;
};
constexpr DtypeMethod dtypeMethods[] = {
    {"float", DType::Float32}, {"double", DType::Float64}, {"half", DType::Float16}, {"bfloat16", DType::BFloat16},
    {"long", DType::Int64},    {"int", DType::Int32},      {"short", DType::Int16},  {"char", DType::Int8},
    {"byte", DType::UInt8},    {"bool", DType::Bool},
};

Result<Value> toNamed(const PythonCall& call) {
  return converted(call, call.get(0, "self"), std::ranges::find(dtypeMethods, call.name, &DtypeMethod::name)->dtype);
}

Result<Value> typeAs(const PythonCall& call) {
  KERF_TRY(const Tensor other, call.tensor(1, "other"));
  return converted(call, call.get(0, "self"), other.dtype());
}

/// size(), size(dim), stride(), stride(dim)
Result<Value> sizeOrStride(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const SymSizes& values = call.name == "size" ? self.symSizes() : self.symStrides();
  const Value* dim = call.find(1, "dim");
  if (dim == nullptr || dim->isNone()) return intList(values);
  std::int64_t index = call.integer(1, "dim", 0);
  if (index < 0) index += self.dim();
  if (index < 0 || index >= self.dim())
    return fail(ErrorCode::ShapeMismatch, "{}: there is no dimension {}", call.name, call.integer(1, "dim", 0));
  return Value(values[std::size_t(index)]);
}

Result<Value> dimCount(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  return Value(self.dim());
}
Result<Value> elementCount(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  if (self.isSymbolic()) return Value(self.symNumel());
  KERF_TRY(const std::int64_t count, checkedNumel(self.sizes()));
  return Value(count);
}

/// getattr(x, "shape"), "dtype", "device", "T", "grad"
Result<Value> attribute(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const Value* named = call.find(1, "name");
  const std::string* name = named ? named->as<std::string>() : nullptr;
  if (name == nullptr) return fail(ErrorCode::ShapeMismatch, "getattr: the name must be a str");
  if (*name == "shape") return intList(self.symSizes());
  if (*name == "dtype") return Value(self.dtype());
  if (*name == "device") return Value(self.device());
  if (*name == "ndim") return Value(self.dim());
  if (*name == "requires_grad") return Value(self.requiresGrad);
  if (*name == "T" || *name == "mT")
    return call.aten("transpose.int", {Value(self), Value(std::int64_t{-2}), Value(std::int64_t{-1})});
  return fail(ErrorCode::UnsupportedOp, "getattr: the attribute '{}' is not supported", *name);
}

/// contiguous(memory_format)
Result<Value> contiguous(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const Value format = call.get(1, "memory_format", Value(MemoryFormat::Contiguous));
  const bool plain = format.as<MemoryFormat>() && *format.as<MemoryFormat>() == MemoryFormat::Contiguous;
  if (plain && self.isContiguous()) return Value(self);
  return call.aten("clone.default", {Value(self)}, {{"memory_format", format}});
}

Result<Value> flatten(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const auto wrapped = [&](std::int64_t dim) { return dim < 0 ? dim + std::max<std::int64_t>(self.dim(), 1) : dim; };
  const std::int64_t start = wrapped(call.integer(1, "start_dim", 0)), end = wrapped(call.integer(2, "end_dim", -1));
  if (self.dim() == 0) return call.aten("reshape.default", {Value(self), intList({1})});
  if (start < 0 || end >= self.dim() || start > end)
    return fail(ErrorCode::ShapeMismatch, "flatten: dimensions {} to {} of {}", start, end, self.dim());
  const SymSizes& own = self.symSizes();
  SymSizes sizes(own.begin(), own.begin() + start);
  SymInt joined = 1;
  for (std::int64_t i = start; i <= end; ++i) joined *= self.symSize(i);
  sizes.push_back(joined);
  sizes.append(own.begin() + end + 1, own.end());
  return call.aten("reshape.default", {Value(self), intList(sizes)});
}

/// What is on the CPU already, needs no gradient, or is read only for its values.
Result<Value> itself(const PythonCall& call) { return call.get(0, "self"); }
Result<Value> nothing(const PythonCall&) { return Value(); }

Result<Value> detached(const PythonCall& call) { return call.aten("detach.default", {call.get(0, "self")}); }

Result<Value> expandAs(const PythonCall& call) {
  KERF_TRY(const Tensor other, call.tensor(1, "other"));
  const std::string_view op = call.name == "expand_as" ? "expand.default" : "reshape.default";
  return call.aten(op, {call.get(0, "self"), intList(other.symSizes())});
}

constexpr PythonRow tensorMethodRowsTable[] = {
    {"to", to},
    {"float", toNamed},
    {"double", toNamed},
    {"half", toNamed},
    {"bfloat16", toNamed},
    {"long", toNamed},
    {"int", toNamed},
    {"short", toNamed},
    {"char", toNamed},
    {"byte", toNamed},
    {"bool", toNamed},
    {"type_as", typeAs},
    {"size", sizeOrStride},
    {"stride", sizeOrStride},
    {"dim", dimCount},
    {"ndimension", dimCount},
    {"numel", elementCount},
    {"nelement", elementCount},
    {"getattr", attribute},
    {"contiguous", contiguous},
    {"flatten", flatten},
    {"cpu", itself},
    {"cuda", itself},
    {"requires_grad_", itself},
    {"share_memory_", itself},
    {"detach", detached},
    {"expand_as", expandAs},
    {"view_as", expandAs},
    {"reshape_as", expandAs},
    {"backward", nothing},
};

}  // namespace

PythonRows tensorMethodRows() { return tensorMethodRowsTable; }

}  // namespace kerf::inline ops
