// Dead code elimination: drops nodes that nobody uses, unless something would be missed.
//
//     a = relu(x); b = exp(x); return (a,)      →      a = relu(x); return (a,)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Mutation, asserts, random, unknown ops and submodule calls stay. So do all placeholders.
Pass dcePass();

}  // namespace kerf::inline passes
