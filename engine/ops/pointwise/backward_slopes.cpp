#include "engine/ops/pointwise/backward_slopes.h"

namespace kerf::inline ops {

Formula again(const SlopeCall& c) {
  const BoundArguments& args = c.call.args;
  std::vector<Formula> operands{c.flow};
  KeywordValues keywords;
  for (std::size_t i = 1; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].keywordOnly)
      keywords.emplace_back(args.op->schema.arguments[i].name, args.values[i]);
    else
      operands.push_back(args.values[i]);
  return {args.op->id, std::move(operands), std::move(keywords)};
}

Formula piecewise(const SlopeCall& c) { return c.argument == 0 ? again(c) : Formula(); }

Formula indicator(const Formula& condition, const SlopeCall& c) { return where(condition, c.flow, 0); }

}  // namespace kerf::inline ops
