// Valid calls with symbols for sizes, and sizes that do not fit.
#include "engine/ir/value_meta.h"
#include "engine/symbolic/shape_env.h"
#include "tests/differential/fuzzgraph/random_values.h"
#include "tests/differential/wrongcalls/draw_call.h"
#include "tests/differential/wrongcalls/sized_case.h"

namespace kerf::wrongcalls {
namespace {

using fuzzgraph::Dice;

/// Every size above one a symbol of its own; equal ones share one where `shares`.
class SizeSymbols {
 public:
  SizeSymbols(ShapeEnv& env, bool shares) : m_env(env), m_shares(shares) {}

  Tensor of(const Tensor& tensor) {
    SymSizes sizes;
    for (const std::int64_t size : tensor.sizes()) sizes.push_back(size > 1 ? symbolFor(size) : SymInt(size));
    SymSizes strides = contiguousStrides(sizes);
    return Tensor(nullptr, tensor.dtype(), std::move(sizes), std::move(strides), 0);
  }

 private:
  SymInt symbolFor(std::int64_t size) {
    const auto known = m_known.find(size);
    if (m_shares && known != m_known.end()) return known->second;
    const SymInt symbol =
        m_env.addSymbol({.name = fmt::format("s{}", m_next++), .hint = size, .range = {0, ValueRange::greatest}});
    m_known.insert_or_assign(size, symbol);
    return symbol;
  }

  ShapeEnv& m_env;
  bool m_shares;
  int m_next = 0;
  std::map<std::int64_t, SymInt> m_known;
};

/// With the strides that symbols are given: those of a dimension of size 1 count too.
bool isPlain(const Tensor& tensor) {
  return tensor.offset() == 0 && tensor.strides() == contiguousStrides(tensor.sizes());
}

Value otherSizes(Dice& dice, const Value& input) {
  const bool isFree = input.isTensor() && isPlain(input.tensor());
  if (!isFree || input.tensor().dim() == 0 || dice.chance(45)) return input;  // others have no symbols
  Sizes sizes = input.tensor().sizes();
  for (std::int64_t& size : sizes)
    if (size > 1 && dice.chance(60)) size = dice.between(dice.chance(90) ? 2 : 0, size + 3);
  const auto arrangement = fuzzgraph::Arrangement::RowMajor;
  return Value(fuzzgraph::randomTensor(dice, input.tensor().dtype(), sizes, {0, 2}, arrangement));
}

}  // namespace

std::optional<SizedCase> drawSizes(const OpInfo& op, Dice& dice) {
  const auto call = validCall(op, dice.next() >> 20);
  if (!call) return {};
  CaseGraph graph = graphOf(*call, dice.chance(50) ? Surroundings::Alone : Surroundings::Within);
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  SizeSymbols symbols(env, dice.chance(40));
  bool any = false;
  const auto placeholders = graph.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const Tensor& tensor = graph.inputs[i].tensor();
    if (!isPlain(tensor)) continue;
    graph.module.graph.setValueMeta(placeholders[i], {metaOf(symbols.of(tensor))});
    any = any || std::ranges::any_of(tensor.sizes(), [](std::int64_t size) { return size > 1; });
  }
  if (!any) return {};
  SizedCase sized{textOf(*call), std::move(graph.module), {graph.inputs}};
  for (int run = 0; run < 4; ++run) {
    ValueList inputs;
    for (const Value& input : graph.inputs) inputs.push_back(otherSizes(dice, input));
    sized.inputs.push_back(std::move(inputs));
  }
  return sized;
}

}  // namespace kerf::wrongcalls
