// Losses as torch.nn.functional takes them: `reduction` by name, size_average and reduce of old, then the ATen op.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

enum Reduction : std::int64_t { byNone = 0, byMean = 1, bySum = 2 };

/// Losses that are one ATen op.
struct FunctionalLoss {
  std::string_view name;
  std::string_view op{};  ///< of ATen where it is not `name`
};
constexpr FunctionalLoss functionalLosses[] = {
    {"mse_loss"},
    {"l1_loss"},
    {"smooth_l1_loss"},
    {"huber_loss"},
    {"kl_div"},
    {"nll_loss", "nll_loss_nd"},
    {"binary_cross_entropy"},
    {"binary_cross_entropy_with_logits"},
    {"soft_margin_loss"},
    {"multi_margin_loss"},
    {"hinge_embedding_loss"},
    {"cosine_embedding_loss"},
    {"margin_ranking_loss"},
    {"triplet_margin_loss"},
    {"poisson_nll_loss"},
    {"cross_entropy", "cross_entropy_loss"},
    {"ctc_loss"},
};

/// One call of a loss: its parameters by name.
struct LossCall {
  const PythonCall& call;

  const Value* find(std::string_view key) const {
    const Value* value = call.find(SIZE_MAX, key);
    return value == nullptr || value->isNone() ? nullptr : value;
  }
  /// As Python's `if` reads it; None is True.
  bool flag(std::string_view key) const { return find(key) == nullptr || call.truth(SIZE_MAX, key, true); }
};

/// size_average and reduce, where given, decide instead of `reduction`. "batchmean" is a sum at first.
Result<std::int64_t> reductionOf(const LossCall& c) {
  if (c.find("size_average") != nullptr || c.find("reduce") != nullptr) {
    const bool averages = c.flag("size_average");  // read first, whatever the other says
    return !c.flag("reduce") ? byNone : averages ? byMean : bySum;
  }
  const Value* given = c.find("reduction");
  const std::string* name = given != nullptr ? given->as<std::string>() : nullptr;
  if (given == nullptr || (name != nullptr && *name == "mean")) return byMean;
  if (name != nullptr && *name == "none") return byNone;
  if (name != nullptr && (*name == "sum" || (*name == "batchmean" && c.call.name == "kl_div"))) return bySum;
  return fail(ErrorCode::BadInput, "{}: {} is not a valid value for reduction", c.call.name,
              name != nullptr ? *name : std::string("this"));
}

bool isBatchMean(const LossCall& c) {
  const Value* given = c.find("reduction");
  return given != nullptr && given->as<std::string>() != nullptr && *given->as<std::string>() == "batchmean";
}

Result<Value> functionalLoss(const PythonCall& call);

/// The losses that have `weight` apply it to what the op gives for each element.
Result<Value> weighted(const LossCall& c, const Value& weight) {
  KERF_TRY(const std::int64_t reduction, reductionOf(c));
  KeywordValues named;
  for (const auto& [key, value] : c.call.kwargs)
    if (key != "weight") named.emplace_back(key, key == "reduction" ? Value(std::string("none")) : value);
  for (auto& [key, value] : named)
    if (key == "size_average" || key == "reduce") value = Value();
  const PythonCall plain{c.call.name, c.call.args, named, c.call.ops};
  KERF_TRY(const Value each, functionalLoss(plain));
  KERF_TRY(const Tensor input, c.call.tensor(SIZE_MAX, "input"));
  if (!weight.isTensor() || !checkEqual(weight.tensor().symSizes(), input.symSizes()))
    return fail(ErrorCode::ShapeMismatch, "{}: the weights and the input must have the same size", c.call.name);
  KERF_TRY(const Value times, c.call.aten("mul.Tensor", {each, weight}));
  if (reduction == byNone) return times;
  KERF_TRY(const Value sum, c.call.aten("sum.default", {times}));
  if (reduction == bySum) return sum;
  KERF_TRY(const Value total, c.call.aten("sum.default", {weight}));
  return c.call.aten("div.Tensor", {sum, total});
}

/// Losses whose element losses ATen does not weight.
bool weightsElements(std::string_view name) { return name == "mse_loss" || name == "l1_loss" || name == "huber_loss"; }

/// Losses that PyTorch wrote in Python, and which compare the sizes there.
bool takesEqualSizes(std::string_view name) {
  return name == "binary_cross_entropy" || name == "binary_cross_entropy_with_logits";
}

