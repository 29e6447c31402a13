// perform(MinifyRanksRequest): the graphs of all ranks cut down together; every test runs in a child.
#include <cctype>
#include <memory>

#include "app/workbench/engine_options.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/ranks/rank_beside.h"
#include "app/workbench/ranks/rank_compare.h"
#include "app/workbench/ranks/stored_ranks.h"
#include "app/workbench/workbench.h"
#include "engine/capture/repro/writer.h"
#include "engine/distributed/replay/minify_ranks.h"
#include "engine/process/in_child.h"
#include "engine/support/atomic_file.h"

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
  std::string failure;  ///< the same for failures that are alike
  std::string text;     ///< what failed now, with its numbers

  KERF_FIELDS(failure, text)
};

RanksVerdict failed(std::string_view kind, const std::string& message, std::string text) {
  return {fmt::format("{}: {}", kind, withoutNumbers(message)), std::move(text)};
}

RanksVerdict verdictOf(const Result<RankRunsDoc>& doc, std::string_view kind) {
  if (!doc) return failed("error", doc.error().message, doc.error().text());
  if (!doc->failure.empty())
    return failed("ranks", doc->failure,
                  doc->failedRank < 0 ? doc->failure : fmt::format("rank {}: {}", doc->failedRank, doc->failure));
  if (doc->good()) return {};
  const FirstDifference& first = doc->first;
  if (first.rank < 0) return {fmt::format("{}: outputs", kind), fmt::format("{} differ: outputs", kind)};
  return {fmt::format("{}: {}", kind, first.target),
          fmt::format("{} differ: rank {}, node {} ({}): {}", kind, first.rank, first.node, first.target, first.text)};
}

using RanksJudge = std::function<RanksVerdict(const std::vector<RankProgram>& programs)>;

/// Each test in a child. `text` is that of the last failure like the first one.
RanksOracle oracleIn(RanksJudge judge, const MinifyRanksRequest& request, const Job& job,
                     const std::shared_ptr<RanksVerdict>& latest) {
  return [=, &job](const std::vector<RankProgram>& programs) -> Result<std::string> {
    const std::function body = [&]() -> Result<RanksVerdict> { return judge(programs); };
    auto verdict =
        inChild(body, patientLimits(request.timeout), job.stop, "running the ranks", ErrorCode::RuntimeFailed);
    if (!verdict && verdict.error().code != ErrorCode::RuntimeFailed) return fail(verdict.error());
    const RanksVerdict found = verdict ? *verdict : failed("process", verdict.error().message, verdict.error().text());
    if (latest->failure.empty() || latest->failure == found.failure) *latest = found;
    return found.failure;
  };
}

Result<void> writeGraph(const RankProgram& program, const RunnableGraph& like, const std::string& name,
                        const std::filesystem::path& folder) {
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(program.module, program.inputs, &like.graph()));
  const Capture capture = makeCapture(std::move(graph), like.capture);
  ExportOptions options;
  options.fileName = name;
  options.accuracy = "False";
  KERF_CHECK(exportRepro(capture, 0, folder, options));
  return {};
}

/// What the search is about.
struct SearchedRanks {
  RankSources sources;
  std::optional<RunnableGraph> whole;  ///< the graph beside which they fail
  RankSharding sharding;
  std::vector<RankProgram> programs;  ///< of the ranks, and then of the whole

  bool hasWhole() const { return whole.has_value(); }
};

Result<SearchedRanks> searchedRanks(Workbench& bench, const MinifyRanksRequest& request, const Job& job) {
  SearchedRanks searched;
  const auto [folder, graph] = splitRanksAddress(request.graph.text);
  KERF_TRY(searched.sources, rankSources(bench, request.graph, graph, job));
  std::vector<RankProgram> ranks = searched.sources.programs;
  if (request.against.empty()) {
    searched.programs = std::move(ranks);
    return searched;
  }
  if (namesRanks(request.against))
    return fail(ErrorCode::BadUsage, "{} is a folder of ranks: ranks are minified beside the graph of one rank",
                request.against);
  GraphAddress address = request.graph;
  address.text = request.against;
  KERF_TRY(GraphSource found, resolveGraph(bench, address, job));
  KERF_TRY(RunnableGraph whole, runnable(std::move(found), job));
  KERF_TRY(searched.sharding, shardingOfRanks(folder, int(ranks.size()), request.mesh, request.placements));
  KERF_CHECK(takePartsOf(whole, searched.sharding, ranks));
  nameOutputs(ranks[0].module.graph, searched.sharding);
  ranks.push_back({whole.graph().module, whole.inputs});
  searched.whole = std::move(whole);
  searched.programs = std::move(ranks);
  return searched;
}

