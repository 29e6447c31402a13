// minifyGraph(): what `kerf minify` does: search, store, resume, export, and a last check in a fresh process.
#pragma once

#include <functional>

#include "app/cli/oracle_choice.h"

namespace kerf::cli {

struct MinifySettings {
  OracleSettings oracle;
  int jobs = 2;
  int votes = 1;
  std::filesystem::path output;  ///< folder for repro.py; empty: ./kerf-repro-m<id>
  bool recheck = true;           ///< re-import the repro and judge it in a fresh process
};

/// Told of every query and of resuming.
struct MinifyEvents {
  std::function<void(const MinifyProgress&, const std::string& reductionId)> progress;
  std::function<void(const std::string& text)> note;
};

struct MinifyOutcome {
  std::string reductionId, reproId;  ///< "m2", "p4"; reproId is empty if cancelled
  int startNodes = 0, nodes = 0;
  int tests = 0, cacheHits = 0;
  std::size_t steps = 0;  ///< accepted in this run
  std::string fingerprint;
  bool oneMinimal = false, cancelled = false, resumed = false;
  std::filesystem::path repro;      ///< the written repro.py
  std::string rechecked;            ///< fingerprint that the fresh process found
  std::chrono::nanoseconds time{};  ///< of everything
};

/// Different when the fresh process does not see the same failure.
Result<MinifyOutcome> minifyGraph(Context& context, GraphSource& source, const MinifySettings& settings,
                                  const MinifyEvents& events);

/// `kerf minify --judge`: one verdict on the graph as it is.
Result<Verdict> judgeGraph(Context& context, GraphSource& source, const OracleSettings& settings);

}  // namespace kerf::cli
