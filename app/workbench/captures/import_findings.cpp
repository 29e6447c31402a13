#include "app/workbench/captures/import_findings.h"

#include <set>

#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t smallBytes = 4u << 20;

class NoSubgraphs : public SubgraphCaller {
  Result<Value> callSubgraph(std::string_view path, const ValueList&) const override {
    return fail(ErrorCode::NotFound, "{} is not here", path);
  }
};

/// Rows of the op table, and what graphs call beside those: Python's own functions, higher-order ops. A call without
/// arguments fails either way, but only an unknown one as UnsupportedOp.
bool isKnown(const std::string& target) {
  if (findOp(target) != nullptr) return true;
  const bool nested = target.starts_with("torch.ops.higher_order.");
  const auto outcome =
      nested ? referenceOps().callHigherOrder(target, {}, {}, NoSubgraphs()) : referenceOps().call(target, {}, {});
  return outcome || outcome.error().code != ErrorCode::UnsupportedOp;
}

/// What the graph calls, and the graphs within it.
void collectTargets(const GraphModule& module, std::set<std::string>& targets, int depth = 0) {
  constexpr int deepest = 50;
  for (const auto id : module.graph.order()) {
    const auto& node = module.graph.node(id);
    if (node.op() == Opcode::CallFunction) targets.insert(node.target());
  }
  for (const auto& [path, nested] : module.submodules)
    if (nested.graph && depth < deepest) collectTargets(*nested.graph, targets, depth + 1);
}

std::vector<std::string> unknownOps(const GraphModule& module) {
  std::set<std::string> targets;
  collectTargets(module, targets);
  std::erase_if(targets, isKnown);
  return {targets.begin(), targets.end()};
}

std::vector<std::string> missingStorages(const CapturedGraph& graph) {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (const auto& storage : graph.storages) {
    const bool there =
        storage.data || storage.file || fs::is_regular_file(graph.storageDirectory / storage.hash, ignored);
    if (!storage.hash.empty() && !there) missing.push_back(storage.hash);
  }
  return missing;
}

ImportedGraph importedGraph(const CapturedGraph& graph, const std::string& id) {
  ImportedGraph imported;
  imported.id = id;
  imported.name = graph.name;
  imported.compileId = graph.origin.compileId;
  imported.stage = graph.origin.stage;
  imported.rank = graph.origin.rank;
  imported.line = graph.origin.line;
  if (graph.pending) return imported;
  imported.nodes = int(graph.module.graph.size());
  imported.inputs = int(graph.module.graph.placeholders().size());
  imported.storages = int(graph.storages.size());
  imported.unknownOps = unknownOps(graph.module);
  imported.missingStorages = missingStorages(graph);
  return imported;
}

std::uintmax_t bytesOf(const Capture& capture) {
  std::error_code ignored;
  std::uintmax_t total = 0;
  for (const auto& file : capture.files) {
    const auto size = fs::file_size(file, ignored);
    if (!ignored) total += size;
  }
  return total;
}

}  // namespace

Result<void> parseGraphs(Capture& capture, ImportRequest::Parse parse, const Job& job) {
  if (parse == ImportRequest::Parse::Small && bytesOf(capture) > smallBytes) return {};
  std::size_t done = 0;
  for (auto& graph : capture.graphs) {
    if (job.stop.stop_requested())
      return fail(ErrorCode::Cancelled, "stopped while reading the graphs of {}", capture.path.string());
    if (const auto loaded = graph.ensureLoaded(); !loaded)
      capture.notes.push_back(fmt::format("graph {} cannot be read: {}", graph.name, loaded.error().text()));
    (void)job.progress("reading graphs", double(++done) / double(capture.graphs.size()));
  }
  return {};
}

ImportedCapture importedCapture(const Capture& capture, std::int64_t id) {
  ImportedCapture imported{fmt::format("c{}", id), capture.path.string(), capture.kind, capture.torchVersion};
  if (capture.details) {
    imported.compiles = std::ssize(capture.details->compiles);
    imported.records = std::ssize(capture.details->records);
  }
  for (std::size_t i = 0; i < capture.graphs.size(); ++i)
    imported.graphs.push_back(importedGraph(capture.graphs[i], fmt::format("c{}/g{}", id, i + 1)));
  imported.notes = capture.notes;
  return imported;
}

}  // namespace kerf::workbench
