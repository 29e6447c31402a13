// kerf export GRAPH|RECORD -o PLACE: a graph in any form that other tools read.
#include "app/cli/commands.h"
#include "app/cli/export_formats.h"
#include "app/cli/output_file.h"
#include "app/cli/show_capture.h"
#include "app/cli/store_id.h"
#include "app/cli/symbols.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct ExportArguments {
  std::string graph, place, format, values;
  std::vector<std::string> symbols;
};

/// Output is written through a temporary file beside it, so its folder must be there.
Result<void> makeParent(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  std::error_code problem;
  if (!parent.empty()) std::filesystem::create_directories(parent, problem);
  if (!problem) return {};
  return fail(ErrorCode::Environment, "cannot create the folder {}: {}", parent.string(), problem.message());
}

Result<int> exportRecord(Context& context, const ExportArguments& arguments, const CaptureRecord& record) {
  KERF_TRY(const auto text, record.text());
  KERF_CHECK(makeParent(arguments.place));
  KERF_CHECK(emit(text, arguments.place));
  if (context.json)
    printJson({{"record", arguments.graph}, {"path", arguments.place}, {"format", "record"}, {"bytes", text.size()}});
  else
    fmt::print("{}: {} ({} bytes)\n", arguments.place, record.name, text.size());
  return 0;
}

Result<int> exportGraph(Context& context, const ExportArguments& arguments) {
  KERF_TRY(const auto* format, chooseFormat(arguments.format, arguments.place));
  if (!arguments.values.empty() && format->name != "safetensors")
    return fail(ErrorCode::BadUsage, "--values needs a .safetensors file or --format safetensors");
  KERF_TRY(auto source, resolveGraph(context, arguments.graph, arguments.symbols));
  (void)context.stop();  // from here on Ctrl-C lets the writer clean up
  if (format->name != "repro") KERF_CHECK(makeParent(arguments.place));
  KERF_TRY(const auto path, format->write(context, source, {arguments.place, arguments.values}));
  const auto nodes = source.graph().module.graph.size();
  if (context.json) {
    printJson({{"graph", arguments.graph},
               {"path", path.string()},
               {"format", format->name},
               {"nodes", nodes},
               {"storages", source.graph().storages.size()}});
    return 0;
  }
  fmt::print("{}: {}, {}\n", path.string(), counted(std::int64_t(nodes), "node"),
             counted(std::ssize(source.graph().storages), "storage"));
  if (format->name == "repro") fmt::print("run it with: python {} run\n", path.string());
  return 0;
}

Result<int> runExport(Context& context, const ExportArguments& arguments) {
  const auto id = parseStoreId(arguments.graph);
  if ((id && id->record != 0) || arguments.format == "record") {
    KERF_TRY(const auto record, resolveRecord(context, arguments.graph));
    if (record) return exportRecord(context, arguments, record->record());
    return fail(ErrorCode::NotFound, "{} is no record; `kerf ls records CAPTURE` lists them", arguments.graph);
  }
  return exportGraph(context, arguments);
}

std::string formatHelp() {
  std::string text = "Else the output's extension decides, and a folder means repro:";
  for (const auto& format : exportFormats())
    text += fmt::format("\n{} ({}): {}", format.name, format.extension, format.what);
  return text + "\nrecord: a record's payload";
}

}  // namespace

void addExport(CommandLine& line) {
  auto& command = line.add("export", "Write a graph, repro or record in a form that other tools read",
                           "  kerf export p4 -o bug-report/\n"
                           "  kerf export p4 -o bug-report.zip\n"
                           "  kerf export m2@step:4 -o step4/repro.py\n"
                           "  kerf export c3/g2 -o joint.svg\n"
                           "  kerf export c3/g2 -o values.safetensors --values relu,add_3,outputs\n"
                           "  kerf export c3/r17 -o output_code.py");
  auto arguments = std::make_shared<ExportArguments>();
  command.add_option("GRAPH", arguments->graph, "Path or store id (c3/g1, m2, p4); or a record (c3/r17)")->required();
  command.add_option("-o,--output", arguments->place, "File or folder to write; replaced if it is there")
      ->type_name("FILE|DIR")
      ->required();
  command.add_option("--format", arguments->format, formatHelp());
  command
      .add_option("--values", arguments->values,
                  "safetensors: node names with commas between; outputs (the default, as out0…), inputs (in0…), all")
      ->type_name("NAMES");
  addSymbolOption(command, arguments->symbols);
  line.onRun(command, [arguments](Context& context) { return runExport(context, *arguments); });
}

}  // namespace kerf::cli
