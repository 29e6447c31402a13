// kerf verify CAPTURE: every recorded stage of a compilation against the one before it.
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/verify_report.h"

namespace kerf::cli {

namespace {

Result<int> runVerify(Context& context, const VerifyRequest& request) {
  KERF_TRY(const auto verification, context.perform(request));
  if (context.json)
    printJson(verificationJson(request, verification));
  else
    printVerification(verification, context.verbose);
  if (!verification.comparedAny()) return 2;
  return verification.good() ? 0 : 1;
}

}  // namespace

void addVerify(CommandLine& line) {
  auto& command =
      line.add("verify", "Run every recorded stage of a compilation against the one before it (exit 1 if one differs)",
               "  kerf verify trace/dedicated_log_torch_trace_x.log\n"
               "  kerf verify trace.log --compile-id 0/0 --stage inductor_post_grad_graph\n"
               "  kerf verify torch_compile_debug/run_x --json\n"
               "  kerf verify trace.log --own-passes --config reinplace_inplaceable_ops.enabled=true\n"
               "  kerf verify trace.log#aot_forward_graph --against other.log#aot_forward_graph");
  auto request = std::make_shared<VerifyRequest>();
  command.add_option("CAPTURE", request->capture.text, "Log, debug folder, folder of graph transforms or store id")
      ->required();
  command
      .add_option("--against", request->against.text,
                  "Compare the graph CAPTURE with this one instead: same inputs, same outputs")
      ->type_name("GRAPH");
  command.add_option("--compile-id", request->compile, "Only this compile id, folder or pass, e.g. 0/0")
      ->type_name("ID");
  command.add_option("--stage", request->stage, "Only the pairs with this stage")->type_name("NAME");
  addToleranceOption(command, request->tolerance, "Largest relative error in fp64 of what is the same");
  command.add_flag_callback(
      "--fp64-only", [request] { request->recorded = false; }, "Do not run in the recorded dtypes: half the time");
  command.add_flag_callback(
      "--no-gradients", [request] { request->gradients = false; },
      "Do not check the joint graph's gradients by finite differences");
  command.add_flag("--own-passes", request->ownPasses,
                   "What Kerf's passes make of the graphs before PyTorch's, beside what PyTorch's made");
  addPassOptions(command, request->passes);
  addTimeoutOption(command, request->timeout, "Seconds that one compile id may take");
  addInputOptions(command, request->capture);
  addSymbolOption(command, request->capture.symbols);
  line.onRun(command, [request](Context& context) { return runVerify(context, *request); });
}

}  // namespace kerf::cli
