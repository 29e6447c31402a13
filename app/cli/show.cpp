// kerf show GRAPH|CAPTURE|RECORD: a graph as text, picture or JSON; a whole capture; a record's payload.
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/dot.h"
#include "app/cli/graph_json.h"
#include "app/cli/graph_source.h"
#include "app/cli/output_file.h"
#include "app/cli/show_capture.h"
#include "app/cli/store_id.h"
#include "app/cli/text_table.h"
#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

using namespace std::chrono_literals;

struct ShowOptions {
  std::string graph, format, output;  ///< an empty format: a table, or the whole capture where there are several graphs
};

constexpr auto drawingTime = 60s;

std::string readableText(const CapturedGraph& graph) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  return printReadable(graph.module, options);
}

Result<std::string> drawing(Context& context, const CapturedGraph& graph, const std::string& format) {
  return renderDot(dotText(graph.module.graph, graph.name), format, drawingTime, context.stop());
}

/// What each input and output of an exported program stands for.
Result<std::string> signatureText(const CapturedGraph& graph) {
  if (!graph.signature)
    return fail(ErrorCode::BadUsage, "{} has no signature; exported programs (.pt2) do", graph.name);
  TextTable table({"", "kind", "name", "target"});
  for (const auto& entry : graph.signature->inputs) table.add({"in", entry.kind, entry.name, entry.target});
  for (const auto& entry : graph.signature->outputs) table.add({"out", entry.kind, entry.name, entry.target});
  return table.text();
}

Result<std::string> render(Context& context, const CapturedGraph& graph, const std::string& format) {
  const auto& fx = graph.module.graph;
  if (format == "table") return printTabular(fx) + "\n";
  if (format == "text") return printGraphText(fx) + "\n";
  if (format == "code") return printPythonCode(graph.module) + "\n";
  if (format == "readable") return readableText(graph) + "\n";
  if (format == "signature") return signatureText(graph);
  if (format == "dot") return dotText(fx, graph.name);
  if (format == "json") return graphJson(graph).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return drawing(context, graph, format);
}

Result<int> showGraph(Context& context, const ShowOptions& options) {
  KERF_TRY(auto source, resolveGraph(context, options.graph));
  if (const auto shapes = annotateShapes(source); !shapes && context.verbose)
    warn(fmt::format("shapes are not complete: {}", shapes.error().text()));
  const std::string format = context.json ? "json" : options.format.empty() ? "table" : options.format;
  KERF_TRY(const auto text, render(context, source.graph(), format));
  KERF_CHECK(emit(text.ends_with("\n\n") ? text.substr(0, text.size() - 1) : text, options.output));
  return 0;
}

/// "c3" or a path without '#': something that may hold several graphs.
bool mayBeWhole(const std::string& text) {
  if (const auto id = parseStoreId(text))
    return id->kind == 'c' && id->graph == 0 && id->record == 0 && id->selector.empty();
  return splitAtHash(text).second.empty();
}

/// Logs and folders are shown as a whole, and so is everything else that does not hold exactly one graph.
Result<bool> isWhole(Context& context, const std::string& text) {
  if (!mayBeWhole(text)) return false;
  if (const auto id = parseStoreId(text)) {
    KERF_TRY(auto* store, context.store());
    KERF_TRY(const auto row, store->capture(id->number));
    return row.graphCount != 1 || row.recordCount > 0;
  }
  KERF_TRY(const auto source, openCapture(context, text));
  return source.capture.graphs.size() != 1 || (source.capture.details && !source.capture.details->records.empty());
}

Result<int> showFusion(Context& context, const ShowOptions& options) {
  std::string compileId;
  int rank = -1;
  auto capture = options.graph;
  KERF_TRY(const auto whole, isWhole(context, options.graph));
  if (!whole) {
    KERF_TRY(const auto source, resolveGraph(context, options.graph));
    compileId = source.graph().origin.compileId;
    rank = source.graph().origin.rank;
    const auto id = parseStoreId(options.graph);
    capture = id ? fmt::format("c{}", id->number) : splitAtHash(options.graph).first;
  }
  KERF_TRY(const auto source, openCapture(context, capture));
  const auto* details = source.capture.details.get();
  if (context.json) {
    const Json object{{"graph", options.graph}, {"fusion_groups", fusionJson(details, compileId, rank)}};
    KERF_CHECK(emit(object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", options.output));
  } else {
    KERF_CHECK(emit(fusionText(details, compileId, rank), options.output));
  }
  return 0;
}

Result<int> runShow(Context& context, const ShowOptions& options) {
  if (options.format == "png" && options.output.empty() && isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCode::BadUsage, "a png does not belong on a terminal; name a file with -o");
  if (options.format == "fusion") return showFusion(context, options);
  KERF_TRY(const auto record, resolveRecord(context, options.graph));
  if (record) {
    KERF_TRY(const auto text, recordText(context, options.graph, record->record()));
    KERF_CHECK(emit(text, options.output));
    return 0;
  }
  if (!options.format.empty()) return showGraph(context, options);
  KERF_TRY(const auto whole, isWhole(context, options.graph));
  if (!whole) return showGraph(context, options);
  KERF_TRY(const auto text, overviewText(context, options.graph));
  KERF_CHECK(emit(text, options.output));
  return 0;
}

}  // namespace

void addShow(CommandLine& line) {
  auto& command = line.add("show", "Print or draw a graph, a capture or a record",
                           "  kerf show repro.py --format readable\n"
                           "  kerf show c3/g1 --format svg -o graph.svg\n"
                           "  kerf show c3/g1@pass:cse --format text\n"
                           "  kerf show trace.log#aot_joint_graph\n"
                           "  kerf show model.pt2 --format signature\n"
                           "  kerf show c3\n"
                           "  kerf show c3/r17\n"
                           "  kerf show c3/g2 --format fusion");
  auto options = std::make_shared<ShowOptions>();
  command.add_option("GRAPH", options->graph, "Path or store id; a capture (c3, trace.log) or record (c3/r17) as well")
      ->required();
  command
      .add_option(
          "--format", options->format,
          "table (the default), text, code, readable, dot, svg, png or json; signature: parameters, buffers and "
          "mutations of a .pt2; fusion: which nodes Inductor put into which kernel")
      ->check(CLI::IsMember({"table", "text", "code", "readable", "dot", "svg", "png", "json", "signature", "fusion"}));
  command.add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  line.onRun(command, [options](Context& context) { return runShow(context, *options); });
}

}  // namespace kerf::cli
