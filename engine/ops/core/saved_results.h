// What the check of gradients by differences must know of PyTorch's derivatives: results and ops that depend on their
// arguments although nothing flows.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Results that are kept for the backward op and through which nothing flows (statistics, workspaces, noise).
bool isSavedResult(const OpInfo& op, std::size_t result);
/// Ops that PyTorch has no derivative of though they have one (detach, nextafter, histograms).
bool isConstantByDefinition(const OpInfo& op);

}  // namespace kerf::inline ops
