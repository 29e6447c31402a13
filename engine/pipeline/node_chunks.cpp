#include "engine/pipeline/node_chunks.h"

#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/random/state.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline pipeline {
namespace {

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

/// By the recorded shapes; none where a call has none.
std::optional<std::vector<WatchedNode>> watchedByShapes(const Graph& graph) {
  std::vector<WatchedNode> found;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!isCall(node)) continue;
    const auto value = valueOf(node.meta().value);
    if (!value) return {};
    if (!value->isTensor()) continue;
    if (value->tensor().isSymbolic()) return {};
    found.push_back({id, value->tensor().byteSize()});
  }
  return found;
}

Result<std::vector<WatchedNode>> watchedByRunning(const GraphModule& module, const ValueList& inputs,
                                                  std::stop_token stop) {
  const ResultNames names(module);
  KERF_TRY(const GraphModule own, withOwnAttributes(module, names.attributes));
  KERF_TRY(const ValueList given, inputsForRun(inputs, names));
  std::vector<WatchedNode> found;
  Interpreter interpreter(own, referenceOps());
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (isCall(node) && value.isTensor()) found.push_back({node.id(), value.tensor().byteSize()});
  };
  const RandomScope random;
  KERF_CHECK(interpreter.run(given, std::move(stop)));
  return found;
}

/// A copy of `node`'s value at the place where it is computed.
NodeId snapshot(Graph& graph, NodeId node) {
  graph.insertAfter(node);
  const NodeId copy =
      graph.callFunction("torch.ops.aten.clone.default", {Argument(node)}, {}, graph.node(node).name() + "_snapshot");
  graph.setValueMeta(copy, graph.node(node).meta().value);
  graph.insertAtEnd();
  return copy;
}

/// Returns `nodes`, after the graph's own outputs or in their place; what these alone need goes.
GraphModule withOutputs(GraphModule module, std::span<const WatchedNode> nodes, bool keepsOwn) {
  Graph& graph = module.graph;
  const AliasGroups aliases(graph);
  std::vector<NodeId> returned;
  for (const WatchedNode& watched : nodes)
    returned.push_back(aliases.mutated(watched.id) ? snapshot(graph, watched.id) : watched.id);
  const NodeId output = graph.outputNode();
  ArgumentList items;
  const ArgumentList original = graph.node(output).args();
  if (keepsOwn && !original.empty()) {
    if (const ListArgument* list = original[0].asList())
      items = list->items;
    else
      items.push_back(original[0]);
  }
  for (const NodeId id : returned) items.emplace_back(id);
  graph.setArgs(output, {Argument::tuple(std::move(items))});
  if (!keepsOwn) graph.eliminateDeadCode(mustStay);
  return module;
}

}  // namespace

Result<std::vector<WatchedNode>> watchedNodes(const GraphModule& module, const ValueList& inputs,
                                              std::stop_token stop) {
  if (auto known = watchedByShapes(module.graph)) return std::move(*known);
  return watchedByRunning(module, inputs, std::move(stop));
}

std::vector<std::span<const WatchedNode>> cutIntoChunks(std::span<const WatchedNode> nodes, std::int64_t bytes) {
  std::vector<std::span<const WatchedNode>> chunks;
  while (!nodes.empty()) {
    std::int64_t taken = 0;
    std::size_t count = 0;
    while (count < nodes.size() && (count == 0 || taken + nodes[count].bytes <= bytes)) taken += nodes[count++].bytes;
    chunks.push_back(nodes.first(count));
    nodes = nodes.subspan(count);
  }
  return chunks;
}

Result<CompiledChunk> CompiledChunk::compile(const GraphModule& module, std::span<const WatchedNode> nodes,
                                             bool keepsOwnOutputs, const CompileOptions& options,
                                             std::stop_token stop) {
  const ResultNames names(module);
  KERF_TRY(GraphModule own, withOwnAttributes(module, names.attributes));
  CompiledChunk chunk;
  chunk.m_attributes = attributeValues(own, names.attributes);
  chunk.m_count = nodes.size();
  KERF_TRY(chunk.m_graph, compileFx(withOutputs(std::move(own), nodes, keepsOwnOutputs), options, std::move(stop)));
  return chunk;
}

Result<ValueList> CompiledChunk::run(const ValueList& inputs, std::stop_token stop) {
  const RandomScope random;
  KERF_TRY(const Value outputs, m_graph->run(inputs, std::move(stop)));
  if (!outputs.isList() || outputs.list().size() < m_count)
    return fail(ErrorCode::Internal, "the run returned fewer values than its graph has outputs");
  const ValueList& all = outputs.list();
  return ValueList(all.end() - std::ptrdiff_t(m_count), all.end());
}

}  // namespace kerf::inline pipeline
