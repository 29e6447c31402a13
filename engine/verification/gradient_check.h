// A check of recorded gradients without an autograd of one's own: the derivative along one direction, by finite
// differences of the graph that Dynamo recorded.
#pragma once

#include <functional>

#include "engine/verification/stage_run.h"

namespace kerf::inline verification {

struct GradientCheck {
  bool done = false;
  std::string why;         ///< not done: why
  double recorded = 0;     ///< sum over inputs of <gradient, direction>
  double differences = 0;  ///< central difference of sum over outputs of <output, tangent>
  double relativeError = 0;
  std::size_t inputs = 0;             ///< whose gradients take part
  std::vector<std::string> suspects;  ///< slots whose own gradients do not fit, where the sum does not
  bool moved = false;                 ///< checked at inputs nearby: at the inputs themselves it did not fit
  bool agrees() const;
};

/// The gradients ("grad:<i>") at other inputs.
using GradientsAt = std::function<Result<SlotValues>(const SlotValues& inputs)>;

/// Central differences of several steps. Where they do not fit the gradients, the function may have a kink there (relu,
/// max): it is checked again at inputs nearby, with the gradients that `gradientsAt` gives for those. Where the steps
/// disagree with each other too, nothing is said.
///
/// `inputs` with fp64 tensors for "in:<i>" and "tangent:<k>", `gradients` the joint graph's values for "grad:<i>".
/// `differentiable` are the output slots in the order of the tangents. Two or more runs of `stage` in fp64.
Result<GradientCheck> checkGradients(const Stage& stage, const GraphModule& module, const SlotValues& inputs,
                                     const SlotValues& gradients, const std::vector<Slot>& differentiable,
                                     const RandomDraws& draws, const GradientsAt& gradientsAt, std::stop_token stop);

}  // namespace kerf::inline verification
