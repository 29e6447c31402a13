// Modules of torch.nn that a graph knows only by their repr: calling them, and the parameters that they have.
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Builds the module as PyTorch's constructor does (in training mode; weights seeded by `path`) and calls it with
/// `parameters` ("weight", "bias") in place of its own where they are given. UnsupportedOp for reprs that are no Python
/// call and for modules outside the table.
Result<Value> callNnModule(std::string_view path, std::string_view repr, const ValueList& inputs, const OpCaller& ops,
                           const KeywordValues& parameters = {});

/// The parameters with which callNnModule builds the module, by name; none for what it cannot build.
std::vector<std::pair<std::string, Tensor>> nnModuleParameters(std::string_view path, std::string_view repr);

/// Gives every such module that `module` calls its parameters as attributes: "fc1.weight", "fc1.bias". What is there
/// already stays.
void addNnModuleParameters(GraphModule& module);

}  // namespace kerf::inline ops
