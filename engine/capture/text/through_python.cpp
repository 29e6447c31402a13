// throughPython: a graph that was read from another form, as its own Python text reads.
#include <algorithm>
#include <unordered_set>

#include "engine/capture/text/capture.h"
#include "engine/ir/parser.h"
#include "engine/ir/printer.h"

namespace kerf::inline capture {
namespace {

/// A graph from text has names that Python must be able to say: placeholders take their node's name where it cannot.
void makeTargetsLegal(Graph& graph) {
  std::unordered_set<std::string> seen;
  for (const NodeId id : graph.placeholders()) {
    const std::string& target = graph.node(id).target();
    const std::string_view bare =
        std::string_view(target).substr(std::min(target.find_first_not_of('*'), target.size()));
    if (!isPythonIdentifier(bare) || !seen.insert(std::string(bare)).second) graph.setTarget(id, graph.node(id).name());
  }
}

/// Lines, types and values of `from`'s nodes to the nodes of the same name.
void copyMeta(const Graph& from, Graph& to) {
  const std::vector<NodeId> order(to.order().begin(), to.order().end());
  for (const NodeId id : order)
    if (const auto source = from.find(to.node(id).name())) to.setMeta(id, from.node(*source).meta());
}

}  // namespace

Result<GraphModule> throughPython(GraphModule module) {
  makeTargetsLegal(module.graph);
  const std::string text = printReadable(module, {});
  auto read = parseReadable(text);
  if (!read) {
    read.error().message = "the graph cannot be written as Python: " + read.error().message;
    read.error().line = 0;
    return read;
  }
  copyMeta(module.graph, read->graph);
  if (module.submodules.empty()) return read;
  for (auto& [path, own] : read->submodules.edit())
    if (const Submodule* known = module.submodule(path); own.graph && known != nullptr && known->graph) own = *known;
  return read;
}

}  // namespace kerf::inline capture
