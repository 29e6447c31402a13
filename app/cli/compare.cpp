// kerf compare GRAPH: same_two_models: the compiled graph against the interpreter, both measured against fp64.
#include <algorithm>

#include "app/cli/bits_report.h"
#include "app/cli/commands.h"
#include "app/cli/comparison_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/oracle_options.h"
#include "app/cli/pass_check.h"
#include "app/cli/rank_runs.h"
#include "app/cli/repro_dump.h"
#include "app/cli/text_table.h"
#include "app/cli/verify_report.h"

namespace kerf::cli {

namespace {

FailureOfRun failureOf(const Comparison& comparison) {
  if (!comparison.failure.empty()) return FailureOfRun::Exception;
  return comparison.good() ? FailureOfRun::None : FailureOfRun::Accuracy;
}

Result<int> runCompare(Context& context, CompareRequest request, PassCheckChoice choice, const ReproDump& dump) {
  KERF_CHECK(takeNumericCheck(request.passes, choice));
  KERF_CHECK(dumpBefore(context, dump, request.graph));
  KERF_TRY(const auto comparison, context.perform(request));
  KERF_CHECK(dumpAfter(context, dump, request.graph, failureOf(comparison)));
  const PassesRequest checking = checkRequest(request.graph, request.passes, choice, request.plants);
  KERF_TRY(const auto check, checkedPasses(context, checking));
  std::vector<KernelBits> kernels;
  if (request.accuracy.exact && comparison.failure.empty()) {
    BitsRequest bits{.graph = request.graph, .compile = {}, .own = true, .backend = request.backend};
    bits.passes = request.passes;
    bits.timeout = request.timeout;
    kernels = kernelBitsOf(context, bits);
  }
  if (context.json) {
    Json answer = comparisonJson(request, comparison);
    if (request.accuracy.exact) answer["kernels"] = kernelBitsJson(kernels);
    if (check.asked) answer["check"] = jsonOf(check);
    printJson(answer);
  } else {
    printComparison(comparison, request.depth, context.verbose);
    fmt::print("{}", kernelBitsText(kernels, context.verbose));
    printPassCheck(check);
  }
  if (!context.json && !request.plants.empty()) fmt::print("planted: {}\n", fmt::join(request.plants, ", "));
  return comparison.good() && check.good() ? 0 : 1;
}

/// The graphs of a captured program, where the whole capture is named; none of anything else.
std::vector<std::string> graphsOfProgram(Context& context, const std::string& text) {
  const bool isBare = text.starts_with("c") && text.find_first_not_of("0123456789", 1) == std::string::npos;
  if (!isBare) return {};
  const auto index = context.perform(IndexRequest{text});
  std::vector<std::string> graphs;
  if (!index || index->kind != "program" || index->graphs.size() < 2) return graphs;
  for (const auto& graph : index->graphs) graphs.push_back(graph.id);
  return graphs;
}

struct ProgramSum {
  Json graphs = Json::array();
  TextTable table{{"graph", "outputs", "differ", "worst ratio to limit", "verdict"}};
  std::int64_t same = 0, different = 0, failed = 0;

