#include "engine/ops/core/symbolic_numbers.h"

#include <algorithm>

#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

using Operands = std::vector<Symbolic>;

struct SymbolicOperator {
  std::string_view target;
  std::string_view function;       ///< of Symbolic::call; operands in the same order
  std::string_view onFloats = {};  ///< where an operand is a float
};
constexpr SymbolicOperator operators[] = {
    {"operator.add", "Add"},
    {"operator.mul", "Mul"},
    {"operator.floordiv", "FloorDiv"},
    {"operator.mod", "PythonMod"},
    {"operator.pow", "PowByNatural", "FloatPow"},
    {"operator.truediv", "IntTrueDiv", "FloatTrueDiv"},
    {"operator.lshift", "LShift"},
    {"operator.rshift", "RShift"},
    {"operator.and_", "BitwiseAnd"},
    {"operator.or_", "BitwiseOr"},
    {"operator.xor", "BitwiseXor"},
    {"operator.not_", "Not"},
    {"operator.abs", "Abs"},
    {"operator.eq", "Eq"},
    {"operator.ne", "Ne"},
    {"operator.lt", "Lt"},
    {"operator.le", "Le"},
    {"operator.gt", "Gt"},
    {"operator.ge", "Ge"},
    {"torch.sym_max", "Max"},
    {"torch.sym_min", "Min"},
    {"torch.sym_not", "Not"},
    {"torch.sym_ite", "Where"},
    {"torch.sym_float", "ToFloat"},
    {"torch.sym_int", "TruncToInt"},
    {"torch._sym_sqrt", "OpaqueUnaryFn_sqrt"},
    {"math.floor", "FloorToInt"},
    {"math.ceil", "CeilToInt"},
    {"math.trunc", "TruncToInt"},
    {"math.sqrt", "OpaqueUnaryFn_sqrt"},
    {"math.exp", "OpaqueUnaryFn_exp"},
    {"math.log", "OpaqueUnaryFn_log"},
    {"math.log2", "OpaqueUnaryFn_log2"},
    {"math.sin", "OpaqueUnaryFn_sin"},
    {"math.cos", "OpaqueUnaryFn_cos"},
    {"math.tanh", "OpaqueUnaryFn_tanh"},
    {"math.pow", "FloatPow"},
    {"builtins.round", "RoundToInt"},
    {"builtins.abs", "Abs"},
    {"builtins.max", "Max"},
    {"builtins.min", "Min"},
};

std::optional<Symbolic> expressionOf(const Value& value) {
  if (const auto* symbolic = value.as<SymNumber>()) {
    ShapeEnv& env = *ShapeEnv::current();
    return env.expression(env.resolved(symbolic->value));
  }
  if (const auto* number = value.as<std::int64_t>()) return Symbolic::integer(*number);
  if (const auto* real = value.as<double>()) return Symbolic::real(*real);
  if (const auto* flag = value.as<bool>()) return Symbolic::boolean(*flag);
  return {};
}

std::optional<Operands> operandsOf(const ValueList& args) {
  Operands operands;
  for (const Value& value : args) {
    auto expression = expressionOf(value);
    if (!expression) return {};
    operands.push_back(std::move(*expression));
  }
  return operands;
}

Result<Value> valueOf(const Symbolic& expression) {
  if (expression.symbols().empty()) {
    KERF_TRY(const SymbolicNumber number, expression.evaluate());
    return std::visit([](auto held) { return Value(held); }, number);
  }
  return Value(SymNumber{ShapeEnv::current()->intern(expression), kindOf(expression)});
}

Result<Value> computed(std::string_view target, const Operands& operands) {
  if (target == "operator.sub" && operands.size() == 2) return valueOf(operands[0] - operands[1]);
  if (target == "operator.neg" && operands.size() == 1) return valueOf(Symbolic::integer(-1) * operands[0]);
  if (target == "torch.sym_sum") return valueOf(Symbolic::add(operands));
  const bool divides = target == "operator.floordiv" || target == "operator.mod";
  const bool whole = std::ranges::all_of(operands, [](const Symbolic& item) { return kindOf(item) == SymKind::Int; });
  if (divides && whole && operands.size() == 2) {  // with the ranges: Mod where no sign matters, no zero
    ShapeEnv& env = *ShapeEnv::current();
    const SymOp op = target == "operator.mod" ? SymOp::Mod : SymOp::FloorDiv;
    return valueOf(env.expression(env.result(op, env.intern(operands[0]), env.intern(operands[1]))));
  }
  const auto entry = std::ranges::find(operators, target, &SymbolicOperator::target);
  const bool real = std::ranges::any_of(operands, [](const Symbolic& item) { return kindOf(item) == SymKind::Float; });
  KERF_TRY(const Symbolic result,
           Symbolic::call(real && !entry->onFloats.empty() ? entry->onFloats : entry->function, operands));
  return valueOf(result);
}

