// What Python's operators are on tensors, also with a number on one side, as torch.Tensor's methods have it.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// The ATen op for two tensors, for a number at the right, and for one at the left: there the sides are exchanged where
/// the method is the tensor's.
struct TensorOperator {
  std::string_view name;
  std::string_view tensors, numberRight, numberLeft;
  bool exchanges = false;
};
constexpr TensorOperator tensorOperators[] = {
    {"add", "add.Tensor", "add.Tensor", "add.Tensor", true},
    {"sub", "sub.Tensor", "sub.Tensor", "rsub.Scalar", true},
    {"mul", "mul.Tensor", "mul.Tensor", "mul.Tensor", true},
    {"floordiv", "floor_divide.default", "floor_divide.default", "floor_divide.default"},
    {"mod", "remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor"},
    {"truediv", "div.Tensor", "div.Tensor", ""},
    {"pow", "pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar"},
    {"eq", "eq.Tensor", "eq.Scalar", "eq.Scalar", true},
    {"ne", "ne.Tensor", "ne.Scalar", "ne.Scalar", true},
    {"lt", "lt.Tensor", "lt.Scalar", "gt.Scalar", true},
    {"le", "le.Tensor", "le.Scalar", "ge.Scalar", true},
    {"gt", "gt.Tensor", "gt.Scalar", "lt.Scalar", true},
    {"ge", "ge.Tensor", "ge.Scalar", "le.Scalar", true},
    {"and_", "bitwise_and.Tensor", "bitwise_and.Scalar", "bitwise_and.Scalar", true},
    {"or_", "bitwise_or.Tensor", "bitwise_or.Scalar", "bitwise_or.Scalar", true},
    {"xor", "bitwise_xor.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Scalar", true},
    {"lshift", "__lshift__.Tensor", "__lshift__.Scalar", "bitwise_left_shift.Scalar_Tensor"},
    {"rshift", "__rshift__.Tensor", "__rshift__.Scalar", "bitwise_right_shift.Scalar_Tensor"},
    {"sym_max", "maximum.default", "maximum.default", "maximum.default"},
    {"sym_min", "minimum.default", "minimum.default", "minimum.default"},
};

constexpr std::string_view mark = "operator.tensor.";

/// x == None, x != "text", x == [1]: a tensor equals nothing of another kind.
std::optional<bool> comparedWithOther(std::string_view name, const ValueList& args) {
  if (name != "eq" && name != "ne") return {};
  const auto isOther = [](const Value& value) { return value.isNone() || value.isList() || value.as<std::string>(); };
  if (!isOther(args[0]) && !isOther(args[1])) return {};
  return name == "ne";
}

}  // namespace

std::string tensorOperator(std::string_view target) {
  if (target == "operator.neg") return "torch.ops.aten.neg.default";
  if (target == "builtins.abs") return "torch.ops.aten.abs.default";
  for (const std::string_view module : {"operator.", "torch."}) {
    if (!target.starts_with(module)) continue;
    const std::string_view name = target.substr(module.size());
    if (name.starts_with("sym_") != (module == "torch.")) continue;
    if (std::ranges::find(tensorOperators, name, &TensorOperator::name) != std::end(tensorOperators))
      return fmt::format("{}{}", mark, name);
  }
  return {};
}

std::optional<Result<Value>> callTensorOperator(std::string_view target, const ValueList& args, const OpCaller& ops) {
  if (!target.starts_with(mark)) return {};
  const auto* row = std::ranges::find(tensorOperators, target.substr(mark.size()), &TensorOperator::name);
  if (row == std::end(tensorOperators) || args.size() != 2)
    return fail(ErrorCode::BadInput, "{} takes two operands", target.substr(mark.size()));
  if (const auto equal = comparedWithOther(row->name, args)) return Value(*equal);
  const ValueList kept;
  const PythonCall call{row->name, kept, {}, ops};
  if (isNumber(args[1])) return call.aten(row->numberRight, args);
  if (!isNumber(args[0])) return call.aten(row->tensors, args);
  if (row->exchanges) return call.aten(row->numberLeft, {args[1], args[0]});
  if (!row->numberLeft.empty()) return call.aten(row->numberLeft, args);
  auto inverse = call.aten("reciprocal.default", {args[1]});  // Tensor.__rtruediv__
  if (!inverse) return inverse;
  return call.aten("mul.Tensor", {*inverse, args[0]});
}

}  // namespace kerf::inline ops
