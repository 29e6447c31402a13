#include "engine/ops/python/out_argument.h"

#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

/// What PyTorch asks of the dtype of out=.
enum class OutDtype : std::uint8_t {
  Castable,      ///< the result is converted where nothing of its kind is lost: most element-wise ops and reductions
  Exact,         ///< the op's own
  ExactOfReals,  ///< the op's own where its input is real (abs, whose result of complex numbers is real)
  ExactNumbers,  ///< the op's own where its bounds are numbers (clamp)
  ExactIfGiven,  ///< that of dtype=
};

struct OutRule {
  std::string_view name;  ///< last part of the function's name
  OutDtype dtype;
};

/// By name; those that end in _copy are Exact, too. What is not here is Castable.
constexpr OutRule outRules[] = {
    {"abs", OutDtype::ExactOfReals},
    {"absolute", OutDtype::ExactOfReals},
    {"addbmm", OutDtype::Exact},
    {"addmm", OutDtype::Exact},
    {"addmv", OutDtype::Exact},
    {"all", OutDtype::Exact},
    {"amax", OutDtype::Exact},
    {"amin", OutDtype::Exact},
    {"any", OutDtype::Exact},
    {"arange", OutDtype::ExactIfGiven},
    {"argmax", OutDtype::Exact},
    {"argmin", OutDtype::Exact},
    {"argsort", OutDtype::Exact},
    {"baddbmm", OutDtype::Exact},
    {"bitwise_not", OutDtype::Exact},
    {"bmm", OutDtype::Exact},
    {"bucketize", OutDtype::Exact},
    {"ceil", OutDtype::Exact},
    {"clamp", OutDtype::ExactNumbers},
    {"clamp_max", OutDtype::ExactNumbers},
    {"clamp_min", OutDtype::ExactNumbers},
    {"clip", OutDtype::ExactNumbers},
    {"complex", OutDtype::Exact},
    {"conj_physical", OutDtype::Exact},
    {"cross", OutDtype::Exact},
    {"cumprod", OutDtype::ExactIfGiven},
    {"cumsum", OutDtype::ExactIfGiven},
    {"diag", OutDtype::Exact},
    {"empty", OutDtype::ExactIfGiven},
    {"eye", OutDtype::ExactIfGiven},
    {"float_power", OutDtype::Exact},
    {"floor", OutDtype::Exact},
    {"frac", OutDtype::Exact},
    {"frobenius_norm", OutDtype::Exact},
    {"full", OutDtype::ExactIfGiven},
    {"gather", OutDtype::Exact},
    {"hardshrink", OutDtype::Exact},
    {"hash_tensor", OutDtype::Exact},
    {"heaviside", OutDtype::Exact},
    {"histc", OutDtype::Exact},
    {"index_add", OutDtype::Exact},
    {"index_copy", OutDtype::Exact},
    {"index_select", OutDtype::Exact},
    {"inner", OutDtype::Exact},
    {"inv", OutDtype::Exact},
    {"inverse", OutDtype::Exact},
    {"isin", OutDtype::Exact},
    {"isneginf", OutDtype::Exact},
    {"isposinf", OutDtype::Exact},
    {"lerp", OutDtype::Exact},
    {"linspace", OutDtype::ExactIfGiven},
    {"log_softmax", OutDtype::Exact},
    {"logcumsumexp", OutDtype::Exact},
    {"logspace", OutDtype::ExactIfGiven},
    {"masked_select", OutDtype::Exact},
    {"matmul", OutDtype::Exact},
    {"matrix_norm", OutDtype::Exact},
    {"matrix_power", OutDtype::Exact},
    {"mean", OutDtype::ExactIfGiven},
    {"mm", OutDtype::Exact},
    {"msort", OutDtype::Exact},
    {"mv", OutDtype::Exact},
    {"nan_to_num", OutDtype::Exact},
    {"nansum", OutDtype::ExactIfGiven},
    {"neg", OutDtype::Exact},
    {"negative", OutDtype::Exact},
    {"nonzero", OutDtype::Exact},
    {"nonzero_static", OutDtype::Exact},
    {"norm", OutDtype::Exact},
    {"normal", OutDtype::ExactIfGiven},
    {"nuclear_norm", OutDtype::Exact},
    {"ones", OutDtype::ExactIfGiven},
    {"polar", OutDtype::Exact},
    {"prod", OutDtype::ExactIfGiven},
    {"quantile", OutDtype::Exact},
    {"nanquantile", OutDtype::Exact},
    {"rand", OutDtype::ExactIfGiven},
    {"randint", OutDtype::ExactIfGiven},
    {"randn", OutDtype::ExactIfGiven},
    {"randperm", OutDtype::ExactIfGiven},
    {"range", OutDtype::ExactIfGiven},
    {"round", OutDtype::Exact},
    {"renorm", OutDtype::Exact},
    {"scatter", OutDtype::Exact},
    {"scatter_add", OutDtype::Exact},
    {"scatter_reduce", OutDtype::Exact},
    {"searchsorted", OutDtype::Exact},
    {"sgn", OutDtype::Exact},
    {"sign", OutDtype::Exact},
    {"signbit", OutDtype::Exact},
    {"softmax", OutDtype::Exact},
    {"softshrink", OutDtype::Exact},
    {"sum", OutDtype::ExactIfGiven},
    {"take", OutDtype::Exact},
    {"take_along_dim", OutDtype::Exact},
    {"tril", OutDtype::Exact},
    {"triu", OutDtype::Exact},
    {"trunc", OutDtype::Exact},
    {"fix", OutDtype::Exact},
    {"upsample_bicubic2d", OutDtype::Exact},
    {"upsample_bilinear2d", OutDtype::Exact},
    {"upsample_linear1d", OutDtype::Exact},
    {"upsample_nearest1d", OutDtype::Exact},
    {"upsample_nearest2d", OutDtype::Exact},
    {"upsample_nearest3d", OutDtype::Exact},
    {"upsample_trilinear3d", OutDtype::Exact},
    {"vdot", OutDtype::Exact},
    {"dot", OutDtype::Exact},
    {"vector_norm", OutDtype::Exact},
    {"where", OutDtype::Exact},
    {"zeros", OutDtype::ExactIfGiven},
};

