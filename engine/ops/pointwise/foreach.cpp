// The _foreach_ family: one op on every tensor of a list.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

/// Argument `i` for the k-th call: lists of tensors or numbers give their k-th entry, the rest stays.
Result<Value> entryOf(const BoundArguments& args, std::size_t i, std::size_t k, std::size_t count) {
  const Value& value = args.values[i];
  if (!value.isList()) return value;
  if (value.list().size() != count)
    return mismatch(args, "argument '{}' has {} entries, expected {}", args.op->schema.arguments[i].name,
                    value.list().size(), count);
  return value.list()[k];
}

/// The list whose entries count: the first argument, or the second of pow(2, exponents).
const Value& leadingList(const BoundArguments& args) {
  return args.values.size() > 1 && !args.values[0].isList() ? args.values[1] : args.values[0];
}

/// Runs the base op once per entry of the first list.
Result<Value> eachEntry(const BoundArguments& args, const OpRunner& run) {
  const OpInfo* base = findOp(args.op->base);
  if (!base) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", args.opName());
  if (args.values.empty() || !leadingList(args).isList()) return mismatch(args, "expects a list of tensors first");
  const std::size_t count = leadingList(args).list().size();
  if (count == 0) return mismatch(args, "the list of tensors is empty");
  ValueList results;
  for (std::size_t k = 0; k < count; ++k) {
    ValueList positional;
    KeywordValues keywords;
    for (std::size_t i = 0; i < args.values.size(); ++i) {
      KERF_TRY(Value entry, entryOf(args, i, k, count));
      const std::string& name = args.op->schema.arguments[i].name;
      if (i < base->schema.arguments.size() && !base->schema.arguments[i].keywordOnly)
        positional.push_back(std::move(entry));
      else
        keywords.emplace_back(name, std::move(entry));
    }
    KERF_TRY(Value result, run.value(args.op->base, positional, keywords));
    results.push_back(std::move(result));
  }
  return Value(std::move(results));
}

/// The functional form, its results copied into the first list.
Result<Value> eachInplace(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value results, eachEntry(args, run));
  for (std::size_t k = 0; k < results.list().size(); ++k) {
    const Tensor &from = results.list()[k].tensor(), &to = args.values[0].list()[k].tensor();
    if (!checkEqual(from.symSizes(), to.symSizes()))
      return mismatch(args, "result {} of shape [{}] does not fit its tensor of shape [{}]", k,
                      fmt::join(from.symSizes(), ", "), fmt::join(to.symSizes(), ", "));
    KERF_CHECK(run("aten.copy_.default"_op, {to, from}));
  }
  return Value(ValueList{});
}

/// The vector norm of each tensor.
Result<Value> eachNorm(const BoundArguments& args, const OpRunner& run) {
  if (!args.values[0].isList()) return mismatch(args, "expects a list of tensors first");
  ValueList norms;
  for (const Value& tensor : args.values[0].list()) {
    KERF_TRY(Value norm, run.value("aten.linalg_vector_norm.default"_op,
                                   {tensor, args.values[1], Value(), Value(false)}, {{"dtype", args.values[2]}}));
    norms.push_back(std::move(norm));
  }
  return Value(std::move(norms));
}

constexpr OpRow each(const char* schema, const char* base) {
  return compositeRow(eachEntry, schema, OpTrait::None, base);
}
constexpr OpRow eachInto(const char* schema, const char* base) {
  return compositeRow(eachInplace, schema, OpTrait::Inplace | OpTrait::Impure, base);
}

#define KERF_EACH_UNARY(name)                                                          \
  each("aten::_foreach_" name "(Tensor[] self) -> Tensor[]", "aten." name ".default"), \
      eachInto("aten::_foreach_" name "_(Tensor(a!)[] self) -> ()", "aten." name ".default")
#define KERF_EACH_BINARY(name, scalarBase, tensorBase)                                                                \
  each("aten::_foreach_" name ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", "aten." scalarBase),               \
      each("aten::_foreach_" name ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", "aten." scalarBase),    \
      each("aten::_foreach_" name ".List(Tensor[] self, Tensor[] other) -> Tensor[]", "aten." tensorBase),            \
      eachInto("aten::_foreach_" name "_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", "aten." scalarBase),        \
      eachInto("aten::_foreach_" name "_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()", "aten." scalarBase), \
      eachInto("aten::_foreach_" name "_.List(Tensor(a!)[] self, Tensor[] other) -> ()", "aten." tensorBase)
#define KERF_EACH_SCALED(name)                                                                                         \
  each("aten::_foreach_" name ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", "aten." name ".Scalar"),            \
      each("aten::_foreach_" name ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", "aten." name ".Scalar"), \
      each("aten::_foreach_" name ".List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",               \
           "aten." name ".Tensor"),                                                                                    \
      eachInto("aten::_foreach_" name "_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", "aten." name ".Scalar"),     \
      eachInto("aten::_foreach_" name "_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",                       \
               "aten." name ".Scalar"),                                                                                \
      eachInto("aten::_foreach_" name "_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",            \
               "aten." name ".Tensor")
