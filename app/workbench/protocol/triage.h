// Triage: many failing captures judged, minified, bisected and put into clusters.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/workbench/protocol/reductions.h"

namespace kerf::workbench {

/// One graph, or a capture that came to no graph.
struct TriageRow {
  /// NotOpened: a capture that no importer takes, or that ended its worker. FailsDifferently: not as --match wants it.
  /// NotReached: stopped before.
  enum class State { Fails, Passes, CannotTest, NotOpened, FailsDifferently, NotReached };
  State state = State::NotReached;
  std::string capture, graph;       ///< path or store id; the graph is empty where the capture was not opened
  std::string fingerprint, detail;  ///< of the verdict; the detail is the error where there is none
  int startNodes = 0, nodes = 0;    ///< 0: not minified
  int tests = 0;
  std::string reduction;  ///< "m3"; empty: not stored
  bool oneMinimal = false;
  std::string trouble;                     ///< why the graph is not minimal, or not bisected
  std::vector<std::string> culprits, ops;  ///< parts of the compiler and ops; what the smallest graph calls
  std::string sameAs;                      ///< an earlier graph with the same text; data may differ
  int cluster = 0;                         ///< number, from 1; 0: none
  std::chrono::nanoseconds time{};

  KERF_FIELDS(capture, graph, state, fingerprint, detail, startNodes, nodes, tests, reduction, oneMinimal, trouble,
              culprits, ops, sameAs, cluster, time)
};
constexpr TriageRow::State lastOf(TriageRow::State) { return TriageRow::State::NotReached; }

/// Failures that are probably one bug: same fingerprint, culprits and ops of the smallest graph.
struct TriageCluster {
  int number = 0;
  std::string fingerprint;
  std::vector<std::string> culprits, ops;
  std::vector<int> members;  ///< rows, the smallest graph first
  std::string repro;         ///< path of the smallest; empty: none was written

  KERF_FIELDS(number, fingerprint, culprits, ops, members, repro)
};

struct Triage {
  std::vector<TriageRow> rows;
  std::vector<TriageCluster> clusters;  ///< largest first
  std::string report;                   ///< path of report.html; report.txt is beside it
  bool cancelled = false;
  std::chrono::nanoseconds time{};

  KERF_FIELDS(clusters, rows, report, cancelled, time)
};

/// Everything under `paths` (files, folders, store ids) is opened, judged, minified and bisected in a worker process,
/// and the report is written. What goes wrong with one graph is its row. Stopping is no error: the report has what was
/// done, and another run finds the verdicts in the store. BadUsage and Environment where that is why no graph at all
/// could be judged; NotFound for a path that does not exist; Environment where the folder cannot be written.
struct TriageRequest {
  using Answer = Triage;
  static constexpr std::string_view name = "triage";
  std::vector<std::string> paths;
  OracleSettings oracle;
  int jobs = 2;
  int maxTests = 0;                     ///< for one graph; 0: no limit
  std::chrono::milliseconds maxTime{};  ///< of one search; 0: no limit
  std::string output = "kerf-triage";   ///< folder of the report
  std::string match = {};  ///< only failures in which this expression is found count; empty: each graph's own
  int flaky = 0;           ///< as MinifyRequest::flaky; a graph passes that passed so often
  bool fresh = false;      ///< earlier verdicts and unfinished reductions are not looked at

  KERF_FIELDS(paths, oracle, jobs, maxTests, maxTime, output, fresh, match, flaky)
};

}  // namespace kerf::workbench
