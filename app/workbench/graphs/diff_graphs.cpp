// How two graphs differ, node by node and as text.
#include <map>

#include <fmt/ranges.h>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/graphs/module_comparison.h"
#include "engine/compilation/recorded_provenance.h"
#include "engine/diff/correspondence.h"
#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

/// A node's call without its users, which change whenever any user does.
std::string callText(const Graph& graph, const Node& node) {
  std::vector<std::string> arguments;
  for (const auto& argument : node.args())
    arguments.push_back(printArgument(graph, argument, ArgumentStyle::GraphText));
  for (const auto& [name, value] : node.kwargs())
    arguments.push_back(name + " = " + printArgument(graph, value, ArgumentStyle::GraphText));
  return fmt::format("{}[{}]({})", opcodeName(node.op()), node.target(), fmt::join(arguments, ", "));
}

std::string metaText(const Node& node) { return printAnnotation(node.meta(), true, true); }

/// "relu", or "true_graph_0/relu" inside a nested graph.
std::string fullName(const std::string& path, const Node& node) {
  return path.empty() ? node.name() : path + "/" + node.name();
}

void addPair(GraphDifference& difference, const std::string& path, const Graph& a, const Graph& b,
             const NodeDelta& delta) {
  const auto& before = a.node(delta.before);
  const auto& after = b.node(delta.after);
  const auto name = fullName(path, after);
  ++difference.paired;
  if (delta.given) difference.given.push_back({fullName(path, before), name});
  if (delta.renamed) difference.renamed.emplace_back(fullName(path, before), name);
  if (delta.moved) difference.moved.push_back(name);
  if (delta.callChanged) difference.changed.push_back({name, callText(a, before), callText(b, after)});
  if (delta.metaChanged) difference.metaChanged.push_back({name, metaText(before), metaText(after)});
}

RewriteDoc rewriteDoc(const std::string& path, const Graph& a, const Graph& b, const Rewrite& rewrite) {
  RewriteDoc doc{
      std::string(rewriteKindName(rewrite.kind)), std::string(evidenceName(rewrite.evidence)), {}, {}, {}, {}};
  for (const NodeId id : rewrite.before) {
    doc.before.push_back(fullName(path, a.node(id)));
    doc.opsBefore.push_back(baseName(a.node(id)));
  }
  for (const NodeId id : rewrite.after) {
    doc.after.push_back(fullName(path, b.node(id)));
    doc.opsAfter.push_back(baseName(b.node(id)));
  }
  return doc;
}

/// Counts of all nested graphs together.
std::vector<OpCountDoc> opDocs(const ModuleComparison& comparison) {
  std::map<std::string, OpCountDoc> sums;
  for (const auto& [path, diff] : comparison.diffs)
    for (const OpCount& count : diff.ops) {
      OpCountDoc& sum = sums[count.op];
      sum.before += count.before;
      sum.after += count.after;
    }
  std::vector<OpCountDoc> docs;
  for (auto& [op, sum] : sums)
    if (sum.before != sum.after) docs.push_back({op, sum.before, sum.after});
  return docs;
}

}  // namespace

GraphDifference differenceOf(const ModuleComparison& comparison) {
  GraphDifference difference;
  difference.same = comparison.same();
  difference.text = comparison.text;
  difference.rows = sideBySideRows(comparison);
  difference.ops = opDocs(comparison);
  for (const auto& [path, diff] : comparison.diffs) {
    const auto& a = graphAt(comparison.before, path);
    const auto& b = graphAt(comparison.after, path);
    difference.nodesBefore += std::ssize(a.order());
    difference.nodesAfter += std::ssize(b.order());
    for (const Rewrite& rewrite : diff.rewrites) difference.rewritten.push_back(rewriteDoc(path, a, b, rewrite));
    for (const auto& delta : diff.nodes) {
      if (delta.rewritten()) continue;
      if (delta.gradient) ++(delta.removed() ? difference.gradientsRemoved : difference.gradientsAdded);
      if (delta.removed())
        difference.removed.push_back(fullName(path, a.node(delta.before)));
      else if (delta.added())
        difference.added.push_back(fullName(path, b.node(delta.after)));
      else
        addPair(difference, path, a, b, delta);
    }
  }
  return difference;
}

Result<GraphDifference> perform(Workbench& bench, const DiffRequest& request, const Job& job) {
  KERF_TRY(const auto before, resolveGraph(bench, request.before, job));
  KERF_TRY(const auto after, resolveGraph(bench, request.after, job));
  const RecordedOrigins recorded = recordedBetween(before.capture, before.index, after.capture, after.index);
  // Shapes are compared where both graphs have them.
  const auto first = shaped(before), second = first ? shaped(after) : first;
  if (!second) return differenceOf(compareModules(before.graph().module, after.graph().module, recorded));
  return differenceOf(compareModules(first->graph().module, second->graph().module, recorded));
}

}  // namespace kerf::workbench
