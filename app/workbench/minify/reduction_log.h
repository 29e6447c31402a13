// ReductionLog: keeps a running reduction in the store: its start, every accepted step, its end; and finds the one to
// resume.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "app/workbench/captures/graph_source.h"
#include "minifier/core/minify.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

class ReductionLog {
 public:
  /// `like` is the capture that the reduction began from: its header and input names go into every step.
  ReductionLog(Store& store, std::mutex& storeMutex, const GraphSource& like, std::int64_t graphId, std::string oracle)
      : m_store(store), m_mutex(storeMutex), m_like(like), m_graphId(graphId), m_oracle(std::move(oracle)) {}

  /// The newest unfinished reduction of an equal graph under the same oracle: its last candidate, to go on from.
  Result<std::optional<Candidate>> resume();
  /// Of the resumed reduction: candidates that somebody undid.
  Result<std::vector<Candidate>> undone();
  /// Commits an accepted step; returns when it is on disk as far as the store promises.
  Result<void> accept(const MinifyStep& step, const Candidate& candidate);
  /// Commits that the search went back to a step: one more row, which is the last; what was undone stays.
  Result<void> goBack(MinifyStep step, const Candidate& candidate);
  /// Keeps a graph that fails in another way as "m3/slip1"; nothing where it is kept already, or nothing else is. A
  /// resumed reduction counts on from the findings that it has.
  Result<void> keep(const Slip& slip);
  /// "m3/slip1"; empty where it was not kept.
  std::string slipText(const Slip& slip) const;
  /// status: "finished", "cancelled" or "interrupted".
  Result<void> finish(const std::string& status, int tests);

  std::optional<std::int64_t> id() const { return m_id; }
  std::string idText() const { return m_id ? "m" + std::to_string(*m_id) : std::string(); }
  int startNodes() const { return m_startNodes; }
  int bestNodes() const { return m_bestNodes; }
  int testsBefore() const { return m_testsBefore; }  ///< of the run that is being resumed
  bool resumed() const { return m_lastIndex >= 0 && m_resumed; }

 private:
  Result<Candidate> candidateOf(const StepRow& row);

  Store& m_store;
  std::mutex& m_mutex;
  const GraphSource& m_like;
  std::int64_t m_graphId;
  std::string m_oracle;
  std::optional<std::int64_t> m_id;
  std::string m_fingerprint;
  struct KeptSlip {
    int number = 0, nodes = 0, tests = 0;
  };
  std::map<std::string, KeptSlip> m_slips;  ///< by failureName()
  int m_lastIndex = -1, m_startNodes = 0, m_bestNodes = 0, m_testsBefore = 0;
  bool m_resumed = false;
};

/// StepRow::reduction of a row that no reduction made.
inline constexpr std::string_view undoStep = "undo";

/// The first step that each undo took back, in order.
///
///     start, a, b, undo to start, c      →      a
std::vector<StepRow> undoneSteps(const std::vector<StepRow>& rows);

/// A candidate as a capture of its own, with the header and input names of the one it came from.
Result<Capture> captureOf(const Candidate& candidate, const GraphSource& like);

}  // namespace kerf::workbench
