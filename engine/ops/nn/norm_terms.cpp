#include "engine/ops/nn/norm_terms.h"

#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {

NormLayout batchLayout(const Tensor& input, bool fixed) {
  NormLayout layout{.input = input.symSizes(), .parameters = {1, input.symSize(1)}, .statistics = {}, .fixed = fixed};
  layout.over = layout.shared = {0};
  for (std::int64_t d = 2; d < input.dim(); ++d) {
    layout.parameters.push_back(1);
    layout.over.push_back(d);
    layout.shared.push_back(d);
  }
  layout.statistics = layout.parameters;
  return layout;
}

NormLayout layerLayout(const Tensor& input, std::size_t normalized) {
  NormLayout layout{.input = input.symSizes(), .parameters = {}, .statistics = input.symSizes()};
  for (std::size_t d = 0; d < layout.input.size(); ++d) {
    const bool inside = d + normalized >= layout.input.size();
    if (inside) layout.parameters.push_back(layout.input[d]);
    if (inside) layout.statistics[d] = 1;
    (inside ? layout.over : layout.shared).push_back(std::int64_t(d));
  }
  return layout;
}

NormLayout groupLayout(SymInt n, SymInt channels, SymInt area, SymInt groups) {
  const SymInt members = floorDiv(channels, groups);
  return {.input = {n, groups, members, area},
          .parameters = {1, groups, members, 1},
          .statistics = {n, groups, 1, 1},
          .over = {2, 3},
          .shared = {0, 3}};
}

NormTerms::NormTerms(NormLayout layout, const NormTensors& tensors)
    : m_layout(std::move(layout)),
      m_inverse(asStatistic(tensors.inverse)),
      m_unit((asInput(tensors.input) - asStatistic(tensors.mean)) * m_inverse),
      m_weight(asParameter(tensors.weight)) {}

std::vector<Formula> NormTerms::tangents(const NormFlows& of) const {
  const Formula input = asInput(of.input), weight = asParameter(of.weight), bias = asParameter(of.bias);
  std::vector<Formula> results(3);
  if (!input.isNone()) results[0] = multiplied(unitTangent(input), m_weight);
  if (!weight.isNone()) results[0] = sumOf({results[0], m_unit * weight});
  if (!bias.isNone()) results[0] = sumOf({results[0], expand(bias, m_layout.input)});
  if (input.isNone() || m_layout.fixed) return results;
  results[1] = mean(input);
  results[2] = -(m_inverse * m_inverse * mean(m_unit * input));
  return results;
}

Formula NormTerms::throughStatistics(const Formula& toMean, const Formula& toInverse) const {
  SymInt count = 1;
  for (const std::int64_t d : m_layout.over) count *= m_layout.input[std::size_t(d)];
  const Formula byMean = toMean.isNone() ? Formula() : expand(over(asStatistic(toMean), count), m_layout.input);
  const Formula byInverse =
      toInverse.isNone() ? Formula() : -(m_unit * over(asStatistic(toInverse) * m_inverse * m_inverse, count));
  return sumOf({byMean, byInverse});
}

Formula NormTerms::sharedSum(const Formula& a) const {
  return a.isNone() || m_layout.shared.empty() ? a : sum(a, m_layout.shared);
}

NormSecondFlows NormTerms::secondOrder(const Formula& grad, const NormFlows& flows) const {
  const Formula g = asInput(grad), u = multiplied(g, m_weight);
  const Formula a = asInput(flows.input), b = asParameter(flows.weight), c = asParameter(flows.bias);
  const Formula none, along = a.isNone() ? none : unitTangent(a);
  NormSecondFlows result;
  result.grad = sumOf({a.isNone() ? none : multiplied(along, m_weight), b.isNone() ? none : b * m_unit,
                       c.isNone() ? none : expand(c, m_layout.input)});
  if (!a.isNone()) result.weight = sharedSum(g * along);
  const bool bends = !a.isNone() && !m_layout.fixed;
  const Formula bent = bends ? -(m_inverse * (a * mean(m_unit * u) + u * mean(m_unit * a))) : none;
  const Formula toUnit = sumOf({bent, b.isNone() ? none : b * g});
  if (!toUnit.isNone()) result.input = m_inverse * toUnit;
  if (m_layout.fixed) return result;
  if (!toUnit.isNone()) result.mean = -sum(m_inverse * toUnit, m_layout.over, true);
  result.inverse = sumOf({toUnit.isNone() ? none : sum(toUnit * m_unit, m_layout.over, true) / m_inverse,
                          a.isNone() ? none : sum(a * projected(u), m_layout.over, true)});
  return result;
}

NormFlows NormTerms::secondTangents(const Formula& grad, const NormSecondFlows& of) const {
  const Formula none, g = asInput(grad), u = multiplied(g, m_weight);
  const Formula dg = asInput(of.grad), dx = asInput(of.input), dw = asParameter(of.weight);
  const Formula dMean = asStatistic(of.mean), dInverse = asStatistic(of.inverse);
  const Formula dUnit = sumOf({dx.isNone() ? none : m_inverse * dx, dMean.isNone() ? none : -(m_inverse * dMean),
                               dInverse.isNone() ? none : m_unit * (dInverse / m_inverse)});
  const Formula du = sumOf({dg.isNone() ? none : multiplied(dg, m_weight), dw.isNone() ? none : g * dw});
  NormFlows result;
  result.input = sumOf(
      {du.isNone() ? none : unitTangent(du), m_layout.fixed || dInverse.isNone() ? none : dInverse * projected(u),
       m_layout.fixed || dUnit.isNone() ? none : -(m_inverse * (dUnit * mean(m_unit * u) + m_unit * mean(dUnit * u)))});
  result.weight = sharedSum(sumOf({dg.isNone() ? none : dg * m_unit, dUnit.isNone() ? none : g * dUnit}));
  result.bias = sharedSum(dg);
  return result;
}

}  // namespace kerf::inline ops
