// What the check of gradients by differences must know of PyTorch's derivatives: results and ops that depend on their
// arguments although nothing flows.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline conformance {

/// Results that are kept for the backward op and through which nothing flows (statistics, workspaces, noise).
bool isSavedResult(const OpInfo& op, std::size_t result);
/// Ops through which PyTorch lets nothing flow though their results change with their arguments (detach, linspace).
bool isConstantByDefinition(const OpInfo& op);
/// Arguments by which PyTorch has no derivative, of ops that it differentiates by others.
bool isUndifferentiated(const OpInfo& op, std::size_t argument);
/// Arguments of which an op reads one triangle and has the symmetric gradient: they stay symmetric (Hermitian).
bool isSymmetric(const OpInfo& op, std::size_t argument);
/// Whether a call of an op that must not be asked to writes two values to one place: which one stays is not defined.
bool writesPlaceTwice(const BoundArguments& call);
/// Whether an embedding reads the row for padding, which takes no gradient although it is read.
bool readsPadding(const BoundArguments& call);

}  // namespace kerf::inline conformance