/// What PyTorch asks of the operands before it calls the op, which would take numbers and broadcast.
Result<void> checkOperandsOf(const PythonCall& call) {
  KERF_CHECK(call.checkTensors(
      {"input", "target", "weight", "pos_weight", "input1", "input2", "anchor", "positive", "negative"}));
  for (const std::string_view key : {"log_input", "full", "swap", "zero_infinity"}) {
    if (call.get(SIZE_MAX, key).as<std::int64_t>() != nullptr)
      return fail(ErrorCode::BadInput, "{}: argument '{}' must be a bool", call.name, key);
  }
  const Value input = call.get(SIZE_MAX, "input"), target = call.get(SIZE_MAX, "target");
  if (!takesEqualSizes(call.name) || !input.isTensor() || !target.isTensor()) return {};
  if (checkEqual(input.tensor().symSizes(), target.tensor().symSizes())) return {};
  return fail(ErrorCode::ShapeMismatch, "{}: target of shape [{}] for an input of shape [{}]", call.name,
              fmt::join(target.tensor().symSizes(), ", "), fmt::join(input.tensor().symSizes(), ", "));
}

Result<Value> functionalLoss(const PythonCall& call) {
  KERF_CHECK(checkOperandsOf(call));
  const LossCall c{call};
  if (weightsElements(call.name) && c.find("weight") != nullptr) return weighted(c, *c.find("weight"));
  const auto* loss = std::ranges::find(functionalLosses, call.name, &FunctionalLoss::name);
  const std::string name = fmt::format("aten.{}.default", loss->op.empty() ? loss->name : loss->op);
  const OpInfo* op = findOp(OpTarget(call.name == "ctc_loss" ? "aten.ctc_loss.IntList" : name));
  if (op == nullptr) return fail(ErrorCode::UnsupportedOp, "no op is called '{}'", name);
  KERF_TRY(const std::int64_t reduction, reductionOf(c));
  KeywordValues named;
  for (const auto& [key, value] : call.kwargs) {
    if (key == "size_average" || key == "reduce") continue;
    const bool isSelf = key == "input" && op->schema.arguments[0].name == "self";
    if (std::ranges::find(op->schema.arguments, isSelf ? "self" : key, &SchemaArgument::name) ==
        op->schema.arguments.end())
      continue;
    named.emplace_back(isSelf ? "self" : key, key == "reduction" ? Value(reduction) : value);
  }
  KERF_TRY(const Value value, callNamed(*op, named, call.ops));
  if (!isBatchMean(c)) return value;  // whatever size_average says
  KERF_TRY(const Tensor input, call.tensor(SIZE_MAX, "input"));
  if (input.dim() == 0) return fail(ErrorCode::ShapeMismatch, "{}: input has no batch", call.name);
  if (guardOrFalse(input.symSize(0) == 0)) return value;
  return call.aten("div.Tensor", {value, Value(input.symSize(0))});
}

/// What a loss of each element becomes.
Result<Value> reduced(const LossCall& c, const Value& each) {
  KERF_TRY(const std::int64_t reduction, reductionOf(c));
  if (reduction == byNone) return each;
  return c.call.aten(reduction == byMean ? "mean.default" : "sum.default", {each});
}

/// The variance has input's sizes, or all but the last, or 1 there.
Result<void> checkVariance(const PythonCall& call, const Tensor& input, const Value& given) {
  if (!given.isTensor() || checkEqual(given.tensor().symSizes(), input.symSizes())) return {};
  const SymSizes &own = given.tensor().symSizes(), &sizes = input.symSizes();
  const bool isShorter = own.size() + 1 == sizes.size(), isSingle = own.size() == sizes.size() && !own.empty();
  bool fits = isShorter || (isSingle && guardOrFalse(own[own.size() - 1] == 1));
  for (std::size_t d = 0; fits && d + 1 < sizes.size(); ++d) fits = checkEqual(own[d], sizes[d]);
  if (fits) return {};
  return fail(ErrorCode::ShapeMismatch, "{}: var of shape [{}] for an input of shape [{}]", call.name,
              fmt::join(own, ", "), fmt::join(sizes, ", "));
}

/// (log(var) + (input - target)² / var) / 2, with a variance of eps at least
Result<Value> gaussianNll(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  Value variance = call.get(2, "var");
  if (isNumber(variance)) {
    const Value number = variance;
    KERF_TRY(const Value ones, call.aten("ones_like.default", {Value(input)}));
    KERF_TRY(variance, call.aten("mul.Tensor", {ones, number}));
  } else if (variance.isTensor() && variance.tensor().dim() + 1 == input.dim()) {
    KERF_TRY(variance, call.aten("unsqueeze.default", {variance, Value(std::int64_t{-1})}));
  }
  KERF_CHECK(checkVariance(call, input, call.get(2, "var")));
  KERF_TRY(const Value bounded, call.aten("clamp_min.default", {variance, call.get(4, "eps")}));
  KERF_TRY(const Value log, call.aten("log.default", {bounded}));
  KERF_TRY(const Value gap, call.aten("sub.Tensor", {Value(input), call.get(1, "target")}));
  KERF_TRY(const Value square, call.aten("pow.Tensor_Scalar", {gap, Value(std::int64_t{2})}));
  KERF_TRY(const Value share, call.aten("div.Tensor", {square, bounded}));
  KERF_TRY(const Value both, call.aten("add.Tensor", {log, share}));
  KERF_TRY(Value each, call.aten("mul.Tensor", {both, Value(0.5)}));
  if (call.truth(3, "full", false)) {
    KERF_TRY(each, call.aten("add.Tensor", {each, Value(0.5 * std::log(2 * std::numbers::pi))}));
  }
  return reduced({call}, each);
}

