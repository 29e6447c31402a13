// Graphs as ExecuTorch prints them: names of the edge dialect, planned memory, and out overloads.
//
//     executorch_exir_dialects_edge__ops_aten_add_Tensor(x, y)      →      torch.ops.aten.add.Tensor(x, y)
//     alloc = executorch_exir_memory_alloc(((4,), torch.float32))   →      torch.ops.aten.empty.memory_format([4], …)
//     m = torch.ops.aten.mul.out(x, y, out = alloc)                 →      copy_(alloc, torch.ops.aten.mul.Tensor(x, y))
#pragma once

#include <string>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// Reads these calls as the ATen calls that compute the same; `notes` hears of out overloads.
void readExecutorchCalls(GraphModule& module, std::vector<std::string>* notes);

}  // namespace kerf::inline capture
