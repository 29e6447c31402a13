#include "app/workbench/run/divergence_child.h"

#include <unordered_map>

#include "app/workbench/run/value_figures.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

/// What the child sends while it works.
struct ComparedNode {
  NodeDivergence node;
  NodeProgress progress;
  std::vector<SideFigures> values;  ///< empty unless asked for

  KERF_FIELDS(node, progress, values)
};

/// The rows that came so far, and what the job hears of them.
class RowsSoFar {
 public:
  /// `values`: where figures of values go; null where there are none.
  RowsSoFar(const Job& job, std::vector<NodeFigures>* values) : m_job(job), m_values(values) {}

  void add(const ComparedNode& compared) {
    const auto [known, isNew] = m_places.try_emplace(compared.node.node, m_rows.size());
    if (isNew)
      m_rows.push_back(compared.node);
    else
      m_rows[known->second] = compared.node;
    tell(compared);
    if (m_values == nullptr || compared.values.empty()) return;
    const auto [at, first] = m_valuePlaces.try_emplace(compared.node.node, m_values->size());
    if (first) m_values->push_back({compared.node.node, {}});
    (*m_values)[at->second].sides = compared.values;
  }
  std::vector<NodeDivergence> take() { return std::move(m_rows); }

 private:
  void tell(const ComparedNode& compared) {
    const auto& [done, total] = compared.progress;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - m_began;
    const double left = done > 0 ? elapsed.count() * double(total - done) / double(done) : -1;
    m_job.tell(NodeEvent{compared.node.node, compared.node.target, compared.node.same, compared.node.ratioToLimit, done,
                         total, left});
    (void)m_job.progress(fmt::format("comparing nodes: {} of {}", done, total),
                         total > 0 ? double(done) / double(total) : 0);
  }

  const Job& m_job;
  std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::vector<NodeDivergence> m_rows;
  std::unordered_map<std::string, std::size_t> m_places, m_valuePlaces;
  std::vector<NodeFigures>* m_values;
};

Result<NodeDivergenceReport> runInChild(const Candidate& candidate, const EngineOracleOptions& options, const Job& job,
                                        std::vector<NodeFigures>* values) {
  NodeDivergenceOptions divergence;
  divergence.compile = options.compile;
  divergence.compile.keepArtifacts = false;
  divergence.compare = options.compare;
  std::vector<SideFigures> sides;
  if (values != nullptr)
    divergence.onValues = [&](const Value& compiled, const Value& interpreted, const Value& fp64) {
      sides = sideFigures({{"interpreter", &interpreted}, {"compiled", &compiled}, {"fp64", &fp64}});
    };
  const std::function body = [&](const SendEvent& send) {
    divergence.onNode = [&](const NodeDivergence& node, const NodeProgress& progress) {
      send(encode(ComparedNode{node, progress, std::exchange(sides, {})}));
    };
    return nodeDivergence(candidate.module, candidate.inputs, divergence);
  };
  RowsSoFar rows(job, values);
  const auto follow = [&](std::string_view event) {
    if (const auto compared = decode<ComparedNode>(event, "a compared node")) rows.add(*compared);
  };
  KERF_TRY(auto ended, callIsolated<NodeDivergenceReport>(body, options.limits, job.stop, follow));
  if (ended.answer) return std::move(*ended.answer);
  const auto end =
      errorOfEnd(ended.outcome, "the compiled side, while its nodes were compared,", ErrorCode::RuntimeFailed);
  if (end.code == ErrorCode::Cancelled) return fail(ErrorCode::Cancelled, "stopped while comparing nodes");
  NodeDivergenceReport report;
  report.failure = end.message;
  report.nodes = rows.take();
  markFirstBad(candidate.module, report.nodes);
  return report;
}

}  // namespace

Result<NodeDivergenceReport> divergenceInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                               const Job& job) {
  return runInChild(candidate, options, job, nullptr);
}

Result<NodeDivergenceReport> divergenceWithValues(const Candidate& candidate, const EngineOracleOptions& options,
                                                  const Job& job, std::vector<NodeFigures>& values) {
  return runInChild(candidate, options, job, &values);
}

}  // namespace kerf::workbench
