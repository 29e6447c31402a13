#include "app/workbench/compile/pass_trace.h"

#include <algorithm>
#include <set>

#include "engine/ir/printer.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr auto trainingTime = std::chrono::minutes(10);

/// Rows in the order of the compilation: passes as they run, then the stage that they belong to, if it had none.
class RowCollector : public PassObserver {
 public:
  void afterGraph(const PassRecord& record, const GraphModule&) override {
    m_trace.passes.push_back(passDoc(record));
    add(record.hashBefore.hex(), record.before.get());
    add(record.hashAfter.hex(), record.after.get());
  }

  void stage(const StageRecord& record) {
    const bool hadPasses = m_trace.passes.size() > m_known;
    for (std::size_t i = m_known; i < m_trace.passes.size(); ++i) m_trace.passes[i].part = record.part;
    if (!hadPasses) m_trace.passes.push_back(rowOf(record));
    m_known = m_trace.passes.size();
  }

  PassTrace take() {
    for (std::size_t i = 0; i < m_trace.passes.size(); ++i) m_trace.passes[i].index = int(i);
    return std::move(m_trace);
  }

 private:
  PassDoc rowOf(const StageRecord& record) {
    PassDoc row;
    row.name = record.name == record.group ? "(no pass)" : record.name;
    row.stage = record.group;
    row.part = record.part;
    row.nodesBefore = int(record.nodesBefore);
    row.nodesAfter = int(record.nodesAfter);
    row.milliseconds = std::chrono::duration<double, std::milli>(record.time).count();
    row.changed = record.changed;
    if (record.before == nullptr) return row;
    row.hashBefore = record.before->contentHash().hex();
    row.hashAfter = record.after->contentHash().hex();
    add(row.hashBefore, record.before.get());
    add(row.hashAfter, record.after.get());
    if (!record.changed) return row;
    row.added = namesMissing(*record.after, *record.before);
    row.removed = namesMissing(*record.before, *record.after);
    return row;
  }

  void add(const std::string& hash, const Graph* graph) {
    if (graph != nullptr && m_seen.insert(hash).second)
      m_trace.snapshots.push_back({hash, printGraphText(*graph), int(graph->size())});
  }

  PassTrace m_trace;
  std::size_t m_known = 0;  ///< rows whose part is known
  std::set<std::string> m_seen;
};

Result<PassTrace> traceHere(const AotSubject& subject, const StageChoice& joint, const PassConfig& config) {
  KERF_TRY(const auto passes, selectPasses(config, compilerPasses()));
  RowCollector rows;
  CompileOptions options{.passes = config, .observers = {&rows}, .keepArtifacts = false};
  options.goal = CompileGoal::Training;
  options.aot = {subject.inputs, subject.requiresGrad, joint.table, true};
  options.onStage = [&rows](const StageRecord& record) { rows.stage(record); };
  const auto compiled = compileFx(subject.module, options);
  PassTrace trace = rows.take();
  trace.config = config.text();
  trace.options = optionDocs(passes);
  const bool isPartitioned = std::ranges::count(trace.passes, "partition", &PassDoc::stage) > 0;
  if (!compiled && (!isPartitioned || compiled.error().code == ErrorCode::Cancelled)) return fail(compiled.error());
  if (!compiled) trace.failure = compiled.error().text();
  return trace;
}

}  // namespace

Result<PassTrace> traceTraining(const CapturedGraph& captured, const StageChoice& joint, const PassConfig& config,
                                const Job& job) {
  const AotSubject subject = aotSubject(captured, AotStage::Joint, job);
  const std::function body = [&] { return traceHere(subject, joint, config); };
  return inChild(body, patientLimits(trainingTime), job.stop, "compiling for training", ErrorCode::CompileFailed);
}

}  // namespace kerf::workbench
