// What batch, layer and group norm have in common: x̂ = (x - mean) · inverse over some dimensions, x̂ · weight + bias.
// Tangents and second derivatives follow from the projection P(t) = t - mean(t) - x̂ · mean(x̂ · t), since
// dx̂ = inverse · P(dx).
#pragma once

#include "engine/ops/core/gradient_rules.h"

namespace kerf::inline ops {

/// How a normalization sees its tensors.
struct NormLayout {
  SymSizes input;       ///< sizes with dimensions split or merged for it
  SymSizes parameters;  ///< of weight and bias, broadcasting against `input`
  SymSizes statistics;  ///< of mean and inverse deviation, broadcasting too
  Sizes over;           ///< the dimensions that one mean is taken over
  Sizes shared;         ///< the dimensions along which a parameter is the same
  bool fixed = false;   ///< mean and deviation do not depend on the input (evaluation)
};
/// [N, C, *], a mean per channel.
NormLayout batchLayout(const Tensor& input, bool fixed);
/// A mean over the last `normalized` dimensions.
NormLayout layerLayout(const Tensor& input, std::size_t normalized);
/// [N, groups, C / groups, HxW], a mean per image and group.
NormLayout groupLayout(SymInt n, SymInt channels, SymInt area, SymInt groups);

struct NormTensors {
  Formula input, weight, mean, inverse;  ///< weight may be none
};
/// What flows to or from a norm's arguments; none where nothing does.
struct NormFlows {
  Formula input, weight, bias;
};
/// The same of a norm's backward op, which has mean and inverse deviation as arguments.
struct NormSecondFlows {
  Formula grad, input, weight, mean, inverse;
};

class NormTerms {
 public:
  /// Tensors with the sizes that the op has them in.
  NormTerms(NormLayout layout, const NormTensors& tensors);
  Formula asInput(const Formula& a) const { return a.isNone() ? a : reshape(a, m_layout.input); }
  Formula asParameter(const Formula& a) const { return a.isNone() ? a : reshape(a, m_layout.parameters); }
  Formula asStatistic(const Formula& a) const { return a.isNone() ? a : reshape(a, m_layout.statistics); }

  /// Tangents of output, mean and inverse deviation (the latter none where they are fixed), arranged by the layout.
  std::vector<Formula> tangents(const NormFlows& of) const;
  /// What flows to the input through mean and inverse deviation.
  Formula throughStatistics(const Formula& toMean, const Formula& toInverse) const;
  /// Of the backward op, whose results are gradients of input, weight and bias: what flows to its arguments from what
  /// flows to its results, and tangents of its results. Mean and inverse deviation count as independent.
  NormSecondFlows secondOrder(const Formula& grad, const NormFlows& flows) const;
  NormFlows secondTangents(const Formula& grad, const NormSecondFlows& of) const;

 private:
  Formula mean(const Formula& a) const { return ops::mean(a, m_layout.over, true); }
  Formula projected(const Formula& t) const { return t - mean(t) - m_unit * mean(m_unit * t); }
  Formula unitTangent(const Formula& t) const { return m_inverse * (m_layout.fixed ? t : projected(t)); }
  Formula sharedSum(const Formula& a) const;

  NormLayout m_layout;
  Formula m_inverse, m_unit, m_weight;
};

}  // namespace kerf::inline ops
