// CallCase: one call of one overload with the values of its arguments, right or wrong, and the graphs around it.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::wrongcalls {

struct CallCase {
  const OpInfo* op = nullptr;
  ValueList args;
  KeywordValues kwargs;
  ValueMeta claimed;                ///< what the valid call gives, as a graph's text would still say
  std::vector<std::string> wrongs;  ///< what was changed in a valid call: "self: another dtype"
};

/// Where the call stands in its graph.
enum class Surroundings {
  Alone,   ///< its tensors are inputs, its results outputs
  Within,  ///< its tensors are copies of inputs, and its float results are used again
};

/// What the graph says of the call's result.
enum class Annotation { None, Derived, Claimed };

struct CaseGraph {
  GraphModule module;
  ValueList inputs;  ///< not copied
};

/// Placeholders with the tensors' own sizes and strides, the call, and an output.
CaseGraph graphOf(const CallCase& call, Surroundings surroundings, Annotation annotation = Annotation::None);

/// Values with tensors on memory of their own, which between them share what the given ones share. Each storage ends
/// where a page ends that nobody may touch, and begins behind another.
ValueList guardedCopies(const ValueList& values);

/// "aten.add.Tensor(f32[2, 3], 2, alpha = True)", and what is wrong.
std::string textOf(const CallCase& call);

/// The target of a call of the op: "torch.ops.aten.add.Tensor".
std::string targetOf(const OpInfo& op);

}  // namespace kerf::wrongcalls