/// How the ranks fail, of programs as SearchedRanks has them.
RanksJudge judgeOf(const SearchedRanks& searched, const EngineOracleOptions& options) {
  if (!searched.hasWhole())
    return [options](const std::vector<RankProgram>& programs) {
      return verdictOf(compareRanks(programs, options.compile, options.compare), "values");
    };
  return [sharding = searched.sharding](const std::vector<RankProgram>& programs) {
    const std::vector<RankProgram> ranks(programs.begin(), programs.end() - 1);
    return verdictOf(compareWithWhole(ranks, programs.back(), sharding), "values beside one rank");
  };
}

Result<void> writeRanks(const std::vector<RankProgram>& programs, const SearchedRanks& searched,
                        const std::filesystem::path& folder) {
  const std::size_t ranks = programs.size() - (searched.hasWhole() ? 1 : 0);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    KERF_CHECK(writeGraph(programs[rank], searched.sources.sources[rank], fmt::format("rank{}.py", rank), folder));
  if (!searched.hasWhole()) return {};
  KERF_CHECK(writeGraph(programs.back(), *searched.whole, "whole.py", folder));
  return writeTextFile(shardingText(shardingOfNodes(programs[0].module.graph, searched.sharding)),
                       folder / shardingFile);
}

Result<MinifiedRanks> minifiedIn(Workbench& bench, const MinifyRanksRequest& request, const Job& job) {
  if (startedByMpirun() > 1)
    return fail(ErrorCode::BadUsage, "graphs of ranks are minified in one process: start it without mpirun");
  const bool isPlaced = !request.mesh.empty() || !request.placements.empty();
  if (isPlaced && request.against.empty())
    return fail(ErrorCode::BadUsage, "placements say how the ranks lie beside the graph of one rank: give that graph");
  KERF_TRY(const SearchedRanks searched, searchedRanks(bench, request, job));
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < searched.sources.programs.size(); ++rank)
    names.push_back(fmt::format("rank{}.py", rank));
  KERF_CHECK(checkOnlyRankFiles(request.output, names));
  KERF_TRY(auto options, engineOptions(request.plants, {}, request.tolerance, request.timeout));
  KERF_CHECK(setBackend(options, request.backend));
  options.compile.cache = bench.codeCache(job);
  RanksSearch search{.mostTests = int(request.mostTests), .stop = job.stop};
  search.onStep = [&](std::size_t nodes, int tests) {
    job.progress(fmt::format("minifying: {} calls of all ranks now, {} tests", nodes, tests), -1);
  };
  search.hasWhole = searched.hasWhole();
  if (search.hasWhole)
    search.values = [&](const std::vector<RankProgram>& programs) { return valuesBeside(programs, searched.sharding); };
  const auto latest = std::make_shared<RanksVerdict>();
  KERF_TRY(const SmallestRanks smallest,
           minifyRanks(searched.programs, oracleIn(judgeOf(searched, options), request, job, latest), search));
  KERF_CHECK(writeRanks(smallest.programs, searched, request.output));
  return MinifiedRanks{latest->text,
                       std::int64_t(smallest.startNodes),
                       std::int64_t(smallest.nodes),
                       smallest.tests,
                       smallest.isMinimal,
                       request.output};
}

}  // namespace

Result<MinifiedRanks> perform(Workbench& bench, const MinifyRanksRequest& given, const Job& job) {
  KERF_TRY(const RanksPlace place, ranksPlace(bench, given.graph.text, job));
  MinifyRanksRequest request = given;
  request.graph.text = place.text;
  auto found = minifiedIn(bench, request, job);
  return found ? found : fail(place.named(std::move(found.error())));
}

}  // namespace kerf::workbench
