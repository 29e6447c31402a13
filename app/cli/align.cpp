// kerf align A B: two recordings of runs, and the first step with equal inputs and unequal results.
#include "app/cli/align_report.h"
#include "app/cli/bits_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/oracle_options.h"
#include "app/cli/terminal.h"

namespace kerf::cli {

namespace {

/// Of the compilation whose log lies beside the values that were aligned, or that has the graph.
std::vector<KernelBits> bitsBeside(Context& context, const AlignRequest& request) {
  for (const std::string& path : {request.graph, request.b, request.a}) {
    if (path.empty()) continue;
    BitsRequest bits;
    bits.graph.text = path;
    if (auto kernels = kernelBitsOf(context, bits); !kernels.empty()) return kernels;
  }
  return {};
}

Result<int> runAlign(Context& context, AlignRequest request) {
  request.all = request.all && context.json;
  request.exact = request.oracle.accuracy.exact;
  KERF_TRY(const AlignDoc doc, context.perform(request));
  const auto kernels = request.exact ? bitsBeside(context, request) : std::vector<KernelBits>();
  if (context.json) {
    Json answer = jsonOf(doc);
    if (request.exact) answer["kernels"] = kernelBitsJson(kernels);
    printJson(answer);
  } else {
    fmt::print("{}{}", alignmentText(doc, request.exact), kernelBitsText(kernels, context.verbose));
  }
  if (doc.verdict == "unknown") return 2;
  return doc.verdict == "different" || (request.exact && doc.verdict == "rounding") ? 1 : 0;
}

}  // namespace

void addAlign(CommandLine& line) {
  auto& command =
      line.add("align", "Align two recordings of runs: the first step that is wrong (exit 1 if there is one)",
               "  kerf align eager.json compiled.json\n"
               "  kerf align run                             # both sides of a folder of kerf record\n"
               "  kerf align monday#compiled tuesday#compiled --exact\n"
               "  kerf align a.safetensors b.safetensors --graph model.pt2\n"
               "  kerf align run --minify --oracle torch -o small");
  auto request = std::make_shared<AlignRequest>();
  command
      .add_option(
          "A", request->a,
          "A log of DebugMode (JSON or text) or of torchtitan, a folder of kerf record, or safetensors of named "
          "values")
      ->required();
  command.add_option("B", request->b,
                     "The other recording. Of a folder of kerf record its two sides are aligned without");
  command.add_option("--graph", request->graph, "The graph whose nodes values are named after")->type_name("GRAPH");
  command.add_flag("--all", request->all, "With --json: every pair, not only those that matter");
  command.add_flag(
      "--minify", request->minify,
      "Write the first wrong step with its recorded values as a repro, and minify it if --oracle sees it fail");
  command.add_option("-o,--output", request->output, "Folder of that repro (default: kerf-repro-align)")
      ->type_name("DIR");
  addOracleOptions(command, request->oracle);
  line.onRun(command, [request](Context& context) { return runAlign(context, *request); });
}

}  // namespace kerf::cli