bool isComputed(std::string_view target) {
  if (target == "operator.sub" || target == "operator.neg" || target == "torch.sym_sum") return true;
  return std::ranges::find(operators, target, &SymbolicOperator::target) != std::end(operators);
}

// Asserts

const Value* named(const KeywordValues& kwargs, std::string_view name) {
  for (const auto& [key, value] : kwargs)
    if (key == name) return &value;
  return nullptr;
}

Result<void> assumeBound(const Symbolic& value, const Value* bound, std::string_view relation) {
  const auto limit = bound ? expressionOf(*bound) : std::nullopt;
  if (!limit) return {};
  KERF_TRY(const Symbolic condition, Symbolic::call(relation, {value, *limit}));
  return ShapeEnv::current()->assume(condition);
}

/// sym_constrain_range(size, min, max)
Result<Value> constrain(const ValueList& args, const KeywordValues& kwargs, bool isSize) {
  const auto value = expressionOf(args[0]);
  if (!value) return Value();
  const auto argument = [&](std::size_t i, std::string_view name) {
    return args.size() > i ? &args[i] : named(kwargs, name);
  };
  const Value zero(std::int64_t{0});
  if (isSize) KERF_CHECK(assumeBound(*value, &zero, "Ge"));
  KERF_CHECK(assumeBound(*value, argument(1, "min"), "Ge"));
  KERF_CHECK(assumeBound(*value, argument(2, "max"), "Le"));
  const Value* token = args.size() > 3 ? &args[3] : named(kwargs, "dep_token");
  return token ? *token : Value();
}

/// torch._check(condition), _assert_scalar(condition, message)
Result<Value> check(const ValueList& args, bool isSize) {
  const auto value = expressionOf(args[0]);
  if (!value) return Value();
  KERF_TRY(const Symbolic condition, isSize || kindOf(*value) != SymKind::Bool
                                         ? Symbolic::call(isSize ? "Ge" : "Ne", {*value, Symbolic::integer(0)})
                                         : Result<Symbolic>(*value));
  KERF_CHECK(ShapeEnv::current()->assume(condition));
  return Value();
}

struct Assert {
  std::string_view name;
  bool isRange, isSize;
};
constexpr Assert asserts[] = {
    {"aten.sym_constrain_range.default", true, false},
    {"aten.sym_constrain_range_for_size.default", true, true},
    {"aten._functional_sym_constrain_range.default", true, false},
    {"aten._functional_sym_constrain_range_for_size.default", true, true},
    {"aten._assert_scalar.default", false, false},
    {"torch._check", false, false},
    {"torch._check_is_size", false, true},
};

}  // namespace

bool holdsSymbolic(const ValueList& values) {
  return std::ranges::any_of(values, [](const Value& value) {
    return value.as<SymNumber>() || (value.isList() && holdsSymbolic(value.list()));
  });
}

std::optional<Result<Value>> callOnSymbols(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) {
  std::string_view name = target.text;
  if (name.starts_with("torch.ops.")) name.remove_prefix(10);
  if (args.empty()) return {};
  if (const auto found = std::ranges::find(asserts, name, &Assert::name); found != std::end(asserts))
    return withoutThrowing(
        [&] { return found->isRange ? constrain(args, kwargs, found->isSize) : check(args, found->isSize); });
  if (!isComputed(name) || !kwargs.empty()) return {};
  const auto operands = operandsOf(name == "torch.sym_sum" && args[0].isList() ? args[0].list() : args);
  if (!operands) return {};
  return withoutThrowing([&] { return computed(name, *operands); });
}

}  // namespace kerf::inline ops
