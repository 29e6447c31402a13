// getattr(x, name) of tensors, and methods that are written with two underscores.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// All dimensions in reverse; PyTorch calls it deprecated where there are not two.
Result<Value> reversed(const PythonCall& call, const Tensor& self) {
  ValueList dims;
  for (std::int64_t dim = self.dim(); dim-- > 0;) dims.emplace_back(dim);
  if (dims.size() < 2) return Value(self);
  return call.aten("permute.default", {Value(self), Value(std::move(dims))});
}

Result<Value> adjoint(const PythonCall& call, const Tensor& self) {
  if (self.dim() == 1) return fail(ErrorCode::ShapeMismatch, "getattr: a tensor of one dimension has no adjoint");
  return call.aten("adjoint.default", {Value(self)});
}

Result<Value> transposed(const PythonCall& call, const Tensor& self) {
  if (self.dim() == 0) return Value(self);
  if (self.dim() < 2) return fail(ErrorCode::ShapeMismatch, "getattr: mT needs two dimensions");
  return call.aten("transpose.int", {Value(self), Value(std::int64_t{-2}), Value(std::int64_t{-1})});
}

Result<Value> hermitian(const PythonCall& call, const Tensor& self) {
  if (self.dim() != 0 && self.dim() != 2) return fail(ErrorCode::ShapeMismatch, "getattr: H is of matrices");
  return adjoint(call, self);
}

Result<Value> realPart(const PythonCall& call, const Tensor& self) {
  return isComplex(self.dtype()) ? call.aten("real.default", {Value(self)}) : Result<Value>(Value(self));
}

Result<Value> detached(const PythonCall& call, const Tensor& self) {
  return call.aten("detach.default", {Value(self)});
}
Result<Value> imaginaryPart(const PythonCall& call, const Tensor& self) {
  return call.aten("imag.default", {Value(self)});
}
Result<Value> shape(const PythonCall&, const Tensor& self) { return intList(self.symSizes()); }
Result<Value> dtype(const PythonCall&, const Tensor& self) { return Value(self.dtype()); }
Result<Value> device(const PythonCall&, const Tensor& self) { return Value(self.device()); }
Result<Value> rank(const PythonCall&, const Tensor& self) { return Value(self.dim()); }
Result<Value> requiresGrad(const PythonCall&, const Tensor& self) { return Value(self.requiresGrad); }
Result<Value> layout(const PythonCall&, const Tensor&) { return Value(Layout::Strided); }
Result<Value> itemSize(const PythonCall&, const Tensor& self) { return Value(kerf::itemSize(self.dtype())); }
Result<Value> byteCount(const PythonCall&, const Tensor& self) {
  return Value(self.symNumel() * SymInt(kerf::itemSize(self.dtype())));
}
/// None of what needs none; of other tensors a run of a graph does not know it.
Result<Value> noGradient(const PythonCall&, const Tensor& self) {
  if (!self.requiresGrad) return Value();
  return fail(ErrorCode::UnsupportedOp, "getattr: grad of a tensor that needs one is not supported");
}
/// None for each dimension.
Result<Value> dimensionNames(const PythonCall&, const Tensor& self) {
  return Value(ValueList(std::size_t(self.dim())));
}
Result<Value> no(const PythonCall&, const Tensor&) { return Value(false); }
/// Inputs of a graph are leaves, and so is what needs no gradient.
Result<Value> isLeaf(const PythonCall&, const Tensor& self) {
  if (!self.requiresGrad) return Value(true);
  return fail(ErrorCode::UnsupportedOp, "getattr: is_leaf of a tensor with a gradient is not supported");
}
Result<Value> isCuda(const PythonCall&, const Tensor& self) { return Value(self.device().type == "cuda"); }
Result<Value> isCpu(const PythonCall&, const Tensor& self) { return Value(self.device().type == "cpu"); }

struct AttributeRow {
  std::string_view name;
  Result<Value> (*read)(const PythonCall&, const Tensor&);
};
constexpr AttributeRow attributes[] = {
    {"shape", shape},      {"dtype", dtype},        {"device", device},        {"ndim", rank},
    {"T", reversed},       {"mT", transposed},      {"H", hermitian},          {"mH", adjoint},
    {"real", realPart},    {"imag", imaginaryPart}, {"data", detached},        {"requires_grad", requiresGrad},
    {"layout", layout},    {"itemsize", itemSize},  {"is_sparse", no},         {"is_quantized", no},
    {"is_leaf", isLeaf},   {"is_cuda", isCuda},     {"is_cpu", isCpu},         {"is_nested", no},
    {"nbytes", byteCount}, {"grad", noGradient},    {"names", dimensionNames},
};

