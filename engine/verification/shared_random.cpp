#include "engine/verification/shared_random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/verification/random_call.h"

namespace kerf::inline verification {
namespace {

std::uint64_t hashed(std::int64_t draw, std::uint64_t index) {
  std::uint64_t value = (std::uint64_t(draw) + 1) * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// In [0, 1) with 24 bits: exact in float32, so that comparing it is the same in all arithmetics.
double uniformAt(std::int64_t draw, std::uint64_t index) { return double(hashed(draw, index) >> 40) * 0x1p-24; }
double normalAt(std::int64_t draw, std::uint64_t index) {
  const double first = 1 - uniformAt(draw, 2 * index), second = uniformAt(draw, 2 * index + 1);
  return double(float(std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second)));
}

using NumberAt = double (*)(std::int64_t draw, std::uint64_t index);

/// Numbers with sizes, dtype and device of `like`.
Result<Tensor> drawLike(const Tensor& like, const std::function<double(std::uint64_t)>& numberAt) {
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Float64, like.sizes()));
  auto* const elements = wide.data<double>();
  parallelFor(wide.numel(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) elements[i] = numberAt(std::uint64_t(i));
  });
  KERF_TRY(Tensor result, wide.to(like.dtype()));
  result.setDevice(like.device());
  return result;
}

Result<Tensor> drawLike(const Tensor& like, std::int64_t draw, NumberAt numberAt) {
  return drawLike(like, [=](std::uint64_t index) { return numberAt(draw, index); });
}

/// The op itself tells sizes and dtype; its numbers are replaced.
template <NumberAt numberAt>
Result<Value> drawn(const RandomCall& call) {
  KERF_TRY(const Value value, call.callInner());
  if (!value.isTensor()) return value;
  KERF_TRY(Tensor result, drawLike(value.tensor(), call.takeDraw(), numberAt));
  return Value(std::move(result));
}

/// Writes the result into the input of a call with inplace=True.
Result<Value> resultOf(const RandomCall& call, Value result, bool inPlace) {
  if (!inPlace) return result;
  Tensor target = call.args.front().tensor();
  KERF_CHECK(copyElements(result.tensor(), target));
  return call.args.front();
}

Result<Value> functionalDropout(const RandomCall& call) {
  const Value* input = call.argument(0, "input");
  const double p = call.number(1, "p", 0.5);
  if (input == nullptr || !input->isTensor() || !call.flag(2, "training", true) || p == 0) return call.callInner();
  KERF_TRY(auto result, dropped(call, *input, p));
  return resultOf(call, std::move(result.result), call.flag(3, "inplace", false) && !call.args.empty());
}

Result<Value> atenDropout(const RandomCall& call) {
  const Value* input = call.argument(0, "input");
  const double p = call.number(1, "p", 0.5);
  if (input == nullptr || !input->isTensor() || !call.flag(2, "train", true) || p == 0) return call.callInner();
  KERF_TRY(auto result, dropped(call, *input, p));
  return std::move(result.result);
}

Result<Value> nativeDropout(const RandomCall& call) {
  const Value* input = call.argument(0, "input");
  if (input == nullptr || !input->isTensor() || !call.flag(2, "train", true)) return call.callInner();
  KERF_TRY(auto result, dropped(call, *input, call.number(1, "p", 0.5)));
  return Value(ValueList{std::move(result.result), std::move(result.mask)});
}

/// `u < p`, with p a number or a tensor of probabilities.
Result<Value> bernoulli(const RandomCall& call) {
  KERF_TRY(const Value like, call.callInner());
  const Value* p = call.argument(1, "p");
  if (!like.isTensor()) return like;
  const std::int64_t draw = call.takeDraw();
  if (p != nullptr && (p->as<double>() || p->as<std::int64_t>())) {
    const double limit = call.number(1, "p", 0.5);
    KERF_TRY(Tensor result,
             drawLike(like.tensor(), [=](std::uint64_t i) { return uniformAt(draw, i) < limit ? 1.0 : 0; }));
    return Value(std::move(result));
  }
  KERF_TRY(const Tensor limits, call.args.front().tensor().to(DType::Float64));
  KERF_TRY(const Tensor flat, limits.contiguous());
  const double* const limit = flat.data<double>();
  KERF_TRY(Tensor result,
           drawLike(like.tensor(), [=](std::uint64_t i) { return uniformAt(draw, i) < limit[i] ? 1.0 : 0; }));
  return Value(std::move(result));
}

Result<Value> integersIn(const Tensor& like, std::int64_t draw, double low, double high) {
  KERF_TRY(Tensor result,
           drawLike(like, [=](std::uint64_t i) { return low + std::floor(uniformAt(draw, i) * (high - low)); }));
  return Value(std::move(result));
}

/// randint(high, size), randint(low, high, size), and with a tensor before them (randint_like).
Result<Value> randint(const RandomCall& call) {
  KERF_TRY(const Value like, call.callInner());
  std::vector<double> bounds;
  for (const Value& value : call.args)
    if (const auto* bound = value.as<std::int64_t>()) bounds.push_back(double(*bound));
  if (!like.isTensor() || bounds.empty()) return like;
  return integersIn(like.tensor(), call.takeDraw(), bounds.size() > 1 ? bounds[0] : 0,
                    bounds[bounds.size() > 1 ? 1 : 0]);
}