  void add(const CompareRequest& request, const Result<Comparison>& comparison) {
    if (!comparison) {
      ++failed;
      graphs.push_back({{"graph", request.graph.text}, {"error", comparison.error().text()}});
      table.add({request.graph.text, "-", "-", "-", comparison.error().text()});
      return;
    }
    ++(!comparison->failure.empty() ? failed : comparison->good() ? same : different);
    graphs.push_back(comparisonJson(request, *comparison));
    const auto bad = std::ranges::count(comparison->outputs, false, &OutputVerdict::same);
    double worst = 0;
    for (const auto& row : comparison->outputs) worst = std::max(worst, row.ratioToLimit);
    table.add({request.graph.text, std::to_string(comparison->outputs.size()), std::to_string(bad), figure(worst),
               !comparison->failure.empty() ? comparison->failure
               : comparison->good()         ? "same"
                                            : "DIFFERENT"});
  }
};

/// All graphs of a program, one after another, and the sum.
Result<int> compareProgram(Context& context, CompareRequest request, const std::vector<std::string>& graphs) {
  ProgramSum sum;
  for (const std::string& graph : graphs) {
    request.graph.text = graph;
    sum.add(request, context.perform(request));
  }
  const bool good = sum.same == std::ssize(graphs);
  if (context.json) {
    printJson({{"same", good},
               {"graphs", sum.graphs},
               {"sum", {{"same", sum.same}, {"different", sum.different}, {"failed", sum.failed}}}});
    return good ? 0 : 1;
  }
  fmt::print("{}{} of {} same, {} different, {} failed\n", sum.table.text(), sum.same,
             counted(std::ssize(graphs), "graph"), sum.different, sum.failed);
  return good ? 0 : 1;
}

/// Two graphs that ought to mean the same: what `kerf verify GRAPH --against OTHER` does.
Result<int> runAgainst(Context& context, const CompareRequest& request, const std::string& against) {
  VerifyRequest verify;
  verify.capture = request.graph;
  verify.against.text = against;
  verify.timeout = request.timeout;
  KERF_TRY(const auto verification, context.perform(verify));
  if (context.json)
    printJson(verificationJson(verify, verification));
  else
    printVerification(verification, context.verbose);
  return verification.good() ? 0 : 1;
}

/// A folder with a file for each rank: all of them together.
Result<int> compareEachRank(Context& context, const CompareRequest& request, const std::string& against,
                            const RankPlacing& placing) {
  if (!request.emulate.empty() || !request.passes.usual() || request.graph.stage == "joint")
    return fail(ErrorCode::BadUsage, "ranks are compared as they are: without passes, emulation and training");
  RankRunsRequest ranks{.graph = request.graph,
                        .purpose = RankRunsRequest::Purpose::Compare,
                        .against = against,
                        .backend = request.backend,
                        .dtype = {},
                        .plants = request.plants,
                        .tolerance = request.tolerance < 0 ? 1e-3 : request.tolerance,
                        .timeout = request.timeout};
  KERF_CHECK(placing.takeInto(ranks));
  return runOnRanks(context, ranks);
}

}  // namespace

void addCompare(CommandLine& line) {
  auto& command =
      line.add("compare", "Compare the compiled graph with the interpreter and fp64 (exit 1 if they differ)",
               "  kerf compare repro.py\n"
               "  kerf compare c3/g1 --nodes --json\n"
               "  kerf compare repro.py --plant relu=accuracy --nodes\n"
               "  kerf compare model.pt2 --train\n"
               "  kerf compare before.py --against after.py\n"
               "  kerf compare ranks --against whole.py\n"
               "  kerf compare ranks --against whole.py --mesh 2,2 --placement x=S0,R");
  auto request = std::make_shared<CompareRequest>();
  command
      .add_option("GRAPH", request->graph.text,
                  "Path or store id (of a captured program: all its graphs), or a folder with rank0.py, rank1.py, …")
      ->required();
  command.add_option("--backend", request->backend, "Backend of the compiled side: llvm, interp or cuda")
      ->capture_default_str();
  addAccuracyOptions(command, request->tolerance, request->accuracy, true,
                     "Tolerance of same(), for all results or by name (PyTorch's repro_tolerance)");
  command.add_flag_callback(
      "--nodes", [request] { request->depth = CompareRequest::Depth::Nodes; },
      "Compare every node too, worst first, and mark the first bad one");
  addPlantOption(command, request->plants,
                 "Plant a fault in the compiled side: OP=KIND or pass:NAME=KIND, KIND one "
                 "of accuracy, compile_error, runtime_error, crash, hang, flaky:P");
  command.add_option("--emulate", request->emulate,
                     "inductor or kerf: also run a reference that rounds 16-bit values like the fused kernels of "
                     "that compiler, to show which differences come from fusion (inductor: the fusion groups in the "
                     "capture)");
  command
      .add_option("--results", request->results,
                  "With --emulate: compare these outputs (out0, out1, … of a .safetensors file) instead of the "
                  "compiled side's")
      ->type_name("FILE")
      ->needs("--emulate");
  addTimeoutOption(command, request->timeout, "Seconds that the compiled side may take");
  addTrainOptions(command, request->graph, "Compare a training step: outputs and the gradients of all parameters",
                  "inductor");
  addRunLimitOptions(command, request->limits);
  auto check = std::make_shared<PassCheckChoice>();
  addCheckedPassOptions(command, request->passes, *check);
  addInputOptions(command, request->graph);
  addSymbolOption(command, request->graph.symbols);
  auto against = std::make_shared<std::string>();
  command
      .add_option("--against", *against,
                  "Compare with this graph instead of the compiled side. It must take the same inputs and return the "
                  "same outputs (kerf verify)")
      ->type_name("GRAPH")
      ->excludes("--nodes")
      ->excludes("--plant")
      ->excludes("--emulate")
      ->excludes("--check-passes");
  const auto placing = addRankPlacing(command);
  auto dump = std::make_shared<ReproDump>();
  addReproOptions(command, *dump);
  line.onRun(command, [request, against, check, dump, placing](Context& context) -> Result<int> {
    KERF_TRY(const bool isOfRanks, meansRanks(context, request->graph.text));
    if (isOfRanks) return compareEachRank(context, *request, *against, *placing);
    if (placing->isGiven())
      return fail(ErrorCode::BadUsage, "{} is no folder of ranks: one graph has no mesh", request->graph.text);
    if (against->empty())
      if (const auto graphs = graphsOfProgram(context, request->graph.text); !graphs.empty())
        return compareProgram(context, *request, graphs);
    return against->empty() ? runCompare(context, *request, *check, *dump) : runAgainst(context, *request, *against);
  });
}

}  // namespace kerf::cli
