// Matrix products: a shard of a letter of the equation, or a pending sum of one operand.
#include <algorithm>
#include <string_view>

#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

struct Equation {
  std::string_view left, right, result;
};

Placement shardAt(std::string_view letters, char letter) {
  const std::size_t at = letters.find(letter);
  return at == std::string_view::npos ? Placement::replicate() : Placement::shard(std::int64_t(at));
}

/// For each letter: the result, the left and the right operand.
std::vector<OneDim> choicesOf(const Equation& equation) {
  std::string letters;
  for (const std::string_view side : {equation.left, equation.right})
    for (const char letter : side)
      if (letters.find(letter) == std::string::npos) letters += letter;
  std::vector<OneDim> batch, contracted, free;
  for (const char letter : letters) {
    const bool isKept = equation.result.find(letter) != std::string_view::npos;
    const bool isShared =
        equation.left.find(letter) != std::string_view::npos && equation.right.find(letter) != std::string_view::npos;
    OneDim choice{isKept ? shardAt(equation.result, letter) : Placement::partial(), shardAt(equation.left, letter),
                  shardAt(equation.right, letter)};
    (isKept && isShared ? batch : isKept ? free : contracted).push_back(std::move(choice));
  }
  std::vector<OneDim> choices = std::move(batch);
  choices.insert(choices.end(), contracted.begin(), contracted.end());
  choices.insert(choices.end(), free.begin(), free.end());
  return choices;
}

void addPartials(std::vector<OneDim>& choices) {
  for (const std::string_view op : {"sum", "avg"}) {
    const Placement partial = Placement::partial(op), whole;
    choices.push_back({partial, partial, whole});
    choices.push_back({partial, whole, partial});
  }
}

/// The bias that is added to a result placed like that.
Placement biasPlacement(const Placement& result, const Spec& bias, std::int64_t resultDims) {
  if (!result.isShard()) return result;
  const std::int64_t dim = result.dim - (resultDims - bias.dims());
  if (dim < 0 || bias.sizes[std::size_t(dim)] == 1) return Placement::replicate();
  return result.onDim(dim);
}

Result<Strategies> product(const ShardingCall& call, const Equation& equation, bool hasPartials) {
  std::vector<OneDim> choices = choicesOf(equation);
  if (hasPartials) {
    addPartials(choices);
    return expandToMesh(call, withShardKinds(call, choices, 1), 1);
  }
  choices.insert(choices.begin(), OneDim(3));
  return expandToMesh(call, choices, 1);
}

Result<Strategies> biasedProduct(const ShardingCall& call, const Equation& equation) {
  std::vector<OneDim> choices = choicesOf(equation);
  addPartials(choices);
  for (OneDim& choice : choices)
    choice.insert(choice.begin() + 1, biasPlacement(choice[0], call.spec(0), std::int64_t(equation.result.size())));
  return expandToMesh(call, withShardKinds(call, choices, 1), 1);
}

constexpr Equation matrices{"mk", "kn", "mn"}, batches{"bmk", "bkn", "bmn"};

Result<Strategies> mm(const ShardingCall& call) { return product(call, matrices, true); }
Result<Strategies> bmm(const ShardingCall& call) { return product(call, batches, true); }
Result<Strategies> addmm(const ShardingCall& call) { return biasedProduct(call, matrices); }
Result<Strategies> baddbmm(const ShardingCall& call) { return biasedProduct(call, batches); }
Result<Strategies> dot(const ShardingCall& call) { return product(call, {"k", "k", ""}, false); }
Result<Strategies> mv(const ShardingCall& call) { return product(call, {"mk", "k", "m"}, false); }

constexpr ShardingRow rows[] = {
    {"aten.mm.default", mm},           {"aten.bmm.default", bmm}, {"aten.addmm.default", addmm},
    {"aten.baddbmm.default", baddbmm}, {"aten.dot.default", dot}, {"aten.mv.default", mv},
};
const ShardingRegistration registration(rows);

}  // namespace
}  // namespace kerf::inline distributed::inline sharding
