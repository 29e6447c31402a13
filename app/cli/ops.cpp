// kerf ops [PATTERN]: the op table, and which columns each overload has.
#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using Counts = std::map<std::string, std::int64_t>;  ///< overloads by where they have a column from

Counts countsOf(const OpListing& listing, std::size_t column) {
  Counts counts;
  for (const std::string& source : listing.sources) counts[source.empty() ? "missing" : source] = 0;
  for (const OpEntry& op : listing.ops) ++counts[op.sources[column].empty() ? "missing" : op.sources[column]];
  return counts;
}

Json opJson(const OpListing& listing, const OpEntry& op) {
  Json columns;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) columns[listing.columns[i].name] = orNull(op.sources[i]);
  return {{"op", op.op}, {"schema", op.schema}, {"columns", std::move(columns)}};
}

void printOpsJson(const OpListing& listing) {
  Json rows = Json::array(), counts;
  for (const OpEntry& op : listing.ops) rows.push_back(opJson(listing, op));
  for (std::size_t i = 0; i < listing.columns.size(); ++i) counts[listing.columns[i].name] = countsOf(listing, i);
  printJson({{"overloads", listing.ops.size()}, {"counts", std::move(counts)}, {"ops", std::move(rows)}});
}

void printOpsTable(const OpListing& listing) {
  const auto total = std::int64_t(listing.ops.size());
  std::vector<std::string> headings{"op"}, having{counted(total, "overload")};
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    headings.push_back(listing.columns[i].name);
    having.push_back(std::to_string(total - countsOf(listing, i).at("missing")));
  }
  TextTable table(headings);
  for (const OpEntry& op : listing.ops) {
    std::vector<std::string> row{op.op};
    for (const std::string& source : op.sources) row.push_back(source.empty() ? "-" : source);
    table.add(std::move(row));
  }
  table.add(std::move(having));
  fmt::print("{}", table.text());
}

/// "right", "wrong", "missing" (right, with a cheaper placement that the rule lacks), or "not proved".
std::string shardingVerdict(const ShardingProofDoc& op) {
  if (op.wrong > 0) return "wrong";
  if (op.missing > 0) return "missing";
  return op.right > 0 ? "right" : "not proved";
}

void printProofs(const ShardingProofs& proofs) {
  std::map<std::string, std::int64_t> ops;
  std::int64_t right = 0, wrong = 0, missing = 0;
  TextTable table({"op", "verdict", "samples", "complex", "right", "wrong", "refused", "missing"});
  for (const auto& op : proofs.ops) {
    ++ops[shardingVerdict(op)];
    right += op.right;
    wrong += op.wrong;
    missing += op.missing;
    table.add({op.op, shardingVerdict(op), std::to_string(op.samples),
               op.complex > 0 ? std::to_string(op.complex) : std::string("-"), std::to_string(op.right),
               std::to_string(op.wrong), std::to_string(op.refused), std::to_string(op.missing)});
  }
  fmt::print("{}", table.text());
  for (const auto& op : proofs.ops) {
    for (const auto& finding : op.findings) fmt::print("{} {}\n", op.op, finding);
    for (const auto& reason : op.left) fmt::print("{} left out: {}\n", op.op, reason);
  }
  std::vector<std::string> counts;
  for (const auto& [verdict, count] : ops) counts.push_back(fmt::format("{} {}", count, verdict));
  fmt::print(
      "{} ({}): {} combinations of placements right, {} wrong, {} with a cheaper placement that the rule lacks, {}\n",
      counted(std::int64_t(proofs.ops.size()), "overload"), fmt::join(counts, ", "), right, wrong, missing,
      durationText(proofs.time));
}

Json proofsJson(const ShardingProofs& proofs) {
  Json object = jsonOf(proofs);
  for (std::size_t i = 0; i < proofs.ops.size(); ++i) object["ops"][i]["verdict"] = shardingVerdict(proofs.ops[i]);
  return object;
}

Result<int> checkSharding(Context& context, const ShardingCheckRequest& request) {
  KERF_TRY(const ShardingProofs proofs, context.perform(request));
  if (context.json)
    printJson(proofsJson(proofs));
  else
    printProofs(proofs);
  return std::ranges::all_of(proofs.ops, [](const ShardingProofDoc& op) { return op.wrong == 0; }) ? 0 : 1;
}

/// The column of --missing that is no column of the op table: torch's names in Python.
constexpr const char* pythonColumn = "python";

void printAbsentTable(const AbsentNames& absent) {
  std::map<std::string, std::vector<std::string>> modules;
  for (const AbsentName& row : absent.names) modules[row.module].push_back(row.name);
  TextTable table({"module", "missing", "names"});
  for (const auto& [module, names] : modules)
    table.add({module, std::to_string(names.size()), fmt::format("{}", fmt::join(names, " "))});
  table.add({counted(std::int64_t(modules.size()), "module"), std::to_string(absent.names.size()), ""});
  fmt::print("{}", table.text());
}

Result<int> listAbsentNames(Context& context, const std::string& pattern) {
  KERF_TRY(const AbsentNames absent, context.perform(AbsentNamesRequest{.pattern = pattern}));
  if (context.json)
    printJson({{"missing", absent.names.size()}, {"names", jsonOf(absent.names)}});
  else
    printAbsentTable(absent);
  return 0;
}

Result<int> runOps(Context& context, const OpsRequest& request) {
  if (request.missing == pythonColumn) return listAbsentNames(context, request.pattern);
  KERF_TRY(const OpListing listing, context.perform(request));
  (context.json ? printOpsJson : printOpsTable)(listing);
  return 0;
}

}  // namespace

void addOps(CommandLine& line) {
  auto& command = line.add("ops", "List the op overloads that Kerf knows, and what it knows about each",
                           "  kerf ops softmax\n"
                           "  kerf ops 'aten.add*' --json\n"
                           "  kerf ops --missing lowering\n"
                           "  kerf ops --missing python 'torch.nn.*'\n"
                           "  kerf ops --check-sharding aten.mm");
  auto request = std::make_shared<OpsRequest>();
  command.add_option("PATTERN", request->pattern, "Part of an overload's name, or a pattern with *");
  command
      .add_option("--missing", request->missing,
                  "Only overloads without this column: kernel, shape, decomposition, lowering, gradient, jvp, flops, "
                  "sharding; python: names of torch's Python API that programs do not find")
      ->type_name("COLUMN");
  auto proves = std::make_shared<bool>(false);
  command.add_flag("--check-sharding", *proves,
                   "Prove sharding rules: all placements on meshes of 2, 4 and 2 x 2 simulated ranks (exit 1 if one is "
                   "wrong)");
  line.onRun(command, [request, proves](Context& context) {
    return *proves ? checkSharding(context, {.pattern = request->pattern}) : runOps(context, *request);
  });
}

}  // namespace kerf::cli
