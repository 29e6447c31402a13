// Rules by backward ops: most layers have an op for their gradient, named after them.
#pragma once

#include "engine/ops/core/flow_terms.h"
#include "engine/ops/core/gradient_rules.h"

namespace kerf::inline ops {

/// "aten::avg_pool2d" → aten.avg_pool2d_backward.default, which the table must have.
OpId backwardOf(const OpInfo& op);
/// The op that a backward op belongs to.
OpId forwardOf(const OpInfo& op);

/// What PyTorch calls output_mask: which of these arguments want a gradient.
Value outputMask(const Backward& b, std::initializer_list<std::size_t> arguments);
/// A mask of three with one result wanted.
Value onlyResult(std::size_t k);
/// Runs a backward op and gives its results to the arguments in order, unless none of them wants one.
void giveResults(Backward& b, std::initializer_list<std::size_t> arguments, const Formula& call);

}  // namespace kerf::inline ops
