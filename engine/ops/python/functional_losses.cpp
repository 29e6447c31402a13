// Losses as torch.nn.functional takes them: `reduction` by name, size_average and reduce of old, then the ATen op.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

enum Reduction : std::int64_t { byNone = 0, byMean = 1, bySum = 2 };

/// The parameters of torch.nn.functional's signature, in its order. Those that `tensors` counts are required.
struct FunctionalLoss {
  std::string_view name;
  std::size_t tensors;
  std::vector<std::string_view> rest;
  std::string_view op{};  ///< of ATen where it is not `name`
};

const std::vector<FunctionalLoss>& functionalLosses() {
  static const std::vector<FunctionalLoss> losses = {
      {"mse_loss", 2, {"size_average", "reduce", "reduction", "weight"}},
      {"l1_loss", 2, {"size_average", "reduce", "reduction", "weight"}},
      {"smooth_l1_loss", 2, {"size_average", "reduce", "reduction", "beta"}},
      {"huber_loss", 2, {"reduction", "delta", "weight"}},
      {"kl_div", 2, {"size_average", "reduce", "reduction", "log_target"}},
      {"nll_loss", 2, {"weight", "size_average", "ignore_index", "reduce", "reduction"}, "nll_loss_nd"},
      {"binary_cross_entropy", 2, {"weight", "size_average", "reduce", "reduction"}},
      {"binary_cross_entropy_with_logits", 2, {"weight", "size_average", "reduce", "reduction", "pos_weight"}},
      {"soft_margin_loss", 2, {"size_average", "reduce", "reduction"}},
      {"multi_margin_loss", 2, {"p", "margin", "weight", "size_average", "reduce", "reduction"}},
      {"multilabel_margin_loss", 2, {"size_average", "reduce", "reduction"}},
      {"hinge_embedding_loss", 2, {"margin", "size_average", "reduce", "reduction"}},
      {"cosine_embedding_loss", 3, {"margin", "size_average", "reduce", "reduction"}},
      {"margin_ranking_loss", 3, {"margin", "size_average", "reduce", "reduction"}},
      {"triplet_margin_loss", 3, {"margin", "p", "eps", "swap", "size_average", "reduce", "reduction"}},
      {"poisson_nll_loss", 2, {"log_input", "full", "size_average", "eps", "reduce", "reduction"}},
  };
  return losses;
}

/// One call of a loss: its parameters by name.
struct LossCall {
  const PythonCall& call;
  const FunctionalLoss& loss;

  const Value* find(std::string_view key) const {
    const auto at = std::ranges::find(loss.rest, key);
    if (at == loss.rest.end()) return nullptr;
    const Value* value = call.find(loss.tensors + std::size_t(at - loss.rest.begin()), key);
    return value == nullptr || value->isNone() ? nullptr : value;
  }
  bool flag(std::string_view key) const {
    const Value* value = find(key);
    return value == nullptr || value->as<bool>() == nullptr || *value->as<bool>();
  }
};

/// size_average and reduce, where given, decide instead of `reduction`. "batchmean" is a sum at first.
Result<std::int64_t> reductionOf(const LossCall& c) {
  if (c.find("size_average") != nullptr || c.find("reduce") != nullptr)
    return !c.flag("reduce") ? byNone : c.flag("size_average") ? byMean : bySum;
  const Value* given = c.find("reduction");
  const std::string* name = given != nullptr ? given->as<std::string>() : nullptr;
  if (given == nullptr || (name != nullptr && *name == "mean")) return byMean;
  if (name != nullptr && *name == "none") return byNone;
  if (name != nullptr && (*name == "sum" || (*name == "batchmean" && c.loss.name == "kl_div"))) return bySum;
  return fail(ErrorCode::BadInput, "{}: {} is not a valid value for reduction", c.loss.name,
              name != nullptr ? *name : std::string("this"));
}

