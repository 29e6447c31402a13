// Assert removal: calls that only say what is known already, or only mark time, go.
//
//     a = addmm(b, x, w); _assert_tensor_metadata(a, None, None, float16); y = relu(a)      →      a = …; y = relu(a)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// aten._assert_tensor_metadata where the tensor's meta says the same (torch._inductor's remove_assert_ops drops all),
/// and profiler.* marks whose results only other marks read (remove_profiler_ops). They keep a value alive and its
/// users from being fused.
Pass removeAssertOpsPass();

}  // namespace kerf::inline passes
