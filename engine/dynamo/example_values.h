// What a call gives, found by calling it on zeros: for functions of torch that have no shape rule of their own.
#pragma once

#include "engine/dynamo/output_graph.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline dynamo {

/// Tensors of the result without data. UnsupportedOp where the call fails on zeros, or gives what is no tensor.
Result<Value> deriveByExample(const TracedCall& call);

}  // namespace kerf::inline dynamo
