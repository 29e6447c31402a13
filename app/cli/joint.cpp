// kerf joint GRAPH: what AOTAutograd makes of a forward graph, stage by stage.
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct JointOptions {
  AotRequest request;
  std::string decompositions = "none", format, output;
  bool forwardMode = false;
  bool checks = false;  ///< forward mode against the joint graph
  bool functionalRng = false;
};

Json reportJson(const JointOptions& options, const AotReport& report) {
  Json json{{"graph", options.request.graph.text}};
  json.update(jsonOf(report));
  return json;
}

std::string wordsOf(const AotInputDoc& input) {
  std::vector<std::string_view> words;
  if (input.requiresGrad) words.push_back("requires grad");
  if (input.mutatesData) words.push_back("written into");
  if (input.mutatesMetadata) words.push_back("sizes or strides changed");
  return fmt::format("{}", fmt::join(words, ", "));
}

void printInputs(const AotReport& report) {
  TextTable table({"input", "is", "kind", ""});
  for (const auto& input : report.inputs) table.add({input.name, input.source, input.kind, wordsOf(input)});
  fmt::print("\n{}", table.text());
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const auto& output = report.outputs[i];
    if (output.alias.empty()) continue;
    const bool ofOutput = output.alias == "shares with output";
    const std::string base = ofOutput ? std::to_string(output.base) : report.inputs[std::size_t(output.base)].name;
    fmt::print("out{} {} {}\n", i, output.alias, base);
  }
}

void printReport(const AotReport& report) {
  TextTable table({"stage", "nodes", "different calls", "time from the captured graph", ""});
  for (const auto& stage : report.stages)
    table.add({stage.name, std::to_string(stage.nodes), std::to_string(stage.calls.size()), durationText(stage.time),
               stage.error});
  fmt::print("{}", table.text());
  if (!report.inputs.empty()) printInputs(report);
}

Result<int> printStages(Context& context, const JointOptions& options) {
  KERF_TRY(const AotReport report, context.perform(options.request));
  if (context.json)
    printJson(reportJson(options, report));
  else
    printReport(report);
  const AotStageDoc& last = report.stages.back();
  if (last.error.empty()) return 0;
  return fail(ErrorCode::UnsupportedOp, "the graph has no {} stage: {}", last.name, last.error);
}

/// A .py becomes a repro that PyTorch runs, other files hold the graph's text.
Result<int> writeStage(Context& context, const JointOptions& options, const GraphAddress& address) {
  if (options.output.ends_with(".py") && options.format.empty()) {
    KERF_TRY(const auto exported, context.perform(ExportRequest{.graph = address, .place = options.output}));
    fmt::print("{}\n", exported.path);
    return 0;
  }
  const std::string format = options.format.empty() ? "readable" : options.format;
  KERF_TRY(auto text, context.perform(RenderRequest{address, format}));
  if (!text.ends_with('\n')) text += '\n';
  KERF_CHECK(emit(text, options.output, format == "png" ? EmitKind::Picture : EmitKind::Text));
  return 0;
}

/// <Jv, w> and <v, J^T w>.
Result<int> checkTransposes(Context& context, const JointOptions& options) {
  KERF_TRY(const std::string text, context.perform(RenderRequest{options.request.graph, "transposes"}));
  if (context.json)
    printJson({{"graph", options.request.graph.text}, {"agrees", true}, {"text", text}});
  else
    fmt::print("{}", text);
  return 0;
}

Result<int> runJoint(Context& context, const JointOptions& options) {
  JointOptions chosen = options;
  if (options.checks) return checkTransposes(context, options);
  if (options.functionalRng && (options.request.stage == "dynamo" || options.request.stage == "aten"))
    return fail(ErrorCode::BadUsage, "--functionalize-rng is for the stages functional and joint");
  if (options.forwardMode) {
    GraphAddress address = options.request.graph;
    address.stage = "linearize";
    return writeStage(context, chosen, address);
  }
  if (options.request.stage != "dynamo") chosen.request.stage += "/" + options.decompositions;
  if (options.functionalRng) chosen.request.stage += "/rng";
  if (options.output.empty() && options.format.empty()) return printStages(context, chosen);
  GraphAddress address = options.request.graph;
  address.stage = chosen.request.stage;
  return writeStage(context, chosen, address);
}

}  // namespace

void addJoint(CommandLine& line) {
  auto& command = line.add("joint", "Trace a forward graph to AOTAutograd's stages: ATen, functional, joint",
                           "  kerf joint model.pt2\n"
                           "  kerf joint minifier_launcher.py --stage functional --format code\n"
                           "  kerf joint trace.log#dynamo_output_graph --decompositions inductor -o joint.py\n"
                           "  kerf joint model.pt2 --jvp -o jvp.txt\n"
                           "  kerf joint model.pt2 --jvp --check\n"
                           "  kerf run model.pt2@stage:linearize\n"
                           "  kerf show model.pt2@stage:joint --format svg -o joint.svg");
  auto options = std::make_shared<JointOptions>();
  command.add_option("GRAPH", options->request.graph.text, "Path or store id")->required();
  command
      .add_option(
          "--stage", options->request.stage,
          "dynamo: as it was captured; aten: flat calls of ATen ops; functional: without writes; joint: with the "
          "backward part")
      ->check(CLI::IsMember({"dynamo", "aten", "functional", "joint"}))
      ->capture_default_str();
  addDecompositionOption(command, options->decompositions);
  command.add_flag("--jvp", options->forwardMode,
                   "Print the forward-mode graph instead: inputs and their tangents in, outputs and their tangents out "
                   "(the stage linearize)");
  command
      .add_flag("--check", options->checks,
                "With --jvp: run forward mode and the joint graph and compare <Jv, w> with <v, J^T w> (exit 1 if they "
                "differ)")
      ->needs("--jvp");
  command.add_flag("--functionalize-rng", options->functionalRng,
                   "Seeds and offsets of CUDA's random numbers become inputs (functorch's functionalize_rng_ops)");
  command
      .add_option("--format", options->format,
                  "Print the graph of that stage: table, text, code, readable, dot, svg, png, json or signature")
      ->check(CLI::IsMember({"table", "text", "code", "readable", "dot", "svg", "png", "json", "signature"}));
  command.add_option("-o,--output", options->output, "Write the graph to this file; .py: as a repro that PyTorch runs")
      ->type_name("FILE");
  addInputOptions(command, options->request.graph);
  addSymbolOption(command, options->request.graph.symbols);
  line.onRun(command, [options](Context& context) { return runJoint(context, *options); });
}

}  // namespace kerf::cli
