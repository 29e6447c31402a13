// Slopes of backward ops, which are linear in the gradient, argument 0: by it they are the op itself.
#pragma once

#include "engine/ops/core/gradient_rules.h"

namespace kerf::inline ops {

/// The op itself with `flow` as its gradient.
Formula again(const SlopeCall& c);
/// Of piecewise linear activations: nothing flows to what the pieces are told by.
Formula piecewise(const SlopeCall& c);
/// As a tensor of the gradient's dtype.
Formula indicator(const Formula& condition, const SlopeCall& c);

}  // namespace kerf::inline ops
