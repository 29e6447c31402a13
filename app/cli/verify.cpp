// kerf verify CAPTURE: every recorded stage of a compilation against the one before it.
#include "app/cli/bits_report.h"
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/rank_runs.h"
#include "app/cli/verify_report.h"

namespace kerf::cli {

namespace {

/// A folder with a file for each rank: stages and passes on collectives, all ranks together.
Result<int> verifyEachRank(Context& context, const VerifyRequest& request) {
  if (request.ownPasses || !request.passes.usual() || !request.compile.empty() || !request.stage.empty())
    return fail(ErrorCode::BadUsage, "ranks are verified together: choose no compile id, stage or passes");
  RankRunsRequest ranks{.graph = request.capture, .purpose = RankRunsRequest::Purpose::Verify};
  ranks.against = request.against.text;
  ranks.timeout = request.timeout;
  return runOnRanks(context, ranks);
}

Result<int> runVerify(Context& context, const VerifyRequest& request) {
  KERF_TRY(const bool isOfRanks, meansRanks(context, request.capture.text));
  if (isOfRanks) return verifyEachRank(context, request);
  KERF_TRY(const auto verification, context.perform(request));
  std::vector<KernelBits> kernels;
  if (request.exact && request.against.text.empty())
    kernels = kernelBitsOf(context, {.graph = request.capture, .compile = request.compile});
  if (context.json) {
    Json answer = verificationJson(request, verification);
    if (request.exact) answer["kernels"] = kernelBitsJson(kernels);
    printJson(answer);
  } else {
    printVerification(verification, context.verbose);
    fmt::print("{}", kernelBitsText(kernels, context.verbose));
  }
  if (!verification.comparedAny()) return 2;
  return verification.good() ? 0 : 1;
}

}  // namespace

void addVerify(CommandLine& line) {
  auto& command = line.add("verify",
                           "Compare every recorded stage of a compilation with the one before it (exit 1 if one "
                           "differs)",
                           "  kerf verify trace/dedicated_log_torch_trace_x.log\n"
                           "  kerf verify trace.log --compile-id 0/0 --stage inductor_post_grad_graph\n"
                           "  kerf verify torch_compile_debug/run_x --json\n"
                           "  kerf verify trace.log --own-passes --config reinplace_inplaceable_ops.enabled=true\n"
                           "  kerf verify trace.log#aot_forward_graph --against other.log#aot_forward_graph\n"
                           "  kerf verify ranks");
  auto request = std::make_shared<VerifyRequest>();
  command.add_option("CAPTURE", request->capture.text, "Log, debug folder, folder of graph transforms, or store id")
      ->required();
  command
      .add_option("--against", request->against.text,
                  "Compare the graph CAPTURE with this graph instead. It must take the same inputs and return the "
                  "same outputs")
      ->type_name("GRAPH");
  command.add_option("--compile-id", request->compile, "Only this compile id, folder or pass, e.g. 0/0")
      ->type_name("ID");
  command.add_option("--stage", request->stage, "Only pairs of stages with this one")->type_name("NAME");
  addToleranceOption(command, request->tolerance, "Largest relative error, in fp64, of values that count as the same");
  command.add_flag_callback(
      "--fp64-only", [request] { request->recorded = false; },
      "Compare only in fp64, not in the recorded dtypes (takes half the time)");
  command.add_flag("--exact", request->exact, "In the recorded dtypes, values are the same only if all their bits are");
  command.add_flag_callback(
      "--no-gradients", [request] { request->gradients = false; },
      "Do not check the gradients of the joint graph by finite differences");
  command.add_flag("--own-passes", request->ownPasses,
                   "Run Kerf's passes on the graphs before PyTorch's passes, and compare the results");
  addPassOptions(command, request->passes);
  addTimeoutOption(command, request->timeout, "Seconds that one compile id may take");
  addInputOptions(command, request->capture);
  addSymbolOption(command, request->capture.symbols);
  line.onRun(command, [request](Context& context) { return runVerify(context, *request); });
}

}  // namespace kerf::cli
