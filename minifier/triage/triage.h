// What a triage came to: many failing graphs judged, minified, bisected and put into clusters.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kerf::inline minifier::inline triage {

/// One graph, or a capture that came to no graph.
struct TriagedGraph {
  /// NotOpened: a capture that no importer takes, or that ended its worker. FailsDifferently: not as it was asked for.
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
};

/// Failures that are probably one bug: same fingerprint, culprits and ops of the smallest graph.
struct FailureCluster {
  int number = 0;
  std::string fingerprint;
  std::vector<std::string> culprits, ops;
  std::vector<int> members;  ///< rows, the smallest graph first
  std::string repro;         ///< path of the smallest; empty: none was written
};

struct TriageOutcome {
  std::vector<TriagedGraph> rows;
  std::vector<FailureCluster> clusters;  ///< largest first
  std::string report;                    ///< path of report.html; report.txt is beside it
  bool cancelled = false;
  std::chrono::nanoseconds time{};
};

}  // namespace kerf::inline minifier::inline triage
