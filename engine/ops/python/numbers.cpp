// Python's own functions in graphs: operator.*, sizes of tensors, and symbolic arithmetic on plain numbers.
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/symbolic_numbers.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/python/python_level.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

double asDouble(const Value& value) {
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* integer = value.as<std::int64_t>()) return double(*integer);
  return value.as<bool>() && *value.as<bool>() ? 1.0 : 0.0;
}
std::int64_t asInt(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  return value.as<bool>() && *value.as<bool>() ? 1 : 0;
}

Result<Value> itemOfList(const BoundArguments& args) {
  if (!args.values[0].isList()) return mismatch(args, "only lists can be indexed here");
  const auto given = args.values[1].asSymInt();
  if (!given) return mismatch(args, "the index must be an int");
  const ValueList& items = args.values[0].list();
  const auto size = std::int64_t(items.size());
  const std::int64_t index = *given;  // of a list, so its value is needed
  if (index < -size || index >= size) return mismatch(args, "index {} is out of range for {} items", index, size);
  return items[std::size_t(index < 0 ? index + size : index)];
}

/// Tensors are indexed as in Python, by the ops of `ops`.
Result<Value> getItemBy(const BoundArguments& args, const OpCaller& ops) {
  const bool tensors = args.values[0].isTensor() || args.values[1].isTensor();
  return tensors ? callPythonLevel("operator.getitem", args.values, {}, ops) : itemOfList(args);
}
Result<Value> getItem(const BoundArguments& args) { return getItemBy(args, referenceOps()); }
Result<Value> getItemShape(const BoundArguments& args) { return getItemBy(args, shapeOps()); }

/// An operator on two numbers: ints stay ints where both are. On tensors it is what tensor_operators.cpp says.
struct NumberOperator {
  std::string_view name;
  Result<Value> (*integers)(std::int64_t, std::int64_t);
  double (*doubles)(double, double);
  bool truth = false;  ///< result is a bool
};

/// Python's integers have no end; what does not fit 64 bits is an error, never another number.
template <class Operation>
Result<Value> checkedResult(std::int64_t a, std::int64_t b, Operation overflows) {
  std::int64_t result = 0;
  if (overflows(a, b, &result))
    return fail(ErrorCode::RuntimeFailed, "the result of {} and {} does not fit into 64 bits", a, b);
  return Value(result);
}
Result<Value> checkedAdd(std::int64_t a, std::int64_t b) {
  return checkedResult(a, b, [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); });
}
Result<Value> checkedSub(std::int64_t a, std::int64_t b) {
  return checkedResult(a, b, [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); });
}
Result<Value> checkedMul(std::int64_t a, std::int64_t b) {
  return checkedResult(a, b, [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); });
}

std::unexpected<Error> divisionByZero() { return fail(ErrorCode::RuntimeFailed, "division by zero"); }

Result<Value> integerPower(std::int64_t a, std::int64_t b) {
  if (b < 0) return Value(std::pow(double(a), double(b)));
  Value result(std::int64_t{1});
  for (; b > 0 && (a < 0 || a > 1); --b) {
    if (a == -1) return Value(std::int64_t{b % 2 == 0 ? 1 : -1});
    KERF_TRY(result, checkedMul(*result.as<std::int64_t>(), a));
  }
  return a == 0 && b > 0 ? Value(std::int64_t{0}) : result;
}

