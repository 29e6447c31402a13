// A triage: which captures there are, which failures are one bug, and the report.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline minifier::inline triage {

// What a triage came to: many failing graphs judged, minified, bisected and put into clusters.

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

// clusterFailures(): which failures are probably one bug.

/// Failing rows with the same fingerprint, culprits and ops are a cluster. A row whose graph is not minimal calls more
/// than its bug needs: it joins the largest cluster of its fingerprint and culprits (where it has any) whose ops it
/// calls all. Largest first; sets the rows' `cluster`.
std::vector<FailureCluster> clusterFailures(std::vector<TriagedGraph>& rows);

// capturesUnder(): what is to be opened of files and folders, each by itself, so that none can end the others.

/// Files, folders that are one capture (logs, debug folders, graph transforms) and what `isStored` takes for an id of the
/// store, in order of their names, each once. Hidden files, storages and what lies under `without` are left out. NotFound for a path that does not exist;
/// TooLarge for more than 10,000 captures.
Result<std::vector<std::string>> capturesUnder(const std::vector<std::string>& paths,
                                               const std::filesystem::path& without,
                                               const std::function<bool(const std::string&)>& isStored);

// The report of a triage: report.html and report.txt, and a folder for each cluster.

/// "fails", "passes", "cannot be tested", "not opened", "fails otherwise", "not reached".
std::string_view stateName(TriagedGraph::State state);
/// "c/repro.py", or "trace.log#graph" where the capture has names for its graphs.
std::string rowName(const TriagedGraph& row);

/// For people who read text. No control characters of the captures' own.
std::string triageText(const TriageOutcome& triage);
/// One page without scripts that loads nothing; whatever came from files is escaped.
std::string triageHtml(const TriageOutcome& triage);

/// Writes both, and "cluster-N" with members.txt and what lies in the cluster's repro's folder, which `repro` then
/// names. Clusters of an earlier report go. Environment where something cannot be written.
Result<void> writeTriage(TriageOutcome& triage, const std::filesystem::path& folder);

}  // namespace kerf::inline minifier::inline triage
