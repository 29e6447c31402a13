// What a call at Python's level (torch.nn.functional.relu, x.view) does to memory, where no schema says so.
//
//     v = x.view(-1): shares x          y = torch.relu_(x): writes x          z = torch.conv2d(x, w): neither
#pragma once

#include <optional>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline passes {

struct PythonMemory {
  std::vector<NodeId> written;
  bool mayShare = false;  ///< whether the result may be or look at an operand
};

/// By the ATen overloads of that name, the Python functions known to return their argument, and PyTorch's conventions
/// ("add_", inplace=True, out=). None where nothing is known of the call: it may do anything.
std::optional<PythonMemory> pythonMemory(const Node& node);

}  // namespace kerf::inline passes
