// Implicit forms: ops that have kernels of their own here and are CompositeImplicitAutograd in PyTorch, so that no traced
// graph holds them.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline autograd {

/// The program that PyTorch runs in the op's place; null for ops that it keeps.
Composite implicitForm(OpId op);

}  // namespace kerf::inline autograd