#define KERF_EACH_TERNARY(name)                                                                \
  each("aten::_foreach_" name                                                                  \
       ".Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> "        \
       "Tensor[]",                                                                             \
       "aten." name ".default"),                                                               \
      each("aten::_foreach_" name                                                              \
           ".ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] value) "   \
           "-> Tensor[]",                                                                      \
           "aten." name ".default"),                                                           \
      eachInto("aten::_foreach_" name                                                          \
               "_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar "       \
               "value=1) -> ()",                                                               \
               "aten." name ".default"),                                                       \
      eachInto("aten::_foreach_" name                                                          \
               "_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] " \
               "value) -> ()",                                                                 \
               "aten." name ".default")

/// One tensor, 0-d, for all.
#define KERF_EACH_BY_TENSOR(name, more)                                                                            \
  each("aten::_foreach_" name ".Tensor(Tensor[] self, Tensor other" more ") -> Tensor[]", "aten." name ".Tensor"), \
      eachInto("aten::_foreach_" name "_.Tensor(Tensor(a!)[] self, Tensor other" more ") -> ()",                   \
               "aten." name ".Tensor")

constexpr OpRow foreachRows[] = {
    KERF_EACH_SCALED("add"),
    KERF_EACH_SCALED("sub"),
    KERF_EACH_BINARY("mul", "mul.Scalar", "mul.Tensor"),
    KERF_EACH_BINARY("div", "div.Scalar", "div.Tensor"),
    KERF_EACH_BINARY("pow", "pow.Tensor_Scalar", "pow.Tensor_Tensor"),
    KERF_EACH_BINARY("maximum", "clamp_min.default", "maximum.default"),
    KERF_EACH_BINARY("minimum", "clamp_max.default", "minimum.default"),
    KERF_EACH_BINARY("clamp_min", "clamp_min.default", "maximum.default"),
    KERF_EACH_BINARY("clamp_max", "clamp_max.default", "minimum.default"),
    KERF_EACH_TERNARY("addcmul"),
    KERF_EACH_TERNARY("addcdiv"),
    KERF_EACH_UNARY("abs"),
    KERF_EACH_UNARY("acos"),
    KERF_EACH_UNARY("asin"),
    KERF_EACH_UNARY("atan"),
    KERF_EACH_UNARY("ceil"),
    KERF_EACH_UNARY("cos"),
    KERF_EACH_UNARY("cosh"),
    KERF_EACH_UNARY("erf"),
    KERF_EACH_UNARY("erfc"),
    KERF_EACH_UNARY("exp"),
    KERF_EACH_UNARY("expm1"),
    KERF_EACH_UNARY("floor"),
    KERF_EACH_UNARY("frac"),
    KERF_EACH_UNARY("lgamma"),
    KERF_EACH_UNARY("log"),
    KERF_EACH_UNARY("log10"),
    KERF_EACH_UNARY("log1p"),
    KERF_EACH_UNARY("log2"),
    KERF_EACH_UNARY("neg"),
    KERF_EACH_UNARY("reciprocal"),
    KERF_EACH_UNARY("round"),
    KERF_EACH_UNARY("rsqrt"),
    KERF_EACH_UNARY("sigmoid"),
    KERF_EACH_UNARY("sign"),
    KERF_EACH_UNARY("sin"),
    KERF_EACH_UNARY("sinh"),
    KERF_EACH_UNARY("sqrt"),
    KERF_EACH_UNARY("tan"),
    KERF_EACH_UNARY("tanh"),
    KERF_EACH_UNARY("trunc"),
    KERF_EACH_BY_TENSOR("add", ", *, Scalar alpha=1"),
    KERF_EACH_BY_TENSOR("mul", ""),
    KERF_EACH_BY_TENSOR("div", ""),
    each("aten::_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", "aten.pow.Scalar"),
    compositeRow(eachNorm,
                 "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]"),
    each("aten::_foreach_max(Tensor[] self) -> Tensor[]", "aten.max.default"),
    eachInto("aten::_foreach_zero_(Tensor(a!)[] self) -> ()", "aten.zeros_like.default"),
    eachInto("aten::_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
             "aten.copy.default"),
    each("aten::_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[]", "aten.copy.default"),
    each("aten::_foreach_zero(Tensor[] self) -> Tensor[]", "aten.zeros_like.default"),
    each("aten::_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]",
         "aten.lerp.Scalar"),
    each("aten::_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]",
         "aten.lerp.Tensor"),
    each("aten::_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]", "aten.lerp.Scalar"),
    eachInto("aten::_foreach_lerp_.ScalarList(Tensor(a!)[] self, Tensor[] tensors1, Scalar[] weight) -> ()",
             "aten.lerp.Scalar"),
    eachInto("aten::_foreach_lerp_.List(Tensor(a!)[] self, Tensor[] tensors1, Tensor[] weights) -> ()",
             "aten.lerp.Tensor"),
    eachInto("aten::_foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ()",
             "aten.lerp.Scalar"),
};

const OpRegistration foreachOps({.rows = foreachRows});

}  // namespace

}  // namespace kerf::inline ops
