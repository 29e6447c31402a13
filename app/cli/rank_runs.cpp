#include "app/cli/rank_runs.h"

#include <algorithm>
#include <memory>

#include "app/cli/comparison_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

void printRankRows(const RankRunsDoc& doc) {
  for (const auto& rank : doc.ranks)
    for (std::size_t i = 0; i < rank.outputs.size(); ++i)
      fmt::print("rank {}  out{}  {}\n", rank.rank, i, rank.outputs[i]);
  TextTable table({"rank", "output", "max abs error", "NaN", "inf", "verdict"});
  bool isAny = false;
  for (const auto& rank : doc.ranks)
    for (const auto& verdict : rank.verdicts) {
      table.add({std::to_string(rank.rank), verdict.name, fmt::format("{:.3g}", verdict.maxAbsError),
                 std::to_string(verdict.nanRes), std::to_string(verdict.infRes),
                 verdictText(verdict) + (verdict.same ? "" : ": " + verdict.reason)});
      isAny = true;
    }
  if (isAny) fmt::print("{}", table.text());
}

/// ", in rank 1 (ranks/rank1.py)"; empty where no single rank fails.
std::string failedRankText(const RankRunsDoc& doc) {
  if (doc.failedRank < 0) return {};
  return doc.failedFile.empty() ? fmt::format(", in rank {}", doc.failedRank)
                                : fmt::format(", in rank {} ({})", doc.failedRank, doc.failedFile);
}

void printRankRuns(const RankRunsDoc& doc) {
  printRankRows(doc);
  for (const auto& check : doc.checks)
    fmt::print("{}: {}\n", check.what, check.same ? std::string("same") : "DIFFERENT: " + check.text);
  if (!doc.failure.empty()) fmt::print("the ranks do not come to an end{}: {}\n", failedRankText(doc), doc.failure);
  if (doc.first.rank >= 0)
    fmt::print("first: rank {}, node {} ({}): {}\n", doc.first.rank, doc.first.node, doc.first.target, doc.first.text);
  if (doc.ranks.empty()) return;
  const auto same = std::ranges::count(doc.ranks, true, &RankRunDoc::same);
  fmt::print("{} of {} ranks {} in {}\n", same, doc.ranks.size(),
             doc.ranks[0].verdicts.empty() ? "ran together" : "are the same", durationText(doc.time));
}

}  // namespace

Result<std::vector<std::int64_t>> meshSizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  std::string number;
  for (const char c : text + ",") {
    if (c >= '0' && c <= '9' && number.size() < 6) {
      number += c;
      continue;
    }
    if ((c != ',' && c != 'x') || number.empty())
      return fail(ErrorCode::BadUsage, "\"{}\" is no mesh: give sizes such as 4 or 2,2", text);
    sizes.push_back(std::stoll(number));
    number.clear();
  }
  return sizes;
}

std::shared_ptr<RankPlacing> addRankPlacing(CLI::App& command) {
  auto placing = std::make_shared<RankPlacing>();
  command
      .add_option(
          "--mesh", placing->mesh,
          "With --against, of ranks: sizes of their mesh (4, or 2,2). Default: what sharding.json in the folder "
          "says, or one dimension")
      ->type_name("SIZES")
      ->needs("--against");
  command
      .add_option("--placement", placing->placements,
                  "With --against, of ranks: placement of an input of the graph of one rank, one for each dimension of "
                  "the mesh: x=S0, w=R,S1 (repeatable). Default: what sharding.json says, or what the sizes say")
      ->type_name("INPUT=P")
      ->allow_extra_args(false)
      ->needs("--against");
  return placing;
}

Result<bool> meansRanks(Context& context, const std::string& address) {
  if (namesRanks(address)) return true;
  const std::string capture = splitRanksAddress(address).first;
  const bool isStored = capture.size() > 1 && capture[0] == 'c' &&
                        std::ranges::all_of(capture.substr(1), [](char c) { return c >= '0' && c <= '9'; });
  if (!isStored) return false;
  KERF_TRY(const HasRanks found, context.perform(HasRanksRequest{.address = address}));
  return found.several;
}

Result<int> runOnRanks(Context& context, const RankRunsRequest& request) {
  KERF_TRY(const RankRunsDoc doc, context.perform(request));
  if (doc.ownRank != 0) return doc.good() ? 0 : 1;  // the first process of mpirun prints
  if (context.json) {
    Json object = jsonOf(doc);
    object.erase("own_rank");
    printJson(object);
  } else {
    printRankRuns(doc);
  }
  return doc.good() ? 0 : 1;
}

Result<int> minifyOnRanks(Context& context, const MinifyRanksRequest& request) {
  KERF_TRY(const MinifiedRanks found, context.perform(request));
  if (context.json) {
    printJson(jsonOf(found));
    return 0;
  }
  fmt::print("{} -> {} calls of all ranks, {} tests\n", found.startNodes, found.nodes, found.tests);
  fmt::print("fails with   {}\n", found.failure);
  fmt::print("minimal      {}\n", found.isMinimal ? "no call can become an input, and no result be left out"
                                                  : "not proven: the search was stopped");
  fmt::print("written to   {} (rank0.py, …)\n", found.folder);
  return 0;
}

}  // namespace kerf::cli
