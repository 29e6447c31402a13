// perform(MinifyRanksRequest): the graphs of all ranks cut down together; every test runs in a child.
#include <cctype>

#include "app/workbench/engine_options.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/ranks/rank_compare.h"
#include "app/workbench/workbench.h"
#include "engine/capture/repro/writer.h"
#include "engine/distributed/replay/minify_ranks.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

/// A message without its numbers and sizes, which change while graphs get smaller, and without what the other ranks were
/// doing, which depends on who was first.
std::string withoutNumbers(const std::string& whole) {
  const std::string message = whole.substr(0, whole.find(" (number"));
  std::string text;
  int depth = 0;
  for (const char c : message) {
    if (c == '[') ++depth;
    if (depth == 0 && std::isdigit(static_cast<unsigned char>(c)) == 0) text += c;
    if (c == ']' && depth > 0) --depth;
  }
  return text.substr(0, 200);
}

/// How ranks fail; empty where they do not.
struct RanksVerdict {
  std::string failure;

  KERF_FIELDS(failure)
};

Result<RanksVerdict> verdictOf(const std::vector<RankProgram>& programs, const EngineOracleOptions& options) {
  auto doc = compareRanks(programs, options.compile, options.compare);
  if (!doc) return RanksVerdict{"error: " + withoutNumbers(doc.error().message)};
  if (!doc->failure.empty()) return RanksVerdict{"ranks: " + withoutNumbers(doc->failure)};
  if (doc->good()) return RanksVerdict{};
  return RanksVerdict{fmt::format("values: {}", doc->first.rank < 0 ? "outputs" : doc->first.target)};
}

RanksOracle oracleIn(const EngineOracleOptions& options, const MinifyRanksRequest& request, const Job& job) {
  return [&](const std::vector<RankProgram>& programs) -> Result<std::string> {
    const std::function body = [&] { return verdictOf(programs, options); };
    auto verdict =
        inChild(body, patientLimits(request.timeout), job.stop, "running the ranks", ErrorCode::RuntimeFailed);
    if (verdict) return verdict->failure;
    if (verdict.error().code != ErrorCode::RuntimeFailed) return fail(verdict.error());
    return "process: " + withoutNumbers(verdict.error().message);
  };
}

Result<void> writeRanks(const std::vector<RankProgram>& programs, const RankSources& like,
                        const std::filesystem::path& folder) {
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const RunnableGraph& source = like.sources[rank];
    KERF_TRY(CapturedGraph graph, makeCapturedGraph(programs[rank].module, programs[rank].inputs, &source.graph()));
    const Capture capture = makeCapture(std::move(graph), source.capture);
    ExportOptions options;
    options.fileName = fmt::format("rank{}.py", rank);
    options.accuracy = "False";
    KERF_CHECK(exportRepro(capture, 0, folder, options));
  }
  return {};
}

}  // namespace

Result<MinifiedRanks> perform(Workbench& bench, const MinifyRanksRequest& request, const Job& job) {
  if (startedByMpirun() > 1)
    return fail(ErrorCode::BadUsage, "graphs of ranks are minified in one process: start it without mpirun");
  KERF_TRY(const RankSources sources,
           rankSources(bench, request.graph, splitRanksAddress(request.graph.text).second, job));
  KERF_TRY(auto options, engineOptions(request.plants, {}, request.tolerance, request.timeout));
  KERF_CHECK(setBackend(options, request.backend));
  options.compile.cache = bench.codeCache(job);
  RanksSearch search{.mostTests = int(request.mostTests), .stop = job.stop};
  search.onStep = [&](std::size_t nodes, int tests) {
    job.progress(fmt::format("minifying: {} calls of all ranks now, {} tests", nodes, tests), -1);
  };
  KERF_TRY(const SmallestRanks smallest, minifyRanks(sources.programs, oracleIn(options, request, job), search));
  KERF_CHECK(writeRanks(smallest.programs, sources, request.output));
  return MinifiedRanks{smallest.failure,
                       std::int64_t(smallest.startNodes),
                       std::int64_t(smallest.nodes),
                       smallest.tests,
                       smallest.isMinimal,
                       request.output};
}

}  // namespace kerf::workbench
