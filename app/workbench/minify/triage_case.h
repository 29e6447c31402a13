// What is asked of a worker about one graph of a triage.
#pragma once

#include <filesystem>

#include "app/workbench/protocol/remote_workbench.h"
#include "app/workbench/protocol/triage.h"
#include "minifier/triage/triage.h"

namespace kerf::workbench {

/// A graph on its way through a triage. `place` may name a smaller graph than the row's once it is minified.
struct TriageCase {
  GraphAddress place;
  OracleSettings oracle;        ///< with those of the faults to plant that find a place in the graph
  std::filesystem::path repro;  ///< written by the minifier; empty: none
};

/// The steps of one triage. Each fills its part of the row; only being stopped is an error.
class TriageSteps {
 public:
  TriageSteps(RemoteWorkbench& remote, const TriageRequest& request) : m_remote(remote), m_request(request) {}

  /// Sets state, fingerprint and detail.
  Result<void> judge(TriagedGraph& row, TriageCase& one, const Job& job);
  /// Writes repro.py and issue.md to `folder`.
  Result<void> minify(TriagedGraph& row, TriageCase& one, const std::filesystem::path& folder, const Job& job);
  /// Parts of the compiler and ops at which the failure begins, and the ops of the smallest graph.
  Result<void> bisect(TriagedGraph& row, const TriageCase& one, const Job& job);

  /// What kept the first graph without a verdict from getting one.
  const std::optional<Error>& firstProblem() const { return m_problem; }

 private:
  Result<JudgeAnswer> verdict(TriageCase& one, const Job& job);
  Result<JudgeAnswer> verdictInTurns(const TriageCase& one, const Job& job);
  Result<JudgeAnswer> verdictOfPlaced(TriageCase& one, const Job& job);
  Result<Bisection> bisectBy(BisectRequest::By by, const TriageCase& one, const OracleSettings& oracle, const Job& job);
  void addParts(TriagedGraph& row, const TriageCase& one, const OracleSettings& oracle, const Job& job);
  void addNodes(TriagedGraph& row, const TriageCase& one, const OracleSettings& oracle, const GraphDoc& graph,
                const Job& job);

  RemoteWorkbench& m_remote;
  const TriageRequest& m_request;
  std::optional<Error> m_problem;
};

}  // namespace kerf::workbench
