#include "engine/pipeline/node_divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"

namespace kerf::inline pipeline {
namespace {

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

struct Watched {
  NodeId id;
  std::int64_t bytes = 0;
};

/// One interpreter run tells which call nodes give tensors, and how large they are.
Result<std::vector<Watched>> findTensorNodes(const GraphModule& module, const ValueList& inputs, std::stop_token stop) {
  std::vector<Watched> found;
  KERF_TRY(const ValueList clones, cloneInputs(inputs, false));
  Interpreter interpreter(module, referenceOps());
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (isCall(node) && value.isTensor()) found.push_back({node.id(), value.tensor().byteSize()});
  };
  KERF_CHECK(interpreter.run(clones, stop));
  return found;
}

/// Copy of `module` that returns (its own outputs…, nodes…).
GraphModule withOutputs(const GraphModule& module, std::span<const Watched> nodes) {
  GraphModule extended = module;
  const NodeId output = extended.graph.outputNode();
  ArgumentList items;
  const ArgumentList original = extended.graph.node(output).args();
  if (!original.empty()) {
    if (const ListArgument* list = original[0].asList())
      items = list->items;
    else
      items.push_back(original[0]);
  }
  for (const auto& watched : nodes) items.emplace_back(watched.id);
  extended.graph.setArgs(output, {Argument::tuple(std::move(items))});
  return extended;
}

/// The last `count` outputs of a run.
Result<ValueList> tail(Result<Value> outputs, std::size_t count) {
  if (!outputs) return fail(std::move(outputs).error());
  if (!outputs->isList() || outputs->list().size() < count)
    return fail(ErrorCode::Internal, "the run returned fewer values than its graph has outputs");
  const ValueList& all = outputs->list();
  return ValueList(all.end() - std::ptrdiff_t(count), all.end());
}

Result<ValueList> interpretTail(const GraphModule& module, const ValueList& inputs, bool fp64, std::size_t count,
                                std::stop_token stop) {
  KERF_TRY(const ValueList clones, cloneInputs(inputs, fp64));
  const RandomScope random;
  if (!fp64) return tail(Interpreter(module, referenceOps()).run(clones, stop), count);
  KERF_TRY(const GraphModule cast, castToFp64(module));
  return tail(Interpreter(cast, referenceOps()).run(clones, stop), count);
}

Result<ValueList> compiledTail(const GraphModule& module, const ValueList& inputs, const CompileOptions& options,
                               std::size_t count, std::stop_token stop) {
  KERF_TRY(const auto compiled, compileFx(module, options, stop));
  KERF_TRY(const ValueList clones, cloneInputs(inputs, false));
  const RandomScope random;
  return tail(compiled->run(clones, stop), count);
}

NodeDivergence compareNode(const Node& node, const Value& ref, const Value& res, const Value& fp64,
                           const SameOptions& options) {
  NodeDivergence divergence;
  divergence.node = node.name();
  divergence.target = node.target();
  const SameReport report = same(ref, res, fp64, options);
  divergence.same = report.same;
  if (report.outputs.empty()) return divergence;
  const OutputVerdict& verdict = report.outputs.front();
  divergence.rmseRes = verdict.rmseRes;
  divergence.rmseRef = verdict.rmseRef;
  divergence.ratioToLimit = verdict.ratioToLimit;
  divergence.maxAbsError = verdict.maxAbsError;
  return divergence;
}

/// Compares one chunk of nodes and appends; a failing compiled side ends in report.failure.
Result<void> compareChunk(const GraphModule& module, const ValueList& inputs, std::span<const Watched> chunk,
                          const NodeDivergenceOptions& options, std::stop_token stop, NodeDivergenceReport& report) {
  const GraphModule extended = withOutputs(module, chunk);
  KERF_TRY(const ValueList ref, interpretTail(extended, inputs, false, chunk.size(), stop));
  ValueList truth(chunk.size());
  if (options.compare.useFp64) {
    auto fp64 = interpretTail(extended, inputs, true, chunk.size(), stop);
    if (fp64)
      truth = std::move(*fp64);
    else if (fp64.error().code == ErrorCode::Cancelled || options.compare.requireFp64)
      return fail(fp64.error());
    else
      report.fp64Note = fp64.error().text();
  }
  const auto res = compiledTail(extended, inputs, options.compile, chunk.size(), stop);
  if (!res) {
    if (res.error().code == ErrorCode::Cancelled) return fail(res.error());
    report.failure = res.error().text();
    return {};
  }
  for (std::size_t i = 0; i < chunk.size(); ++i)
    report.nodes.push_back(
        compareNode(module.graph.node(chunk[i].id), ref[i], (*res)[i], truth[i], options.compare.sameOptions()));
  return {};
}

/// Length of the next chunk: at least one node, and no more than fits.
std::size_t chunkLength(std::span<const Watched> rest, std::int64_t limit) {
  std::int64_t bytes = 0;
  std::size_t count = 0;
  while (count < rest.size() && (count == 0 || bytes + rest[count].bytes <= limit)) bytes += rest[count++].bytes;
  return count;
}

/// Sets firstBad. Badness flows through nodes that were not compared themselves (tuples).
void markFirstBad(const Graph& graph, std::vector<NodeDivergence>& nodes) {
  std::unordered_map<NodeId, NodeDivergence*> compared;
  for (auto& divergence : nodes)
    if (const auto id = graph.find(divergence.node)) compared.emplace(*id, &divergence);
  std::unordered_set<NodeId> bad;
  for (const NodeId id : graph.order()) {
    const auto inputs = graph.node(id).inputs();
    const bool fed = std::ranges::any_of(inputs, [&](NodeId input) { return bad.contains(input); });
    const auto found = compared.find(id);
    if (found != compared.end()) found->second->firstBad = !found->second->same && !fed;
    if (found != compared.end() ? !found->second->same : fed) bad.insert(id);
  }
}

}  // namespace

Result<NodeDivergenceReport> nodeDivergence(const GraphModule& module, const ValueList& inputs,
                                            const NodeDivergenceOptions& options, std::stop_token stop) {
  NodeDivergenceReport report;
  KERF_TRY(const auto watched, findTensorNodes(module, inputs, stop));
  std::span<const Watched> rest = watched;
  while (!rest.empty() && report.failure.empty()) {
    const std::size_t count = chunkLength(rest, options.chunkBytes);
    KERF_CHECK(compareChunk(module, inputs, rest.first(count), options, stop, report));
    rest = rest.subspan(count);
  }
  markFirstBad(module.graph, report.nodes);
  return report;
}

std::vector<std::size_t> rankDivergence(const std::vector<NodeDivergence>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto severity = [&](std::size_t i) { return nodes[i].firstBad ? 2 : nodes[i].same ? 0 : 1; };
  const auto ratio = [&](std::size_t i) {
    return std::isnan(nodes[i].ratioToLimit) ? std::numeric_limits<double>::infinity() : nodes[i].ratioToLimit;
  };
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::tuple(-severity(i), -ratio(i), i); });
  return order;
}

}  // namespace kerf::inline pipeline
