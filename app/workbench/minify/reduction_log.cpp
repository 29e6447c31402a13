#include "app/workbench/minify/reduction_log.h"

#include "engine/capture/repro/writer.h"
#include "engine/process/temporary_folder.h"
#include "minifier/core/slip_log.h"

namespace kerf::workbench {

Result<Capture> captureOf(const Candidate& candidate, const GraphSource& like) {
  KERF_TRY(auto graph, makeCapturedGraph(candidate.module, candidate.inputs, &like.graph()));
  return makeCapture(std::move(graph), like.capture);
}

std::vector<StepRow> undoneSteps(const std::vector<StepRow>& rows) {
  std::vector<StepRow> taken, undone;
  for (const StepRow& row : rows) {
    if (row.reduction != undoStep) {
      taken.push_back(row);
      continue;
    }
    const auto kept = std::ranges::find(taken, row.graphHash, &StepRow::graphHash);
    if (kept == taken.end() || std::next(kept) == taken.end()) continue;
    undone.push_back(*std::next(kept));
    taken.erase(std::next(kept), taken.end());
  }
  return undone;
}

Result<Candidate> ReductionLog::candidateOf(const StepRow& row) {
  KERF_TRY(const auto folder, TemporaryFolder::create());
  KERF_TRY(const auto file, m_store.materializeStep(row.id, folder.path()));
  KERF_TRY(auto capture, importCapture(file));
  auto& graph = capture.graphs.at(0);
  KERF_CHECK(graph.annotateShapes());
  KERF_TRY(auto inputs, graph.loadInputs(false, nullptr));
  return Candidate{std::move(graph.module), std::move(inputs)};  // its files stay readable after the folder is gone
}

Result<std::vector<Candidate>> ReductionLog::undone() {
  const std::scoped_lock lock(m_mutex);
  std::vector<Candidate> candidates;
  if (!m_resumed) return candidates;
  KERF_TRY(const auto rows, m_store.steps(*m_id));
  for (const StepRow& row : undoneSteps(rows)) {
    KERF_TRY(auto candidate, candidateOf(row));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Result<std::optional<Candidate>> ReductionLog::resume() {
  const std::scoped_lock lock(m_mutex);
  KERF_TRY(const auto found, m_store.resumable(m_graphId, m_oracle));
  if (!found) return std::nullopt;
  KERF_TRY(const auto steps, m_store.steps(found->id));
  if (steps.empty()) return std::nullopt;
  KERF_TRY(auto candidate, candidateOf(steps.back()));
  m_id = found->id;
  m_resumed = true;
  m_lastIndex = steps.back().index;
  m_startNodes = found->startNodes;
  m_bestNodes = steps.back().nodes;
  m_testsBefore = found->tests;
  m_fingerprint = steps.back().fingerprint;
  KERF_TRY(const auto slips, m_store.slips(found->id));
  for (const SlipRow& slip : slips) m_slips[failureName(slip.fingerprint)] = {slip.number, slip.nodes, slip.tests};
  return candidate;
}

Result<void> ReductionLog::goBack(MinifyStep step, const Candidate& candidate) {
  step.reduction = undoStep;
  return accept(step, candidate);
}

Result<void> ReductionLog::accept(const MinifyStep& step, const Candidate& candidate) {
  const auto nodes = int(step.size.nodes);
  m_fingerprint = step.fingerprint;
  if (m_resumed && step.index == 0 && step.reduction != undoStep) return {};  // the step it was resumed from
  KERF_TRY(const auto capture, captureOf(candidate, m_like));
  KERF_TRY(const auto stored, storableGraph(capture, 0));
  const std::scoped_lock lock(m_mutex);
  if (!m_id) {
    m_startNodes = nodes;
    KERF_TRY(m_id, m_store.startReduction({0, m_graphId, m_oracle, "running", "", nodes, nodes, 0, step.fingerprint}));
  }
  const StepRow row{0,
                    *m_id,
                    m_lastIndex + 1,
                    m_testsBefore + step.test,
                    step.reduction,
                    stored.row.hash,
                    step.fingerprint,
                    nodes,
                    int(step.size.outputs),
                    step.size.inputBytes,
                    step.elapsed.count()};
  KERF_CHECK(m_store.addStep(row, stored.row));
  ++m_lastIndex;
  m_bestNodes = nodes;
  return {};
}

std::string ReductionLog::slipText(const Slip& slip) const {
  const auto known = m_slips.find(failureName(slip.fingerprint));
  return m_id && known != m_slips.end() ? fmt::format("m{}/slip{}", *m_id, known->second.number) : std::string();
}

Result<void> ReductionLog::keep(const Slip& slip) {
  const std::scoped_lock lock(m_mutex);
  const auto nodes = int(slip.size.nodes);
  const auto known = m_slips.find(failureName(slip.fingerprint));
  const bool isNew = known == m_slips.end();
  const bool isBetter = !isNew && std::pair(nodes, -slip.tests) < std::pair(known->second.nodes, -known->second.tests);
  if (!m_id || (isNew && m_slips.size() >= SlipLog::mostFindings) || (!isNew && !isBetter)) return {};
  const int number = isNew ? int(m_slips.size()) + 1 : known->second.number;
  KERF_TRY(const auto capture, captureOf(slip.candidate, m_like));
  KERF_TRY(const auto stored, storableGraph(capture, 0));
  KERF_CHECK(m_store.putSlip({0, *m_id, number, slip.fingerprint, slip.detail, slip.tests, stored.row.hash, nodes},
                             stored.row));
  m_slips[failureName(slip.fingerprint)] = {number, nodes, slip.tests};
  return {};
}

Result<void> ReductionLog::finish(const std::string& status, int tests) {
  const std::scoped_lock lock(m_mutex);
  if (!m_id) return {};
  return m_store.finishReduction(*m_id, status, m_bestNodes, m_testsBefore + tests, m_fingerprint);
}

}  // namespace kerf::workbench