Result<Value> seeds(const RandomCall& call) {
  KERF_TRY(const Value like, call.callInner());
  if (!like.isTensor()) return like;
  const std::int64_t first = call.random.draws().next;
  call.random.draws().next += like.tensor().numel();
  KERF_TRY(Tensor result, drawLike(like.tensor(), [=](std::uint64_t i) { return double(first) + double(i); }));
  return Value(std::move(result));
}

/// The draw that a seed stands for.
std::int64_t drawOf(const Value* seed) {
  return seed != nullptr && seed->isTensor() && seed->tensor().numel() > 0 ? seed->tensor().itemAsInt() : 0;
}

Result<Value> inductorRandom(const RandomCall& call) {
  KERF_TRY(const Value like, call.callInner());
  const Value* mode = call.argument(2, "mode");
  const bool normal = mode != nullptr && mode->as<std::string>() != nullptr && *mode->as<std::string>() == "randn";
  KERF_TRY(Tensor result, drawLike(like.tensor(), drawOf(call.argument(1, "seed")), normal ? normalAt : uniformAt));
  return Value(std::move(result));
}

Result<Value> inductorRandint(const RandomCall& call) {
  KERF_TRY(const Value like, call.callInner());
  return integersIn(like.tensor(), drawOf(call.argument(3, "seed")), call.number(0, "low", 0),
                    call.number(1, "high", 1));
}

struct RandomForm {
  std::string_view name;  ///< of the op, without its namespace and overload
  Result<Value> (*run)(const RandomCall&);
};
constexpr RandomForm forms[] = {
    {"torch.nn.functional.dropout", functionalDropout},
    {"torch.dropout", atenDropout},
    {"aten.dropout", atenDropout},
    {"aten.native_dropout", nativeDropout},
    {"aten.rand", drawn<uniformAt>},
    {"aten.rand_like", drawn<uniformAt>},
    {"torch.rand", drawn<uniformAt>},
    {"torch.rand_like", drawn<uniformAt>},
    {"aten.randn", drawn<normalAt>},
    {"aten.randn_like", drawn<normalAt>},
    {"torch.randn", drawn<normalAt>},
    {"torch.randn_like", drawn<normalAt>},
    {"aten.bernoulli", bernoulli},
    {"torch.bernoulli", bernoulli},
    {"aten.randint", randint},
    {"aten.randint_like", randint},
    {"torch.randint", randint},
    {"prims.inductor_seed", seeds},
    {"prims.inductor_seeds", seeds},
    {"prims.inductor_random", inductorRandom},
    {"prims.inductor_randint", inductorRandint},
    {"torch._C._nn.scaled_dot_product_attention", attentionWithDropout},
    {"torch.nn.functional.scaled_dot_product_attention", attentionWithDropout},
    {"aten.scaled_dot_product_attention", attentionWithDropout},
};

/// "aten.rand" of "torch.ops.aten.rand.default"; other names stay.
std::string_view plainName(std::string_view text) {
  constexpr std::string_view prefix = "torch.ops.";
  if (!text.starts_with(prefix)) return text;
  text.remove_prefix(prefix.size());
  const auto overload = text.find('.', text.find('.') + 1);
  return text.substr(0, overload);
}

/// Fused attention draws only where it has dropout, so that its row does not say that it is random.
bool drawsInAttention(const RandomCall& call) {
  const std::string_view name = plainName(call.target.text);
  if (!name.starts_with("aten._scaled_dot_product_") || name.ends_with("_backward")) return false;
  return call.number(name.find("flash") != std::string_view::npos ? 3 : 5, "dropout_p", 0) > 0;
}

}  // namespace

Result<Dropped> dropped(const RandomCall& call, const Value& input, double p) {
  const std::int64_t draw = call.takeDraw();
  const Tensor like(nullptr, DType::Bool, input.tensor().sizes(), input.tensor().strides());
  KERF_TRY(Tensor mask, drawLike(like, [=](std::uint64_t index) { return uniformAt(draw, index) > p ? 1.0 : 0; }));
  mask.setDevice(input.tensor().device());
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  KERF_TRY(const Value kept, call.op("torch.ops.aten.mul.Tensor", {Value(mask), input}));
  KERF_TRY(Value result, call.op("torch.ops.aten.mul.Tensor", {kept, Value(scale)}));
  return Dropped{std::move(result), Value(std::move(mask))};
}

Result<Value> SharedRandom::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  const auto form = std::ranges::find(forms, plainName(target.text), &RandomForm::name);
  if (form != std::end(forms)) return form->run({*this, target, args, kwargs});
  const OpInfo* op = findOp(target);
  if (op == nullptr || !(has(op->traits, OpTrait::Random) || drawsInAttention({*this, target, args, kwargs})))
    return m_inner.call(target, args, kwargs);
  const RandomScope seeded(defaultRandomSeed + std::uint64_t(m_draws.others++));
  return m_inner.call(target, args, kwargs);
}

Result<Value> SharedRandom::callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                            const SubgraphCaller& subgraphs) const {
  return referenceOps().callHigherOrder(target, args, kwargs, subgraphs);
}

}  // namespace kerf::inline verification
