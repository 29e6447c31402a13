// PassManager: the one wrapper around every pass, and the list of default passes.
#include "engine/passes/pass_manager.h"

#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/no_op_removal.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

using Clock = std::chrono::steady_clock;

bool allWantToRun(const std::vector<PassObserver*>& observers, const Pass& pass) {
  bool wanted = true;
  for (PassObserver* observer : observers) wanted = observer->shouldRun(pass) && wanted;
  return wanted;
}

Error inPass(Error error, const Pass& pass) {
  error.while_(fmt::format("while running pass {}", pass.name));
  return error;
}

/// A pass that leaves a broken graph behind is a bug of Kerf, whatever lint calls it.
Result<void> lintAfter(const Pass& pass, const Graph& graph) {
  const Result<void> linted = graph.lint();
  if (linted) return {};
  Error error = linted.error();
  error.code = ErrorCode::Internal;
  error.message = fmt::format("pass {} broke the graph: {}", pass.name, error.message);
  return fail(std::move(error));
}

/// Runs pass and tampering on `module`, a private copy, and times the pass.
Result<void> runOnCopy(const Pass& pass, const std::vector<PassObserver*>& observers, GraphModule& module,
                       PassRecord& record) {
  const auto start = Clock::now();
  const Result<bool> changed = pass.run(module);
  record.time = Clock::now() - start;
  if (!changed) return fail(inPass(changed.error(), pass));
  for (PassObserver* observer : observers) {
    const Result<void> tampered = observer->tamper(pass, module);
    if (!tampered) return fail(inPass(tampered.error(), pass));
  }
  return lintAfter(pass, module.graph);
}

void logPass(const PassRecord& record) {
  logAt(LogCategory::Passes, record.changed ? LogLevel::Debug : LogLevel::Trace, "{}: {} to {} nodes in {:.3f} ms",
        record.name, record.nodesBefore, record.nodesAfter, double(record.time.count()) / 1e6);
}

}  // namespace

Result<GraphModule> PassManager::run(const GraphModule& module, std::vector<PassRecord>* records) const {
  GraphModule current = module;
  GraphSnapshot snapshot = std::make_shared<const Graph>(current.graph);
  Hash128 hash = current.graph.contentHash();
  int index = -1;
  for (const Pass& pass : m_passes) {
    ++index;
    if (!allWantToRun(m_observers, pass)) continue;
    for (PassObserver* observer : m_observers) observer->beforePass(pass, current);
    PassRecord record{.index = index, .name = pass.name, .stage = pass.stage};
    record.nodesBefore = current.graph.size();
    record.hashBefore = hash;
    record.before = snapshot;
    GraphModule next = current;
    KERF_CHECK(runOnCopy(pass, m_observers, next, record));
    record.hashAfter = next.graph.contentHash();
    record.changed = record.hashAfter != hash;
    if (record.changed) {
      current = std::move(next);
      snapshot = std::make_shared<const Graph>(current.graph);
      hash = record.hashAfter;
    }
    record.after = snapshot;
    record.nodesAfter = current.graph.size();
    for (PassObserver* observer : m_observers) observer->afterPass(record, current);
    logPass(record);
    if (records) records->push_back(std::move(record));
  }
  return current;
}

std::vector<Pass> defaultPasses() { return {noOpRemovalPass(), constantFoldingPass(), csePass(), dcePass()}; }

}  // namespace kerf::inline passes
