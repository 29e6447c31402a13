// What the forms of a random op have in common: its operands, and numbers that depend on the draw and the element only.
#pragma once

#include "engine/verification/shared_random.h"

namespace kerf::inline verification {

/// One call of an op that draws, with the run it belongs to.
struct RandomCall {
  const SharedRandom& random;
  const OpTarget& target;
  const ValueList& args;
  const KeywordValues& kwargs;

  /// By position or keyword; null if absent.
  const Value* argument(std::size_t position, std::string_view name) const {
    for (const auto& [key, value] : kwargs)
      if (key == name) return &value;
    return position < args.size() ? &args[position] : nullptr;
  }
  double number(std::size_t position, std::string_view name, double fallback) const {
    const Value* value = argument(position, name);
    if (value == nullptr) return fallback;
    if (const auto* real = value->as<double>()) return *real;
    if (const auto* integer = value->as<std::int64_t>()) return double(*integer);
    if (const auto* flag = value->as<bool>()) return *flag ? 1 : 0;
    return fallback;
  }
  bool flag(std::size_t position, std::string_view name, bool fallback) const {
    return number(position, name, fallback ? 1 : 0) != 0;
  }
  std::int64_t takeDraw() const { return random.draws().next++; }
  Result<Value> callInner() const { return random.inner().call(target, args, kwargs); }
  Result<Value> op(std::string_view name, const ValueList& operands, const KeywordValues& keywords = {}) const {
    return random.inner().call(OpTarget(name), operands, keywords);
  }
};

/// `x * (u > p) * (1 / (1 - p))` and the mask: PyTorch's decomposition of native_dropout.
struct Dropped {
  Value result, mask;
};
Result<Dropped> dropped(const RandomCall& call, const Value& input, double p);

/// scaled_dot_product_attention with dropout on its weights: as the fused op that the ATen graphs of the capture have
/// in its place, otherwise as PyTorch's math form decomposes.
Result<Value> attentionWithDropout(const RandomCall& call);

}  // namespace kerf::inline verification
