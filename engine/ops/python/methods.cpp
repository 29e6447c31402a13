// Tensor methods whose arguments ATen does not know in that form: conversions, sizes, layouts.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/type_promotion.h"
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
  for (const std::string_view key : {"dtype", "tensor", "other"}) {
    const Value given = call.get(SIZE_MAX, key);
    if (const auto* named = given.as<DType>()) dtype = *named;
    if (given.isTensor()) dtype = given.tensor().dtype();
    if (given.as<bool>() != nullptr) dtype = DType::Bool;  // x.to(True): the parser takes numbers for tensors
    if (given.as<double>() != nullptr) dtype = DType::Float64;
    if (given.as<std::int64_t>() != nullptr) dtype = DType::Int64;
  }
  const Value device = call.get(SIZE_MAX, "device");  // of an int the parser makes a device, unless it is negative
  if (const auto* index = device.as<std::int64_t>(); index != nullptr && *index < 0) dtype = DType::Int64;
  const Value named = call.get(SIZE_MAX, "memory_format");
  const MemoryFormat format = named.as<MemoryFormat>() ? *named.as<MemoryFormat>() : MemoryFormat::Preserve;
  const bool copy = call.flag(SIZE_MAX, "copy", false);
  if (dtype == self.dtype() && !copy && format == MemoryFormat::Preserve) return Value(self);
  KeywordValues keywords{{"dtype", Value(dtype)}};
  if (format != MemoryFormat::Preserve) keywords.emplace_back("memory_format", Value(format));
  return call.aten("_to_copy.default", {Value(self)}, keywords);
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
  if (!dim->asSymInt()) return fail(ErrorCode::BadInput, "{}: the dimension must be an int", call.name);
  std::int64_t index = call.integer(1, "dim", 0);
  if (index < 0) index += self.dim();
  if (index < 0 || index >= self.dim())
    return fail(ErrorCode::ShapeMismatch, "{}: there is no dimension {}", call.name, call.integer(1, "dim", 0));
  return Value(values[std::size_t(index)]);
}

/// sum_to_size(*size): the gradient of expand(). What the size lacks in front is summed away.
Result<Value> sumToSize(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const Value given = call.get(1, "size");
  SymSizes size;
  if (given.isList())
    for (const Value& item : given.list()) size.push_back(item.asSymInt().value_or(-1));
  const SymSizes& own = self.symSizes();
  if (size.empty()) return own.empty() ? Value(self) : call.aten("sum.default", {Value(self)});
  const auto refused = [&] {
    return fail(ErrorCode::ShapeMismatch, "size {{[{}]}} is not expandable to size {{[{}]}}.", fmt::join(size, ", "),
                fmt::join(own, ", "));
  };
  if (size.size() > own.size()) return refused();
  const std::size_t leading = own.size() - size.size();
  ValueList dims;
  for (std::size_t d = 0; d < own.size(); ++d) {
    const bool isKept = d >= leading && guardOrFalse(size[d - leading] == own[d]);
    if (d >= leading && !isKept && !guardOrFalse(size[d - leading] == 1)) return refused();
    if (!isKept) dims.emplace_back(std::int64_t(d));
  }
  Value summed(self);
  if (!dims.empty()) {
    KERF_TRY(summed, call.aten("sum.dim_IntList", {Value(self), Value(std::move(dims)), Value(true)}));
  }
  return leading > 0 ? call.aten("view.default", {summed, intList(size)}) : summed;
}

/// Whether each element has no imaginary part.
Result<Value> isReal(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "input"));
  if (!isComplex(self.dtype())) return call.aten("ones_like.default", {Value(self)}, {{"dtype", Value(DType::Bool)}});
  KERF_TRY(const Value imaginary, call.aten("imag.default", {Value(self)}));
  return call.aten("eq.Scalar", {imaginary, Value(std::int64_t{0})});
}

Result<Value> unsafeChunk(const PythonCall& call) {
  return call.aten("chunk.default", {call.get(0, "input"), call.get(1, "chunks"), call.get(2, "dim")});
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
  const std::int64_t rank = std::max<std::int64_t>(self.dim(), 1);
  if (start < 0 || start >= rank || end < 0 || end >= rank || start > end)
    return fail(ErrorCode::ShapeMismatch, "flatten: dimensions {} to {} of {}", start, end, self.dim());
  if (self.dim() == 0) return call.aten("reshape.default", {Value(self), intList({1})});
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

/// x.type(dtype)
Result<Value> typed(const PythonCall& call) {
  const Value given = call.get(1, "dtype");
  if (const DType* dtype = given.as<DType>()) return converted(call, call.get(0, "self"), *dtype);
  return fail(ErrorCode::UnsupportedOp, "type: only a dtype is supported");
}

Result<Value> isFloatingPoint(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  return Value(isFloating(self.dtype()));
}
Result<Value> isComplexTensor(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  return Value(isComplex(self.dtype()));
}
Result<Value> elementSize(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  return Value(itemSize(self.dtype()));
}

/// Writes a result into self, which has its dtype, or one that keeps its kind.
Result<Value> writtenInto(const PythonCall& call, const Value& result, bool sameDtype) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const DType made = result.tensor().dtype();
  if (sameDtype ? made != self.dtype() : !canCast(made, self.dtype()))
    return fail(ErrorCode::ShapeMismatch, "{}: the result has the dtype {}, which self, a tensor of {}, cannot hold",
                call.name, dtypeInfo(made).torchName, dtypeInfo(self.dtype()).torchName);
  return call.aten("copy_.default", {Value(self), result});
}

Result<Value> floatPowerInto(const PythonCall& call) {
  const Value exponent = call.get(1, "exponent");
  const std::string_view form = exponent.isTensor() ? "float_power.Tensor_Tensor" : "float_power.Tensor_Scalar";
  KERF_TRY(const Value power, call.aten(form, {call.get(0, "self"), exponent}));
  return writtenInto(call, power, true);
}

Result<Value> polygammaInto(const PythonCall& call) {
  KERF_TRY(const Value result, call.aten("polygamma.default", {call.get(1, "n"), call.get(0, "self")}));
  return writtenInto(call, result, false);
}

constexpr PythonRow tensorMethodRowsTable[] = {
    {"Tensor.float_power_", floatPowerInto},
    {"Tensor.polygamma_", polygammaInto},
    {"Tensor.sum_to_size", sumToSize},
    {"torch.isreal", isReal},
    {"Tensor.isreal", isReal},
    {"torch.unsafe_chunk", unsafeChunk},
    {"Tensor.unsafe_chunk", unsafeChunk},
    {"Tensor.type", typed},
    {"is_floating_point", isFloatingPoint},
    {"is_complex", isComplexTensor},
    {"element_size", elementSize},
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
