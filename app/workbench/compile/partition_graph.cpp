// perform(PartitionRequest): a joint graph at one or several memory budgets.
#include <algorithm>

#include "app/workbench/compile/static_inputs.h"
#include "app/workbench/protocol/partition.h"
#include "engine/ir/printer.h"
#include "engine/partition/partition.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto partitionTime = std::chrono::minutes(10);

/// "relu=must_save", by node.
Result<RecomputePolicies> policiesOf(const std::vector<std::string>& texts) {
  RecomputePolicies policies;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto policy = equals == text.npos ? std::nullopt : policyFromName(text.substr(equals + 1));
    if (!policy || equals == 0)
      return fail(ErrorCode::BadUsage,
                  "\"{}\" is not a NODE=POLICY; policies are must_save, prefer_save, must_recompute, prefer_recompute",
                  text);
    policies.insert_or_assign(text.substr(0, equals), *policy);
  }
  return policies;
}

Result<PartitionOptions> optionsOf(const PartitionRequest& request) {
  for (const double budget : request.budgets)
    if (!(budget >= 0 && budget <= 1))
      return fail(ErrorCode::BadUsage, "a memory budget lies between 0 (save the inputs alone) and 1; {} does not",
                  budget);
  PartitionOptions options;
  KERF_TRY(options.method, methodFromName(request.method));
  KERF_TRY(options.budget.solver, solverFromName(request.knapsack));
  KERF_TRY(options.budget.estimator, estimatorFromName(request.estimator));
  KERF_TRY(options.joint.policies, policiesOf(request.policies));
  return options;
}

std::string readableText(const GraphModule& module) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  std::string text = printReadable(module, options);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

/// "f32[16, 32]" of a value that the backward graph takes.
std::string valueText(const Graph& backward, const std::string& name) {
  const auto id = backward.find(name);
  return id ? printAnnotation(backward.node(*id).meta(), false, false) : std::string();
}

PartitionDoc docOf(const Partition& partition, double budget, bool withGraphs) {
  PartitionDoc doc{.budget = budget,
                   .symbols = partition.symbols,
                   .recomputed = partition.recomputed,
                   .forwardNodes = std::int64_t(partition.forward.graph.size()),
                   .backwardNodes = std::int64_t(partition.backward.graph.size()),
                   .savedBytes = partition.savedBytes,
                   .recomputedFlops = partition.recomputedFlops};
  for (const SavedValue& value : partition.saved)
    doc.saved.push_back({value.name, valueText(partition.backward.graph, value.name), value.bytes, value.rule});
  if (!withGraphs) return doc;
  doc.forward = readableText(partition.forward);
  doc.backward = readableText(partition.backward);
  return doc;
}

/// What comes back from the child.
struct BudgetDocs {
  std::vector<PartitionDoc> partitions;
  std::vector<std::string> staticInputs;

  KERF_FIELDS(partitions, staticInputs)
};

Result<BudgetDocs> partitionHere(const GraphModule& module, const PartitionOptions& options,
                                 const PartitionRequest& request) {
  std::vector<PartitionDoc> docs;
  auto start = Clock::now();
  KERF_TRY(Partitioner partitioner, Partitioner::read(module, options));
  for (const double budget : request.budgets) {
    KERF_TRY(const Partition partition, partitioner.at(budget));
    const auto end = Clock::now();
    docs.push_back(docOf(partition, budget, request.graphs));
    docs.back().time = end - start;
    start = Clock::now();
  }
  return BudgetDocs{std::move(docs), partitioner.staticInputs()};
}

bool isJoint(const Graph& graph) {
  return std::ranges::any_of(graph.placeholders(),
                             [&](NodeId id) { return jointInputOf(graph.node(id)) == JointInput::Tangent; });
}

}  // namespace

Result<PartitionReport> perform(Workbench& bench, const PartitionRequest& request, const Job& job) {
  KERF_TRY(PartitionOptions options, optionsOf(request));
  KERF_TRY(GraphSource found, resolveGraph(bench, request.graph, job));
  if (!isJoint(found.graph().module.graph))
    return fail(
        ErrorCode::BadInput,
        "{} is not a joint graph: none of its inputs is named tangents_…; with @stage:joint behind it, a forward "
        "graph becomes one",
        request.graph.text);
  KERF_TRY(const ShapedGraph source, shaped(std::move(found)));
  KERF_TRY(StaticInputs fixed, staticInputs(source, request.staticInputs));
  if (!fixed.names)
    job.note(
        "the graph does not say which inputs are parameters and buffers: those that get a gradient count as such "
        "and those whose first size is not the batch's, unless the number of static inputs is given");
  options.joint.staticInputs = fixed.names;
  const GraphModule& module = source.graph().module;
  const std::function body = [&] { return partitionHere(module, options, request); };
  KERF_TRY(BudgetDocs docs,
           inChild(body, patientLimits(partitionTime), job.stop, "partitioning", ErrorCode::CompileFailed));
  PartitionReport report{.staticInputs = std::move(docs.staticInputs), .staticSource = std::move(fixed.source)};
  report.partitions = std::move(docs.partitions);
  return report;
}

}  // namespace kerf::workbench
