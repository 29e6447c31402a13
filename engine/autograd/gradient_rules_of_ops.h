// What the engine of gradients knows of ops besides their formulas, for every walk back: the tape's and eager mode's.
#pragma once

#include "engine/ops/core/gradient.h"

namespace kerf::inline autograd {

/// As PyTorch's engine does before it passes a gradient on (validate_outputs): sizes that were broadcast are summed up,
/// the dtype is the tensor's.
Result<Tensor> fittedGradient(const Tensor& gradient, const Tensor& tensor, const OpRunner& run);
/// How many of an op's results, counted from the first, gradients flow back from: derivatives.yaml's
/// output_differentiability. Statistics of batch norms have none.
std::size_t differentiableResults(OpId op);

}  // namespace kerf::inline autograd