Result<Value> multilabelSoftMargin(const PythonCall& call) {
  const Value input = call.get(0, "input"), target = call.get(1, "target"), weight = call.get(2, "weight");
  KERF_TRY(const Tensor scores, call.tensor(0, "input"));
  if (scores.dim() == 0) return fail(ErrorCode::ShapeMismatch, "{}: input has no classes", call.name);
  const std::int64_t last = scores.dim() - 1;
  KERF_TRY(const Value yes, call.aten("log_sigmoid.default", {input}));
  KERF_TRY(const Value negative, call.aten("neg.default", {input}));
  KERF_TRY(const Value no, call.aten("log_sigmoid.default", {negative}));
  KERF_TRY(const Value rest, call.aten("rsub.Scalar", {target, Value(std::int64_t{1})}));
  KERF_TRY(const Value first, call.aten("mul.Tensor", {target, yes}));
  KERF_TRY(const Value second, call.aten("mul.Tensor", {rest, no}));
  KERF_TRY(const Value both, call.aten("add.Tensor", {first, second}));
  KERF_TRY(Value each, call.aten("neg.default", {both}));
  if (weight.isTensor()) {
    KERF_TRY(each, call.aten("mul.Tensor", {each, weight}));
  }
  KERF_TRY(const Value sums, call.aten("sum.dim_IntList", {each, Value(ValueList{Value(last)})}));
  KERF_TRY(const Value means, call.aten("div.Tensor", {sums, Value(scores.symSize(last))}));
  return reduced({call}, means);
}

Result<Value> multilabelMargin(const PythonCall& call) {
  KERF_TRY(const std::int64_t reduction, reductionOf({call}));
  KERF_TRY(const Tensor target, call.tensor(1, "target"));
  if (target.dtype() != DType::Int64)
    return fail(ErrorCode::ShapeMismatch, "{}: target must have the dtype torch.int64, has {}", call.name,
                dtypeInfo(target.dtype()).torchName);
  KERF_TRY(Tensor loss, call.atenTensor("multilabel_margin_loss_forward.default",
                                        {call.get(0, "input"), call.get(1, "target"), Value(reduction)}));
  return Value(std::move(loss));
}

/// max(0, margin + distance to the positive - distance to the negative), of pairwise_distance
Result<Value> tripletWithDistance(const PythonCall& call) {
  if (!call.get(SIZE_MAX, "distance_function").isNone())
    return fail(ErrorCode::UnsupportedOp, "{}: distance_function is not supported", call.name);
  const Value anchor = call.get(0, "anchor"), positive = call.get(1, "positive"), negative = call.get(2, "negative");
  const auto rankOf = [](const Value& value) { return value.isTensor() ? value.tensor().dim() : -1; };
  if (rankOf(anchor) != rankOf(positive) || rankOf(anchor) != rankOf(negative))
    return fail(ErrorCode::ShapeMismatch, "{}: anchor, positive and negative must have as many dimensions", call.name);
  KERF_TRY(const Value near, call.aten("pairwise_distance.default", {anchor, positive}));
  KERF_TRY(Value far, call.aten("pairwise_distance.default", {anchor, negative}));
  if (call.truth(SIZE_MAX, "swap", false)) {
    KERF_TRY(const Value between, call.aten("pairwise_distance.default", {positive, negative}));
    KERF_TRY(far, call.aten("minimum.default", {far, between}));
  }
  KERF_TRY(const Value nearer, call.aten("add.Tensor", {near, call.get(SIZE_MAX, "margin")}));
  KERF_TRY(const Value gap, call.aten("sub.Tensor", {nearer, far}));
  KERF_TRY(const Value each, call.aten("clamp_min.default", {gap, Value(std::int64_t{0})}));
  return reduced({call}, each);
}

constexpr PythonRow programs[] = {
    {"gaussian_nll_loss", gaussianNll},
    {"multilabel_soft_margin_loss", multilabelSoftMargin},
    {"triplet_margin_with_distance_loss", tripletWithDistance},
    {"torch.nn.functional.multilabel_margin_loss", multilabelMargin},
};

/// By their full names: torch.* has some of them too, with numbers for reductions.
const std::vector<std::string>& fullNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const FunctionalLoss& loss : functionalLosses)
      made.push_back(fmt::format("torch.nn.functional.{}", loss.name));
    return made;
  }();
  return names;
}

const std::vector<PythonRow>& lossRows() {
  static const std::vector<PythonRow> rows = [] {
    std::vector<PythonRow> made(std::begin(programs), std::end(programs));
    for (const std::string& name : fullNames()) made.push_back({name, functionalLoss});
    return made;
  }();
  return rows;
}

}  // namespace

PythonRows functionalLossRows() { return lossRows(); }

}  // namespace kerf::inline ops
