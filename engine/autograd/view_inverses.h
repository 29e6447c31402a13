// The inverses of views: what a memory holds after one of its views was given new values (PyTorch's
// FunctionalInverses.cpp).
#pragma once

#include "engine/autograd/alias_table.h"
#include "engine/ops/core/composite.h"

namespace kerf::inline autograd {

/// `base` with what `step` shows of it replaced by `view`, which has the sizes that the step gives. UnsupportedOp for
/// views through which nothing can be written: several of their elements are one (expand, unfold, as_strided).
Result<Tensor> writeThrough(const ViewStep& step, const Tensor& base, const Tensor& view, const OpRunner& run);

}  // namespace kerf::inline autograd
