#include "app/workbench/programs/program_runs.h"

#ifdef KERF_HAS_PROGRAMS

#include <filesystem>

#include "engine/dynamo/environment.h"
#include "engine/torch_api/torch_environment.h"

namespace kerf::workbench {

namespace {

/// What was compiled, told when the program is over.
constexpr const char* tellsLog = "import torch\nanswer = torch._C._dynamo.log()\n";

}  // namespace

Result<ProgramDoc> runProgramText(const std::string& text, const CaptureProgramRequest& request, std::stop_token stop) {
  ProgramRequest program{.text = text, .name = std::filesystem::path(request.path).filename().string()};
  program.driver = tellsLog;
  program.driverAlways = true;
  program.limits.timeout = request.timeout;
  program.limits.memoryBytes = request.memoryBytes;
  KERF_TRY(ProgramAnswer answer, runProgram(program, dynamoEnvironment(), encodeObject, std::move(stop)));
  ProgramDoc doc;
  if (!answer.answer.empty()) {
    KERF_TRY(const Value log, decodeObject(answer.answer));
    if (const auto* json = log.as<std::string>()) doc.captured = *json;
  }
  doc.output = std::move(answer.output);
  doc.errors = std::move(answer.errors);
  doc.exitStatus = answer.exitStatus;
  doc.exception = std::move(answer.exception);
  doc.line = answer.line;
  doc.isOutputCut = answer.isOutputCut;
  return doc;
}

Result<ProgramValues> runProgramValues(const ProgramRun& run, std::stop_token stop) {
  ProgramRequest program{.text = run.text, .name = run.name, .prologue = run.prologue, .driver = run.driver};
  program.driverAlways = run.driverAlways;
  KERF_TRY(ProgramAnswer answer, runProgram(program, dynamoEnvironment(), encodeObject, std::move(stop)));
  ProgramValues values{std::move(answer.output), std::move(answer.exception), {}};
  if (!answer.answer.empty()) {
    KERF_TRY(values.values, decodeObject(answer.answer));
  }
  return values;
}

}  // namespace kerf::workbench

#else

namespace kerf::workbench {

Result<ProgramDoc> runProgramText(const std::string&, const CaptureProgramRequest&, std::stop_token) {
  return fail(ErrorCode::Environment, "this kerf was built without CPython 3.11, which runs programs");
}

Result<ProgramValues> runProgramValues(const ProgramRun&, std::stop_token) {
  return fail(ErrorCode::Environment, "this kerf was built without CPython 3.11, which runs programs");
}

}  // namespace kerf::workbench

#endif
