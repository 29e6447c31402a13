#include "engine/ops/core/flow_terms.h"

namespace kerf::inline ops {

Formula sumOf(std::initializer_list<Formula> terms) {
  Formula total;
  for (const Formula& term : terms)
    if (!term.isNone()) total = total.isNone() ? term : total + term;
  return total;
}

Formula multiplied(const Formula& a, const Formula& b) {
  if (a.isNone()) return b;
  return b.isNone() ? a : a * b;
}

Formula negated(const Formula& a) { return a.isNone() ? a : -a; }

Formula typed(Formulas& p, const Formula& a, DType dtype) { return a.isNone() ? a : to(p(a), dtype); }

std::vector<Formula> withArguments(const Formulas& p, std::vector<Formula> first, std::size_t from) {
  for (std::size_t i = from; i < p.args.values.size(); ++i) first.push_back(p[i]);
  return first;
}

}  // namespace kerf::inline ops
