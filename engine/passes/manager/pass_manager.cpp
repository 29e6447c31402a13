// The wrapper around every pass, on a module and the graphs nested in it.
#include "engine/passes/manager/pass_manager.h"

#include <algorithm>

#include "engine/passes/working_graph.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

using Clock = std::chrono::steady_clock;

/// Graphs nested deeper than this are left as they are.
constexpr int maxDepth = 100;

constexpr std::string_view stageNames[] = {"pre_grad", "joint", "post_grad", "lowering"};

Error inPass(Error error, const Pass& pass, std::string_view path) {
  error.while_(path.empty() ? fmt::format("while running pass {}", pass.name)
                            : fmt::format("while running pass {} on nested graph {}", pass.name, path));
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

void logPass(const PassRecord& record) {
  logAt(LogCategory::Passes, record.changed ? LogLevel::Debug : LogLevel::Trace, "{}{}: {} to {} nodes in {:.3f} ms",
        record.name, record.path.empty() ? "" : " in " + record.path, record.nodesBefore, record.nodesAfter,
        double(record.time.count()) / 1e6);
}

}  // namespace

std::string_view stageName(PassStage stage) { return stageNames[std::size_t(stage)]; }

class PassRun::Work {
 public:
  Work(std::span<const Pass> passes, std::span<PassObserver* const> observers, const GraphModule& module,
       std::stop_token stop)
      : m_passes(passes), m_observers(observers), m_stop(std::move(stop)), m_outermost(module) {
    tell(&PassObserver::beforePipeline, m_outermost.module());
  }

  Result<void> stage(PassStage stage) {
    tell(&PassObserver::beforeStage, stage, m_outermost.module());
    for (const Pass& pass : m_passes)
      if (pass.stage == stage) KERF_CHECK(run(pass));
    tell(&PassObserver::afterStage, stage, m_outermost.module());
    return {};
  }

  const std::vector<PassRecord>& records() const { return m_records; }
  const GraphModule& module() { return m_outermost.module(); }

  GraphModule finish() {
    tell(&PassObserver::afterPipeline, m_outermost.module());
    return std::move(m_outermost.module());
  }

 private:
  template <class... Hook, class... Arguments>
  void tell(void (PassObserver::*hook)(Hook...), const Arguments&... arguments) const {
    for (PassObserver* observer : m_observers) (observer->*hook)(arguments...);
  }

  /// Every observer is asked, also when one has refused already.
  bool isWanted(const Pass& pass) const {
    return std::ranges::count_if(m_observers, [&](PassObserver* o) { return !o->shouldRun(pass); }) == 0;
  }

  Result<void> run(const Pass& pass) {
    if (m_stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped before pass {}", pass.name);
    if (!isWanted(pass)) return {};
    ++m_turn;
    tell(&PassObserver::beforePass, pass, m_outermost.module());
    KERF_CHECK(runOn(m_outermost, pass, {}, 0));
    tell(&PassObserver::afterPass, pass, m_outermost.module());
    return {};
  }

  Result<void> runOn(WorkingGraph& graph, const Pass& pass, const std::string& path, int depth) {
    if (pass.scope == PassScope::NestedFirst && depth < maxDepth) {
      for (const auto& nested : graph.nested(m_pool))
        if (nested.graph->isFirstVisit(m_turn))
          KERF_CHECK(runOn(*nested.graph, pass, path.empty() ? nested.name : path + "." + nested.name, depth + 1));
      graph.takeNested(m_pool);
    }
    auto done = runAlone(graph, pass, path);
    if (!done) return fail(inPass(std::move(done).error(), pass, path));
    return {};
  }

  Result<void> runAlone(WorkingGraph& graph, const Pass& pass, const std::string& path) {
    tell(&PassObserver::beforeGraph, pass, std::string_view(path), graph.module());
    PassRecord record{.index = int(&pass - m_passes.data()), .name = pass.name, .stage = pass.stage, .path = path};
    record.nodesBefore = graph.module().graph.size();
    record.hashBefore = graph.hash();
    record.before = graph.snapshot();
    const auto start = Clock::now();
    KERF_CHECK(pass.run(graph.module(), {pass.options, path}));
    record.time = Clock::now() - start;
    if (graph.touched()) {
      KERF_CHECK(lintAfter(pass, graph.module().graph));
      record.changed = graph.takeChange();
    }
    record.nodesAfter = graph.module().graph.size();
    record.hashAfter = graph.hash();
    record.after = graph.snapshot();
    tell(&PassObserver::afterGraph, record, graph.module());
    logPass(record);
    m_records.push_back(std::move(record));
    return {};
  }

  std::span<const Pass> m_passes;
  std::span<PassObserver* const> m_observers;
  std::stop_token m_stop;
  WorkingGraph m_outermost;
  WorkingGraph::Pool m_pool;
  std::uint64_t m_turn = 0;  ///< passes run so far
  std::vector<PassRecord> m_records;
};

PassRun::PassRun(std::span<const Pass> passes, std::span<PassObserver* const> observers, const GraphModule& module,
                 std::stop_token stop)
    : m_work(std::make_unique<Work>(passes, observers, module, std::move(stop))) {}

PassRun::PassRun(PassRun&&) noexcept = default;
PassRun& PassRun::operator=(PassRun&&) noexcept = default;
PassRun::~PassRun() = default;

Result<void> PassRun::stage(PassStage stage) { return m_work->stage(stage); }
const std::vector<PassRecord>& PassRun::records() const { return m_work->records(); }
const GraphModule& PassRun::module() const { return m_work->module(); }
GraphModule PassRun::finish() { return m_work->finish(); }

Result<GraphModule> PassManager::run(const GraphModule& module, std::vector<PassRecord>* records,
                                     std::stop_token stop) const {
  PassRun run = start(module, std::move(stop));
  for (const PassStage stage : passStages) KERF_CHECK(run.stage(stage));
  if (records) records->insert(records->end(), run.records().begin(), run.records().end());
  return run.finish();
}

}  // namespace kerf::inline passes