using Int = std::int64_t;
constexpr NumberOperator operators[] = {
    {"operator.add", checkedAdd, [](double a, double b) { return a + b; }},
    {"operator.sub", checkedSub, [](double a, double b) { return a - b; }},
    {"operator.mul", checkedMul, [](double a, double b) { return a * b; }},
    {"operator.floordiv",
     [](Int a, Int b) -> Result<Value> {
       if (b == 0) return divisionByZero();
       return Value(element::floorDivide(a, b));
     },
     [](double a, double b) { return element::floorDivide(a, b); }},
    {"operator.mod",
     [](Int a, Int b) -> Result<Value> {
       if (b == 0) return divisionByZero();
       return Value(element::floorRemainder(a, b));
     },
     [](double a, double b) { return element::floorRemainder(a, b); }},
    {"operator.truediv",
     [](Int a, Int b) -> Result<Value> {
       if (b == 0) return divisionByZero();
       return Value(double(a) / double(b));
     },
     [](double a, double b) { return a / b; }},
    {"operator.pow", integerPower, [](double a, double b) { return std::pow(a, b); }},
    {"operator.eq", [](Int a, Int b) -> Result<Value> { return Value(a == b); },
     [](double a, double b) { return double(a == b); }, true},
    {"operator.ne", [](Int a, Int b) -> Result<Value> { return Value(a != b); },
     [](double a, double b) { return double(a != b); }, true},
    {"operator.lt", [](Int a, Int b) -> Result<Value> { return Value(a < b); },
     [](double a, double b) { return double(a < b); }, true},
    {"operator.le", [](Int a, Int b) -> Result<Value> { return Value(a <= b); },
     [](double a, double b) { return double(a <= b); }, true},
    {"operator.gt", [](Int a, Int b) -> Result<Value> { return Value(a > b); },
     [](double a, double b) { return double(a > b); }, true},
    {"operator.ge", [](Int a, Int b) -> Result<Value> { return Value(a >= b); },
     [](double a, double b) { return double(a >= b); }, true},
    {"operator.and_", [](Int a, Int b) -> Result<Value> { return Value(a & b); }, nullptr},
    {"operator.or_", [](Int a, Int b) -> Result<Value> { return Value(a | b); }, nullptr},
    {"torch.sym_max", [](Int a, Int b) -> Result<Value> { return Value(std::max(a, b)); },
     [](double a, double b) { return std::max(a, b); }},
    {"torch.sym_min", [](Int a, Int b) -> Result<Value> { return Value(std::min(a, b)); },
     [](double a, double b) { return std::min(a, b); }},
};

const NumberOperator* operatorOf(const BoundArguments& args) {
  const std::string name = args.opName();
  for (const NumberOperator& candidate : operators)
    if (candidate.name == name) return &candidate;
  return nullptr;
}

Result<Value> onNumbers(const BoundArguments& args, const NumberOperator& op) {
  const Value& a = args.values[0];
  const Value& b = args.values[1];
  if (!isNumber(a) || !isNumber(b)) return mismatch(args, "expects numbers or tensors");
  if (!a.as<double>() && !b.as<double>()) return op.integers(asInt(a), asInt(b));
  if (!op.doubles) return mismatch(args, "expects integers");
  if (asDouble(b) == 0 &&
      (op.name == "operator.truediv" || op.name == "operator.floordiv" || op.name == "operator.mod"))
    return divisionByZero();
  const double result = op.doubles(asDouble(a), asDouble(b));
  return op.truth ? Value(result != 0) : Value(result);
}

/// Lists as Python has them: joined, or repeated. None for other operands.
std::optional<Value> onLists(const NumberOperator& op, const Value& a, const Value& b) {
  if (op.name == "operator.add" && a.isList() && b.isList()) {
    ValueList items = a.list();
    items.insert(items.end(), b.list().begin(), b.list().end());
    return Value(std::move(items));
  }
  if (op.name != "operator.mul" || a.isList() == b.isList()) return {};
  const auto times = (a.isList() ? b : a).asSymInt();
  if (!times) return {};
  const std::int64_t count = *times;
  ValueList items;
  for (std::int64_t i = 0; i < count; ++i) {
    const ValueList& once = (a.isList() ? a : b).list();
    if (items.size() > 1'000'000) return {};
    items.insert(items.end(), once.begin(), once.end());
  }
  return Value(std::move(items));
}

Result<Value> binaryKernel(const BoundArguments& args) {
  const NumberOperator& op = *operatorOf(args);
  if (auto joined = onLists(op, args.values[0], args.values[1])) return std::move(*joined);
  if (args.values[0].isTensor() || args.values[1].isTensor())
    return callPythonLevel(tensorOperator(op.name), args.values, {}, referenceOps());
  return onNumbers(args, op);
}
/// Numbers as `rule` has them, symbolic ones as expressions.
template <ShapeRule rule>
Result<Value> orSymbolic(const BoundArguments& args) {
  if (ShapeEnv::current() != nullptr && holdsSymbolic(args.values))
    if (auto result = callOnSymbols(args.opName(), args.values, {})) return std::move(*result);
  return rule(args);
}

