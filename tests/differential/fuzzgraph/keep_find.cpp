// Minifying a find and writing it down.
#include <algorithm>
#include <fstream>

#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"
#include "engine/process/isolation.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/differential/fuzzgraph/campaign.h"

namespace kerf::fuzzgraph {
namespace {

/// Whether a graph disagrees in the same check in the same manner.
class FindOracle : public Oracle {
 public:
  explicit FindOracle(Disagreement wanted) : m_wanted(std::move(wanted)) {
    for (const CheckedWay& way : allWays())
      if (way.name == m_wanted.check) m_ways.push_back(&way);
    if (m_ways.empty()) m_ways.push_back(&allWays()[0]);
  }

  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
    std::string phase;
    const std::function body = [&](const SendEvent& send) -> Result<CheckSummary> {
      return checkGraph(candidate, m_ways, [&](const std::string& check) { send(check); });
    };
    KERF_TRY(auto answer, callIsolated<CheckSummary>(body, {.timeout = std::chrono::milliseconds(20'000)}, stop,
                                                     [&](std::string_view event) { phase = event; }));
    if (answer.outcome.exit == IsolatedExit::Cancelled) return fail(ErrorCode::Cancelled, "stopped");
    if (answer.outcome.exit != IsolatedExit::Finished)
      return failure(phase, answer.outcome.exit == IsolatedExit::TimedOut ? "hang" : "crash",
                     answer.outcome.signalName());
    if (!*answer.answer) return fail(answer.answer->error());
    for (const Disagreement& item : (*answer.answer)->disagreements)
      if (item.check == m_wanted.check && item.kind == m_wanted.kind) return failure(item.check, item.kind, item.what);
    if (!(*answer.answer)->referenceError.empty()) return Verdict{.kind = VerdictKind::CannotTest};
    return Verdict{.kind = VerdictKind::Passes};
  }
  std::string identity() const override { return "fuzzgraph " + m_wanted.check + " " + m_wanted.kind; }

 private:
  static Verdict failure(const std::string& check, const std::string& kind, const std::string& detail) {
    return {.kind = VerdictKind::Fails, .fingerprint = check + ": " + kind, .detail = detail};
  }
  Disagreement m_wanted;
  std::vector<const CheckedWay*> m_ways;
};

/// A row for a table of finds_*_test.cpp; inputs are generated from the annotations, the seed gives those of the find.
std::string rowText(const Find& find, const std::string& graph) {
  return fmt::format("    // {}: {}: {}\n    {{\"Seed{}\", R\"x(\n{})x\"}},\n", find.what.check, find.what.kind,
                     find.what.what.substr(0, 200), find.seed, graph);
}

Result<void> writeText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file) return fail(ErrorCode::Environment, "cannot write {}", path.string());
  return {};
}

}  // namespace

Result<std::filesystem::path> keepFind(const Find& find, const GenerateOptions& options,
                                       const std::filesystem::path& folder) {
  KERF_TRY(GeneratedGraph graph, generateGraph(options));
  FindOracle oracle(find.what);
  MemoryVerdictCache cache;
  MinifyOptions minifyOptions;
  minifyOptions.parallelQueries = 1;
  std::string note;
  Candidate smallest = graph.candidate;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  std::stop_source stop;
  const auto result = minify(
      graph.candidate, oracle, cache, minifyOptions,
      [&](const MinifyProgress&, const Candidate*) -> Result<void> {
        if (std::chrono::steady_clock::now() > until) stop.request_stop();
        return {};
      },
      stop.get_token());
  if (result)
    smallest = result->candidate;
  else
    note = "not minified: " + result.error().text() + "\n";
  const auto target = folder / fmt::format("seed_{}", find.seed);
  std::filesystem::remove_all(target);
  KERF_TRY(CapturedGraph captured, makeCapturedGraph(smallest.module, smallest.inputs, nullptr));
  Capture like;
  like.kind = "repro";
  const auto exported = exportRepro(makeCapture(std::move(captured), like), 0, target);
  if (!exported) note += "not exported: " + exported.error().text() + "\n";
  std::filesystem::create_directories(target);
  const std::string text =
      printReadable(smallest.module, {.annotateValues = true, .includeStride = true, .includeDevice = false});
  KERF_CHECK(writeText(target / "find.txt", fmt::format("seed {} {}: {}: {}\n{}{}\n", find.seed, find.what.check,
                                                        find.what.kind, find.what.what, note, text)));
  KERF_CHECK(writeText(target / "row.txt", rowText(find, text)));
  return target;
}

}  // namespace kerf::fuzzgraph
