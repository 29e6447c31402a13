// kerf export GRAPH|RECORD -o PLACE: a graph in any form that other tools read.
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json exportedJson(const ExportRequest& request, const Exported& exported) {
  if (exported.format == "record") {
    return {{"record", request.graph.text},
            {"path", exported.path},
            {"format", exported.format},
            {"bytes", exported.bytes}};
  }
  return {{"graph", request.graph.text}, {"path", exported.path},         {"format", exported.format},
          {"nodes", exported.nodes},     {"storages", exported.storages}, {"notes", exported.notes}};
}

void printExported(const Exported& exported) {
  if (exported.format == "record") {
    fmt::print("{}: {} ({} bytes)\n", exported.path, exported.record, exported.bytes);
    return;
  }
  fmt::print("{}: {}, {}\n", exported.path, counted(exported.nodes, "node"), counted(exported.storages, "storage"));
  for (const auto& note : exported.notes) fmt::print("note: {}\n", note);
  if (exported.format == "repro") fmt::print("run it with: python {} run\n", exported.path);
}

Result<int> runExport(Context& context, const ExportRequest& request) {
  KERF_TRY(const auto exported, context.perform(request));
  if (context.json)
    printJson(exportedJson(request, exported));
  else
    printExported(exported);
  return 0;
}

std::string formatHelp() {
  std::string text = "Format of the file. By default the extension decides, and a folder means repro:";
  for (const auto& format : exportFormats())
    text += fmt::format("\n{} ({}): {}", format.name, format.extension, format.what);
  return text + "\nrecord: a record's payload";
}

}  // namespace

void addExport(CommandLine& line) {
  auto& command = line.add("export", "Write a graph, repro or record to a file for other tools",
                           "  kerf export p4 -o bug-report/\n"
                           "  kerf export p4 -o bug-report.zip\n"
                           "  kerf export m2@step:4 -o step4/repro.py\n"
                           "  kerf export c3/g2 -o joint.svg\n"
                           "  kerf export c3/g2 -o values.safetensors --values relu,add_3,outputs\n"
                           "  kerf export c3/r17 -o output_code.py");
  auto request = std::make_shared<ExportRequest>();
  command.add_option("GRAPH", request->graph.text, "Path or store id (c3/g1, m2, p4); or a record (c3/r17)")
      ->required();
  command.add_option("-o,--output", request->place, "File or folder to write. It is replaced if it exists")
      ->type_name("FILE|DIR")
      ->required();
  command.add_option("--format", request->format, formatHelp());
  command
      .add_option("--values", request->values,
                  "safetensors: which values, by comma-separated node names, or outputs (the default, as out0…), "
                  "inputs (in0…) or all")
      ->type_name("NAMES");
  addAllowCallOption(command, request->allowedCalls);
  addInputOptions(command, request->graph);
  addSymbolOption(command, request->graph.symbols);
  line.onRun(command, [request](Context& context) { return runExport(context, *request); });
}

}  // namespace kerf::cli