/// Some take a tensor of bytes for one of flags.
constexpr std::string_view takeBytesForFlags[] = {"all", "any"};

std::string_view lastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

template <class Range>
bool isAmong(const Range& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

bool holdsTensorArgument(const ValueList& inputs, std::size_t from) {
  return std::any_of(inputs.begin() + std::ptrdiff_t(std::min(from, inputs.size())), inputs.end(),
                     [](const Value& value) { return value.isTensor(); });
}

bool takesComplex(const ValueList& inputs) {
  return !inputs.empty() && inputs[0].isTensor() && isComplex(inputs[0].tensor().dtype());
}

/// Whether out= must have the very dtype of the result.
bool asksForDtype(const OutCall& call, bool isOneOfSeveral) {
  const std::string_view name = lastPart(call.name);
  if (isOneOfSeveral || name.ends_with("_copy")) return true;
  const auto* const rule = std::ranges::find(outRules, name, &OutRule::name);
  if (rule == std::end(outRules)) return false;
  if (rule->dtype == OutDtype::ExactNumbers) return !holdsTensorArgument(call.inputs, 1);
  if (rule->dtype == OutDtype::ExactIfGiven) return call.choosesDtype;
  if (rule->dtype == OutDtype::ExactOfReals) return !takesComplex(call.inputs);
  return rule->dtype == OutDtype::Exact;
}

/// Whether a result cannot be kept in a tensor of the other dtype.
bool losesKind(DType from, DType to) {
  return (isComplex(from) && !isComplex(to)) || (!isIntegral(from) && isIntegral(to)) ||
         (from != DType::Bool && to == DType::Bool);
}

Result<void> checkOutDtype(const OutCall& call, DType made, DType given, bool isOneOfSeveral) {
  const bool isBytes = made == DType::Bool && given == DType::UInt8 && isAmong(takeBytesForFlags, lastPart(call.name));
  if (made != given && !isBytes && asksForDtype(call, isOneOfSeveral))
    return fail(ErrorCode::ShapeMismatch, "{}: out= must have the dtype {}, has {}", call.name,
                dtypeInfo(made).torchName, dtypeInfo(given).torchName);
  if (losesKind(made, given))
    return fail(ErrorCode::ShapeMismatch, "{}: result type {} can't be cast to the output type {}", call.name,
                dtypeInfo(made).torchName, dtypeInfo(given).torchName);
  return {};
}

Result<void> checkOne(const OutCall& call, const Value& made, const Value& into, bool isOneOfSeveral,
                      const OpCaller& ops) {
  if (!into.isTensor() || !made.isTensor())
    return fail(ErrorCode::ShapeMismatch, "{}: out= must be a tensor", call.name);
  KERF_CHECK(checkOutDtype(call, made.tensor().dtype(), into.tensor().dtype(), isOneOfSeveral));
  return checkOutMemory(call, made.tensor(), into.tensor(), ops);
}

/// One tensor of `out=`, resized where the result has other sizes.
Result<Value> writeOne(const Value& made, const Value& into, const OpCaller& ops) {
  const Tensor &to = into.tensor(), &from = made.tensor();
  Value target = into;
  if (to.dim() != from.dim() || !checkEqual(to.symSizes(), from.symSizes())) {
    KERF_TRY(target, ops.call("torch.ops.aten.resize_.default", {into, intList(from.symSizes())}, {}));
  }
  return ops.call("torch.ops.aten.copy_.default", {target, made}, {});
}

}  // namespace

bool takesDtypeOfOut(std::string_view name) {
  const auto* const rule = std::ranges::find(outRules, lastPart(name), &OutRule::name);
  return rule != std::end(outRules) && rule->dtype == OutDtype::ExactIfGiven;
}

Result<void> checkOut(const OutCall& call, const Value& result, const Value& out, const OpCaller& ops) {
  if (!out.isList() || !result.isList()) return checkOne(call, result, out, false, ops);
  if (out.list().size() != result.list().size())
    return fail(ErrorCode::ShapeMismatch, "{}: out= takes {} tensors", call.name, result.list().size());
  for (std::size_t i = 0; i < out.list().size(); ++i)
    KERF_CHECK(checkOne(call, result.list()[i], out.list()[i], true, ops));
  return {};
}

Result<Value> writeInto(std::string_view, const Value& result, const Value& out, const OpCaller& ops) {
  if (!out.isList()) return writeOne(result, out, ops);
  ValueList written;
  for (std::size_t i = 0; i < out.list().size(); ++i) {
    KERF_TRY(Value one, writeOne(result.list()[i], out.list()[i], ops));
    written.push_back(std::move(one));
  }
  return Value(std::move(written));
}

}  // namespace kerf::inline ops