Result<Value> binaryShape(const BoundArguments& args) {
  const NumberOperator& op = *operatorOf(args);
  if (auto joined = onLists(op, args.values[0], args.values[1])) return std::move(*joined);
  if (args.values[0].isTensor() || args.values[1].isTensor())
    return callPythonLevel(tensorOperator(op.name), args.values, {}, shapeOps());
  return onNumbers(args, op);
}

Result<Value> negKernel(const BoundArguments& args) {
  if (args.values[0].isTensor()) return callOp("aten.neg.default"_op, args.values);
  if (const auto* number = args.values[0].as<double>()) return Value(-*number);
  return Value(element::neg(asInt(args.values[0])));
}
Result<Value> negShape(const BoundArguments& args) {
  if (args.values[0].isTensor()) return inferShapes("aten.neg.default"_op, args.values, {});
  return negKernel(args);
}
Result<Value> notKernel(const BoundArguments& args) {
  if (!isNumber(args.values[0])) return mismatch(args, "expects a number");
  return Value(asDouble(args.values[0]) == 0);
}
Result<Value> symFloat(const BoundArguments& args) { return Value(asDouble(args.values[0])); }
Result<Value> symInt(const BoundArguments& args) {
  const double value = std::trunc(asDouble(args.values[0]));
  if (!(std::abs(value) < 9e18)) return mismatch(args, "{} is no 64-bit integer", value);
  return Value(args.values[0].as<double>() ? std::int64_t(value) : asInt(args.values[0]));
}
Result<Value> symSqrt(const BoundArguments& args) { return Value(std::sqrt(asDouble(args.values[0]))); }

// Sizes of tensors as numbers

Result<Value> symSize(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  if (args.tensor(0).dim() == 0) return mismatch(args, "the tensor has no dimensions");
  return Value(args.tensor(0).symSize(dim));
}
Result<Value> symStride(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  if (args.tensor(0).dim() == 0) return mismatch(args, "the tensor has no dimensions");
  return Value(args.tensor(0).symStride(dim));
}
Result<Value> symNumel(const BoundArguments& args) {
  if (args.tensor(0).isSymbolic()) return Value(args.tensor(0).symNumel());
  KERF_TRY(const std::int64_t numel, checkedNumel(args.tensor(0).sizes()));
  return Value(numel);
}
Result<Value> symOffset(const BoundArguments& args) { return Value(args.tensor(0).symOffset()); }

// Values of tensors, and asserts

Result<Value> itemKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.numel() != 1) return mismatch(args, "expects one element, got {}", self.numel());
  if (self.dtype() == DType::Bool) return Value(self.itemAsInt() != 0);
  if (isIntegral(self.dtype())) return Value(self.itemAsInt());
  return Value(self.itemAsDouble());
}
/// A symbol that floats of tensors become: "zuf0", "zuf1".
SymNumber unknownFloat(ShapeEnv& env) {
  int number = 0;
  while (env.findSymbol(fmt::format("zuf{}", number)) != nullptr) ++number;
  return {env.addSymbol({.name = fmt::format("zuf{}", number), .source = std::string(env.asker())}), SymKind::Float};
}

/// A symbol of 0 and 1 that is 1.
Result<Value> unknownBool(ShapeEnv& env) {
  const SymInt flag = env.addUnbacked({0, 1});
  KERF_TRY(const Symbolic truth, Symbolic::call("Eq", {env.expression(flag), Symbolic::integer(1)}));
  return Value(SymNumber{env.intern(truth), SymKind::Bool});
}

/// A number that only running the graph gives.
Result<Value> itemShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr || isComplex(self.dtype()))
    return fail(ErrorCode::UnsupportedOp, "{}: the result depends on values", args.opName());
  if (!guardOrTrue(self.symNumel() == 1)) return mismatch(args, "expects one element, got {}", self.symNumel());
  if (self.dtype() == DType::Bool) return unknownBool(*env);
  return isIntegral(self.dtype()) ? Value(env->addUnbacked({})) : Value(unknownFloat(*env));
}
Result<Value> noneShape(const BoundArguments&) { return Value(); }

