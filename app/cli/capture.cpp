// kerf capture FILE.py[:function]: a program run on Kerf's engine, in the sandbox, and what was compiled of it stored.
#include <fstream>

#include "app/cli/capture_program_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/repro_dump.h"

namespace kerf::cli {

namespace {

struct CaptureChoice {
  CaptureProgramRequest request;
  std::string reproAfter, save;
  bool explain = false;
  ReproDump dump;
};

/// The graph that a repro is made of: as Dynamo gave it, or as AOTAutograd's stage has it.
GraphAddress graphOfCapture(const CaptureChoice& choice, const std::string& capture, std::size_t index) {
  GraphAddress address;
  address.text = fmt::format("{}/g{}", capture, index + 1);
  if (choice.reproAfter == "aot") address.stage = "aten";
  return address;
}

/// PyTorch's minifier folder, as the level asks for it: of the last graph where the program failed, of all at level 3,
/// of those that compute other values at level 4.
Result<void> writeRepros(Context& context, const CaptureChoice& choice, const ProgramDoc& doc) {
  const StoredProgram stored = storedProgram(doc);
  if (choice.dump.level == 0 || stored.graphs == 0) return {};
  for (std::size_t i = 0; i < stored.graphs; ++i) {
    const GraphAddress address = graphOfCapture(choice, stored.capture, i);
    KERF_CHECK(dumpBefore(context, choice.dump, address));
    const bool failed = doc.exitStatus != 0 && i + 1 == stored.graphs;
    if (failed) KERF_CHECK(dumpAfter(context, choice.dump, address, FailureOfRun::Exception));
    if (failed || choice.dump.level < 4) continue;
    CompareRequest compare;
    compare.graph = address;
    KERF_TRY(const Comparison comparison, context.perform(compare));
    const auto failure = !comparison.failure.empty() ? FailureOfRun::Exception
                         : comparison.good()         ? FailureOfRun::None
                                                     : FailureOfRun::Accuracy;
    KERF_CHECK(dumpAfter(context, choice.dump, address, failure));
  }
  return {};
}

Result<void> saveJson(const std::string& path, const Json& json) {
  std::ofstream file(path, std::ios::binary);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be written", path);
  return {};
}

Result<int> runCapture(Context& context, CaptureChoice choice) {
  if (!choice.reproAfter.empty() && choice.dump.level == 0) choice.dump.level = 2;
  KERF_TRY(const ProgramDoc doc, context.perform(choice.request));
  const Json json = programJson(doc);
  if (context.json)
    printJson(json);
  else
    printProgram(doc, choice.explain);
  if (!choice.save.empty()) KERF_CHECK(saveJson(choice.save, json));
  KERF_CHECK(writeRepros(context, choice, doc));
  return doc.exitStatus == 0 ? 0 : 1;
}

}  // namespace

void addCapture(CommandLine& line) {
  auto& command = line.add(
      "capture", "Run a Python program on Kerf's engine, in a sandbox, and store what it compiles (exit 1 if it fails)",
      "  kerf capture bug.py\n"
      "  kerf capture bug.py:Model.forward --explain\n"
      "  kerf capture bug.py --repro-after dynamo\n"
      "  kerf capture train.py --timeout 300 --json\n"
      "  kerf capture train_ddp.py --ranks 4");
  auto choice = std::make_shared<CaptureChoice>();
  CaptureProgramRequest& request = choice->request;
  command.add_option("FILE", request.path, "Python program; FILE.py:NAME compiles that function or class of it")
      ->required();
  command
      .add_option("--backend", request.backend,
                  "In place of what the program gives torch.compile: eager (the interpreter), aot_eager (graphs of "
                  "AOTAutograd, by the interpreter) or inductor (compiled code)")
      ->check(CLI::IsMember({"eager", "aot_eager", "inductor"}));
  command
      .add_option("--dynamic", request.dynamic,
                  "In place of what the program gives torch.compile: sizes are symbols (true), numbers (false), or "
                  "symbols once they differ (auto)")
      ->check(CLI::IsMember({"true", "false", "auto"}));
  command.add_flag("--fullgraph", request.fullgraph,
                   "A graph break is an error, whatever the program gives torch.compile");
  command
      .add_option("--ranks", request.ranks,
                  "Run the program so often, each time as another rank of torch.distributed, as torchrun "
                  "--nproc-per-node does")
      ->envname("WORLD_SIZE")
      ->check(CLI::Range(std::int64_t{1}, workbench::mostProgramRanks));
  command.add_flag("--explain", choice->explain, "Print reasons, hints and guards in full");
  command.add_option("--save", choice->save, "Write what --json prints to this file, too")->type_name("FILE");
  command
      .add_option("--repro-after", choice->reproAfter,
                  "Write PyTorch's minifier folder: of Dynamo's graph or of AOTAutograd's")
      ->check(CLI::IsMember({"dynamo", "aot"}));
  addReproOptions(command, choice->dump);
  addTimeoutOption(command, request.timeout, "Seconds that the program may take");
  line.onRun(command, [choice](Context& context) { return runCapture(context, *choice); });
}

}  // namespace kerf::cli
