// kerf passes GRAPH: what each pass did: nodes before and after, time, changed or not, and the graphs themselves.
#include "app/cli/commands.h"
#include "app/cli/compile_options.h"
#include "app/cli/graph_source.h"
#include "app/cli/line_diff.h"
#include "app/cli/pass_runs.h"
#include "app/cli/symbols.h"
#include "app/cli/text_table.h"
#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

struct PassesOptions {
  std::string graph, dumpAfter;
  bool onlyChanged = false;
  std::vector<std::string> symbols;
  PassArguments passes;
};

bool dumps(const PassesOptions& options, const PassRecord& record) {
  return options.dumpAfter == "all" || options.dumpAfter == record.name;
}

Json recordJson(const PassRecord& record, bool withGraph) {
  Json object{{"index", record.index},
              {"name", record.name},
              {"stage", stageName(record.stage)},
              {"nested_graph", record.path},
              {"nodes_before", record.nodesBefore},
              {"nodes_after", record.nodesAfter},
              {"elapsed_ms", double(record.time.count()) / 1e6},
              {"changed", record.changed},
              {"hash_before", record.hashBefore.hex()},
              {"hash_after", record.hashAfter.hex()}};
  if (withGraph) object["graph"] = printGraphText(*record.after);
  return object;
}

/// {"constant_folding.max_bytes": {"value": …, "type": …, "description": …}, …}
Json optionsJson(const std::vector<Pass>& passes) {
  Json object = Json::object();
  for (const Pass& pass : passes)
    for (const PassOption& option : pass.options.all())
      object[pass.name + "." + option.name] = {
          {"value", optionText(option.value)}, {"type", optionType(option.value)}, {"description", option.description}};
  return object;
}

void printRecords(const std::vector<PassRecord>& records, const PassesOptions& options) {
  TextTable table({"stage", "pass", "graph", "nodes before", "after", "time", "changed"});
  for (const auto& record : records) {
    if (options.onlyChanged && !record.changed) continue;
    table.add({std::string(stageName(record.stage)), record.name, record.path, std::to_string(record.nodesBefore),
               std::to_string(record.nodesAfter), durationText(record.time), record.changed ? "yes" : ""});
  }
  fmt::print("{}", table.text());
  for (const auto& record : records) {
    if (!dumps(options, record) || (options.onlyChanged && !record.changed)) continue;
    fmt::print("\n# after {}{}\n{}\n", record.name, record.path.empty() ? "" : " in " + record.path,
               printGraphText(*record.after));
  }
}

Result<void> checkDump(const std::vector<PassRecord>& records, const std::string& wanted) {
  if (wanted.empty() || wanted == "all") return {};
  std::vector<std::string> names;
  for (const auto& record : records) {
    if (record.name == wanted) return {};
    names.push_back(record.name);
  }
  return fail(ErrorCode::BadUsage, "there is no pass \"{}\"; the passes are {}", wanted, fmt::join(names, ", "));
}

Result<int> runPasses(Context& context, const PassesOptions& options) {
  KERF_TRY(auto source, resolveGraph(context, options.graph, options.symbols));
  KERF_CHECK(annotateShapes(source));
  KERF_TRY(const auto config, passConfig(options.passes));
  KERF_TRY(const auto records, recordPasses(source.graph().module, config));
  KERF_CHECK(checkDump(records, options.dumpAfter));
  KERF_TRY(const auto run, storePasses(context, source, records));
  if (!context.json) {
    printRecords(records, options);
    return 0;
  }
  Json passes = Json::array();
  for (const auto& record : records) {
    if (!options.onlyChanged || record.changed) passes.push_back(recordJson(record, dumps(options, record)));
  }
  KERF_TRY(const auto selected, selectPasses(config));
  printJson({{"graph", options.graph},
             {"run", run ? Json(fmt::format("r{}", *run)) : Json()},
             {"config", config.text()},
             {"options", optionsJson(selected)},
             {"passes", passes}});
  return 0;
}

}  // namespace

void addPasses(CommandLine& line) {
  auto& command = line.add("passes", "Run the compiler's passes and say what each of them did",
                           "  kerf passes repro.py\n"
                           "  kerf passes repro.py --passes cse,dce,cse --config constant_folding.max_bytes=1024\n"
                           "  kerf passes c3/g1 --only-changed --dump-after all");
  auto options = std::make_shared<PassesOptions>();
  command.add_option("GRAPH", options->graph, "Path or store id")->required();
  command.add_option("--dump-after", options->dumpAfter, "Print the graph after this pass, or after all")
      ->type_name("PASS|all");
  command.add_flag("--only-changed", options->onlyChanged, "Leave out passes that changed nothing");
  addPassOptions(command, options->passes);
  addSymbolOption(command, options->symbols);
  line.onRun(command, [options](Context& context) { return runPasses(context, *options); });
}

}  // namespace kerf::cli