bool isBatchMean(const LossCall& c) {
  const Value* given = c.find("reduction");
  const bool old = c.find("size_average") != nullptr || c.find("reduce") != nullptr;
  return !old && given != nullptr && given->as<std::string>() != nullptr && *given->as<std::string>() == "batchmean";
}

/// Whether an argument is what the schema gives it anyway.
bool isDefault(const Value& value, const Value& byDefault) {
  const auto equal = [&]<class T>() {
    return value.as<T>() && byDefault.as<T>() && *value.as<T>() == *byDefault.as<T>();
  };
  return (value.isNone() && byDefault.isNone()) || equal.template operator()<bool>() ||
         equal.template operator()<std::int64_t>() || equal.template operator()<double>();
}

/// What the signature of torch.nn.functional has as default, and ATen's schema has not.
void fillPoisson(const LossCall& c, KeywordValues& named) {
  if (c.loss.name != "poisson_nll_loss") return;
  if (c.find("log_input") == nullptr) named.emplace_back("log_input", Value(true));
  if (c.find("full") == nullptr) named.emplace_back("full", Value(false));
  if (c.find("eps") == nullptr) named.emplace_back("eps", Value(1e-8));
}

/// As PyTorch records the call: positions, and no defaults at the end.
Result<Value> callAten(const LossCall& c, const ValueList& tensors, const KeywordValues& named) {
  const std::string name = fmt::format("aten.{}.default", c.loss.op.empty() ? c.loss.name : c.loss.op);
  const OpInfo* op = findOp(OpTarget(name));
  if (op == nullptr) return fail(ErrorCode::UnsupportedOp, "no op is called '{}'", name);
  KERF_TRY(const BoundArguments all, bindArguments(*op, tensors, named));
  const auto plain = bindArguments(*op, tensors, {});
  ValueList positions;
  KeywordValues keywords;
  std::size_t used = tensors.size();
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    const bool isKeyword = op->schema.arguments[i].keywordOnly;
    const bool differs = !plain || !isDefault(all.values[i], plain->values[i]);
    if (!isKeyword) positions.push_back(all.values[i]);
    if (!isKeyword && differs) used = std::max(used, positions.size());
    if (isKeyword && differs) keywords.emplace_back(op->schema.arguments[i].name, all.values[i]);
  }
  positions.resize(used);
  return c.call.ops.call("torch.ops." + name, positions, keywords);
}

Result<Value> functionalLoss(const PythonCall& call) {
  const LossCall c{call, *std::ranges::find(functionalLosses(), call.name, &FunctionalLoss::name)};
  KERF_TRY(const std::int64_t reduction, reductionOf(c));
  static constexpr std::string_view tensorNames[] = {"input",  "target",   "input1",  "input2",
                                                     "anchor", "positive", "negative"};
  ValueList tensors(call.args.begin(), call.args.begin() + std::ptrdiff_t(std::min(call.args.size(), c.loss.tensors)));
  for (const auto& [key, value] : call.kwargs)
    if (std::ranges::find(tensorNames, key) != std::end(tensorNames)) tensors.push_back(value);
  KeywordValues named{{"reduction", Value(reduction)}};
  for (const std::string_view key : c.loss.rest) {
    const Value* value = c.find(key);
    if (value == nullptr || key == "reduction" || key == "size_average" || key == "reduce") continue;
    named.emplace_back(std::string(key), *value);
  }
  fillPoisson(c, named);
  KERF_TRY(const Value loss, callAten(c, tensors, named));
  if (!isBatchMean(c)) return loss;
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  return call.aten("div.Tensor", {loss, Value(input.symSize(0))});
}

}  // namespace

PythonRow functionalLossRow(std::string_view name) {
  const auto found = std::ranges::find(functionalLosses(), name, &FunctionalLoss::name);
  return {name, found != functionalLosses().end() ? functionalLoss : nullptr};
}

}  // namespace kerf::inline ops
