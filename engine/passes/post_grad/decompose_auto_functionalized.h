// Auto-functionalized calls: the op that writes, on copies of what it writes into, or on that itself where it dies.
//
//     f = auto_functionalized(ns.add_to.default, x=a, y=b); r = f[1]      →      c = clone(a); ns.add_to(c, b); r = c
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// auto_functionalized and auto_functionalized_v2 of ops that Kerf has a row for (torch._inductor's
/// decompose_auto_functionalized). With `reinplace` a dying operand is written without a copy. Off by default: the
/// wrapper runs as it is, and writes keep kernels from being fused.
Pass decomposeAutoFunctionalizedPass();

}  // namespace kerf::inline passes