/// Fields of the tuples that ops return, by position.
struct Field {
  std::string_view name;
  std::size_t position;
};
constexpr Field fields[] = {
    {"values", 0}, {"indices", 1},   {"min", 0},      {"max", 1},       {"eigenvalues", 0}, {"eigenvectors", 1},
    {"U", 0},      {"S", 1},         {"Vh", 2},       {"V", 2},         {"Q", 0},           {"R", 1},
    {"sign", 0},   {"logabsdet", 1}, {"mantissa", 0}, {"exponent", 1},  {"solution", 0},    {"L", 0},
    {"LU", 0},     {"pivots", 1},    {"hist", 0},     {"bin_edges", 1},
};

Result<Value> attribute(const PythonCall& call) {
  const Value* given = call.find(1, "name");
  const std::string* name = given ? given->as<std::string>() : nullptr;
  if (name == nullptr) return fail(ErrorCode::ShapeMismatch, "getattr: the name must be a str");
  const Value self = call.get(0, "self");
  if (self.isList()) {
    const auto* field = std::ranges::find(fields, *name, &Field::name);
    if (field != std::end(fields) && field->position < self.list().size()) return self.list()[field->position];
  }
  KERF_TRY(const Tensor tensor, call.tensor(0, "self"));
  const auto* row = std::ranges::find(attributes, *name, &AttributeRow::name);
  if (row != std::end(attributes)) return row->read(call, tensor);
  return fail(ErrorCode::UnsupportedOp, "getattr: the attribute '{}' is not supported", *name);
}

/// Methods with two underscores as operators; `swaps` where self is the right side.
struct Dunder {
  std::string_view name;
  std::string_view op;
  bool swaps = false;
};
constexpr Dunder dunders[] = {
    {"__add__", "operator.add"},
    {"__radd__", "method.add"},
    {"__sub__", "operator.sub"},
    {"__rsub__", "operator.sub", true},
    {"__mul__", "operator.mul"},
    {"__rmul__", "method.mul"},
    {"__truediv__", "operator.truediv"},
    {"__rtruediv__", "operator.truediv", true},
    {"__div__", "operator.truediv"},
    {"__rdiv__", "operator.truediv", true},
    {"__floordiv__", "operator.floordiv"},
    {"__rfloordiv__", "operator.floordiv", true},
    {"__mod__", "operator.mod"},
    {"__rmod__", "operator.mod", true},
    {"__pow__", "operator.pow"},
    {"__rpow__", "operator.pow", true},
    {"__matmul__", "operator.matmul"},
    {"__rmatmul__", "operator.matmul", true},
    {"__eq__", "operator.eq"},
    {"__ne__", "operator.ne"},
    {"__lt__", "operator.lt"},
    {"__le__", "operator.le"},
    {"__gt__", "operator.gt"},
    {"__ge__", "operator.ge"},
    {"__and__", "operator.and_"},
    {"__or__", "operator.or_"},
    {"__xor__", "operator.xor"},
    {"__rand__", "operator.and_", true},
    {"__ror__", "operator.or_", true},
    {"__rxor__", "operator.xor", true},
    {"__lshift__", "operator.lshift"},
    {"__rshift__", "operator.rshift"},
    {"__rlshift__", "operator.lshift", true},
    {"__rrshift__", "operator.rshift", true},
    {"__neg__", "operator.neg"},
    {"__invert__", "operator.invert"},
    {"__abs__", "operator.abs"},
    {"__pos__", "operator.pos"},
    {"__getitem__", "operator.getitem"},
    {"__setitem__", "operator.setitem"},
    {"__iadd__", "operator.iadd"},
    {"__isub__", "operator.isub"},
    {"__imul__", "operator.imul"},
    {"__itruediv__", "operator.itruediv"},
    {"__ifloordiv__", "operator.ifloordiv"},
    {"__imod__", "operator.imod"},
    {"__ipow__", "operator.ipow"},
    {"__iand__", "operator.iand"},
    {"__ior__", "operator.ior"},
    {"__ixor__", "operator.ixor"},
};

}  // namespace

std::optional<Result<Value>> callDunder(std::string_view name, const ValueList& args, const OpCaller& ops) {
  const auto* row = std::ranges::find(dunders, name, &Dunder::name);
  if (row == std::end(dunders)) return {};
  ValueList operands = args;
  if (row->swaps && operands.size() == 2) std::swap(operands[0], operands[1]);
  return ops.call(row->op, operands, {});
}

Result<Value> getAttribute(const PythonCall& call) { return attribute(call); }

Result<Value> lengthOf(const Value& value) {
  if (value.isList()) return Value(std::int64_t(value.list().size()));
  if (!value.isTensor()) return fail(ErrorCode::ShapeMismatch, "len: expects a list or a tensor");
  if (value.tensor().dim() == 0) return fail(ErrorCode::ShapeMismatch, "len() of a 0-d tensor");
  return Value(value.tensor().symSize(0));
}

}  // namespace kerf::inline ops
