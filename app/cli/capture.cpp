// kerf capture FILE.py: a program run on Kerf's engine, in the sandbox.
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"

namespace kerf::cli {

namespace {

/// What Dynamo's log holds, as the engine wrote it.
Json capturedJson(const ProgramDoc& doc) {
  Json log = Json::parse(doc.captured, nullptr, false);
  return log.is_object() ? log : Json::object();
}

Json captureJson(const ProgramDoc& doc) {
  return {{"path", doc.path},
          {"output", doc.output},
          {"errors", doc.errors},
          {"exit_status", doc.exitStatus},
          {"exception", doc.exception.empty() ? Json() : Json(doc.exception)},
          {"line", doc.line > 0 ? Json(doc.line) : Json()},
          {"output_cut", doc.isOutputCut},
          {"captured", capturedJson(doc)},
          {"elapsed_ms", milliseconds(doc.time)}};
}

/// One line a frame and a break, after the program's own output.
void printCaptured(const Json& log) {
  const auto count = [&](const char* name) { return log.contains(name) ? log[name].size() : std::size_t{0}; };
  if (count("frames") + count("graphs") + count("breaks") == 0) return;
  fmt::print("\n{} frames, {} graphs, {} graph breaks, {} recompiles\n", count("frames"), count("graphs"),
             count("breaks"), count("recompiles"));
  for (const Json& frame : log.value("frames", Json::array()))
    fmt::print("frame {} at {}\n", frame.value("frame", ""), frame.value("at", ""));
  for (const Json& item : log.value("breaks", Json::array())) {
    const Json stack = item.value("stack", Json::array());
    fmt::print("break at {}: {}\n", stack.empty() ? "" : stack.back().get<std::string>(), item.value("type", ""));
  }
}

void printCapture(const ProgramDoc& doc) {
  fmt::print("{}", doc.output);
  if (!doc.errors.empty()) fmt::print(stderr, "{}", doc.errors);
  printCaptured(capturedJson(doc));
  if (doc.isOutputCut) fmt::print(stderr, "the program printed more than Kerf keeps; the rest is lost\n");
}

Result<int> runCapture(Context& context, const CaptureProgramRequest& request) {
  KERF_TRY(const ProgramDoc doc, context.perform(request));
  if (context.json)
    printJson(captureJson(doc));
  else
    printCapture(doc);
  return doc.exitStatus == 0 ? 0 : 1;
}

}  // namespace

void addCapture(CommandLine& line) {
  auto& command =
      line.add("capture", "Run a Python program on Kerf's engine, in a sandbox (exit 1 if the program fails)",
               "  kerf capture bug.py\n"
               "  kerf capture bug.py --json\n"
               "  kerf capture train.py --timeout 300");
  auto request = std::make_shared<CaptureProgramRequest>();
  command.add_option("FILE", request->path, "Python program")->required();
  addTimeoutOption(command, request->timeout, "Seconds that the program may take");
  line.onRun(command, [request](Context& context) { return runCapture(context, *request); });
}

}  // namespace kerf::cli
