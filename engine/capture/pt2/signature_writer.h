// JSON of the parts of an exported program around its graph: signature, calling convention, ranges of symbols.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/pt2/graph_writer.h"

namespace kerf::inline capture::pt2 {

/// The signature object. `constants` are the names of inputs lifted from attributes, which come first. Entries follow
/// the graph's signature where it has one that still fits, else everything is the caller's.
Result<std::string> signatureJson(const CapturedGraph& graph, const WrittenGraph& written,
                                  const std::vector<std::string>& constants);

/// module_call_graph of a program that takes `names` one by one and returns `outputs` values as a tuple.
std::string moduleCallGraphJson(const std::vector<std::string>& names, std::size_t outputs);

/// range_constraints: every symbol of the graph with its range, narrowed by the guards of the graph's shapes; a symbol
/// that nothing tells more of is at least 2, as PyTorch assumes of dynamic sizes.
std::string rangeConstraintsJson(const GraphModule& module);

/// Whether a graph's signature and archive still describe it: as many inputs and outputs as it has, by name.
bool keepsProgram(const CapturedGraph& graph);

}  // namespace kerf::inline capture::pt2