Result<Value> assertMetadata(const BoundArguments& args) {
  const Tensor& a = args.tensor(0);
  if (!args.none(1) && args.symSizes(1) != a.symSizes()) return mismatch(args, "tensor sizes mismatch");
  if (!args.none(2) && args.symSizes(2) != a.symStrides()) return mismatch(args, "tensor strides mismatch");
  if (args.dtypeIf(3) && *args.dtypeIf(3) != a.dtype())
    return mismatch(args, "tensor dtype mismatch: expected {}, got {}", dtypeInfo(*args.dtypeIf(3)).torchName,
                    dtypeInfo(a.dtype()).torchName);
  return Value();
}

Result<Value> assertTrue(const BoundArguments& args) {
  const Value& condition = args.values[0];
  bool holds = isNumber(condition) && asDouble(condition) != 0;
  if (condition.isTensor()) holds = condition.tensor().numel() == 1 && condition.tensor().itemAsDouble() != 0;
  if (holds) return Value();
  return fail(ErrorCode::RuntimeFailed, "{}: {}", args.opName(), args.text(1));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpTrait impure = OpTrait::Impure;
constexpr OpRow binary(const char* schema) { return {schema, none, orSymbolic<binaryShape>, binaryKernel}; }

constexpr OpRow pythonRows[] = {
    {"operator::getitem(Any self, Any index) -> Any", none, getItemShape, getItem},
    binary("operator::add(Any a, Any b) -> Any"),
    binary("operator::sub(Any a, Any b) -> Any"),
    binary("operator::mul(Any a, Any b) -> Any"),
    binary("operator::floordiv(Any a, Any b) -> Any"),
    binary("operator::mod(Any a, Any b) -> Any"),
    binary("operator::truediv(Any a, Any b) -> Any"),
    binary("operator::pow(Any a, Any b) -> Any"),
    binary("operator::eq(Any a, Any b) -> Any"),
    binary("operator::ne(Any a, Any b) -> Any"),
    binary("operator::lt(Any a, Any b) -> Any"),
    binary("operator::le(Any a, Any b) -> Any"),
    binary("operator::gt(Any a, Any b) -> Any"),
    binary("operator::ge(Any a, Any b) -> Any"),
    binary("operator::and_(Any a, Any b) -> Any"),
    binary("operator::or_(Any a, Any b) -> Any"),
    binary("torch::sym_max(Any a, Any b) -> Any"),
    binary("torch::sym_min(Any a, Any b) -> Any"),
    {"operator::neg(Any a) -> Any", none, orSymbolic<negShape>, negKernel},
    {"operator::not_(Any a) -> Any", none, orSymbolic<notKernel>, notKernel},
    {"torch::sym_not(Any a) -> Any", none, orSymbolic<notKernel>, notKernel},
    {"torch::sym_float(Any a) -> Any", none, orSymbolic<symFloat>, symFloat},
    {"torch::sym_int(Any a) -> Any", none, orSymbolic<symInt>, symInt},
    {"torch::_sym_sqrt(Any a) -> Any", none, orSymbolic<symSqrt>, symSqrt},
    {"math::trunc(Any a) -> Any", none, orSymbolic<symInt>, symInt},
    {"aten::sym_size.int(Tensor self, int dim) -> SymInt", none, symSize, symSize},
    {"aten::sym_stride.int(Tensor self, int dim) -> SymInt", none, symStride, symStride},
    {"aten::sym_numel(Tensor self) -> SymInt", none, symNumel, symNumel},
    {"aten::sym_storage_offset(Tensor self) -> SymInt", none, symOffset, symOffset},
    {"aten::_local_scalar_dense(Tensor self) -> Scalar", OpTrait::DataDependent, itemShape, itemKernel},
    {"aten::item(Tensor self) -> Scalar", OpTrait::DataDependent, itemShape, itemKernel},
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
     "Device? device=None, Layout? layout=None) -> ()",
     impure, assertMetadata, assertMetadata},
    {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", impure, noneShape, assertTrue},
    {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()", impure, noneShape, assertTrue},
};

}  // namespace

const OpRegistration pythonOps({.rows = pythonRows});

}  // namespace kerf::inline ops
