// Campaign: many graphs, each generated and checked in a process of its own, and what was found.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/differential/fuzzgraph/checks.h"
#include "tests/differential/fuzzgraph/generate.h"

namespace kerf::fuzzgraph {

struct CampaignOptions {
  std::uint64_t seed = 1;  ///< of the first graph; the next has the next
  std::int64_t count = 100;
  int calls = 0;
  std::vector<std::string> only;
  int ways = 2;  ///< besides the default one; -1: all
  int jobs = 1;
  double minutes = 0;          ///< 0: no limit
  std::filesystem::path keep;  ///< finds are minified and written here; empty: only reported
  bool verbose = false;
};

/// What one graph came to, as its process tells it.
struct GraphOutcome {
  std::vector<std::string> calls;  ///< overloads, each once
  std::vector<std::string> shapeFaults;
  std::int64_t nodes = 0;
  bool symbolic = false;
  CheckSummary checks;

  KERF_FIELDS(calls, shapeFaults, nodes, symbolic, checks)
};

struct Find {
  std::uint64_t seed = 0;
  Disagreement what;  ///< kind "crash" and "hang" beside those of checks.h, and "shape rule"
};

struct CampaignReport {
  std::int64_t graphs = 0, nodes = 0, symbolic = 0, runs = 0, otherSizes = 0, withFp64 = 0, notGenerated = 0,
               notRun = 0;
  std::map<std::string, int> calls;  ///< graphs that call an overload
  std::vector<Find> finds;
  double seconds = 0;
};

class Campaign {
 public:
  explicit Campaign(CampaignOptions options) : m_options(std::move(options)) {}
  /// Environment if no process can be made.
  Result<CampaignReport> run(std::stop_token stop = {});

 private:
  Result<void> runOne(std::uint64_t seed);
  void add(std::uint64_t seed, const GraphOutcome& outcome);
  void add(Find find);
  bool isOver() const;

  const CampaignOptions m_options;
  std::mutex m_mutex;
  CampaignReport m_report;
  std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
};

/// Cuts the graph of the find down and writes it below `folder`: repro.py with its storages, find.txt, and a row
/// for a table of finds_*_test.cpp.
Result<std::filesystem::path> keepFind(const Find& find, const GenerateOptions& options,
                                       const std::filesystem::path& folder);

/// What ran, what was found, and which overloads of the table no graph calls.
std::string reportText(const CampaignReport& report, bool namesMissing);

}  // namespace kerf::fuzzgraph
