#include "app/workbench/programs/program_conformance.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "app/workbench/programs/eager_calls.h"
#include "app/workbench/programs/explained_programs.h"
#include "app/workbench/programs/program_runs.h"
#include "app/workbench/programs/recorded_log.h"
#include "app/workbench/programs/recorded_values.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using Path = std::filesystem::path;

/// Fields in the order of ConformanceAnswer::fields; those of Dynamo's log stand between the two.
constexpr std::string_view valuesField = "values", outputField = "output";

bool isRecorded(const Path& path) {
  std::error_code ignored;
  return path.extension() == ".py" && std::filesystem::exists(Path(path).replace_extension(".json"), ignored);
}

std::vector<Path> recordedIn(const Path& path) {
  if (isRecorded(path)) return {path};
  std::vector<Path> found;
  std::error_code ignored;
  for (const Path& part : {path, path / "programs", path / "scripts"})
    for (const auto& entry : std::filesystem::directory_iterator(part, ignored))
      if (isRecorded(entry.path())) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

Result<std::string> textOf(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::NotFound, "{} cannot be read", path.string());
  return std::move(text).str();
}

using Differences = std::map<std::string_view, std::string>;

/// What one run of a program gave, and the log of what it compiled.
struct GivenRun {
  std::string failure;  ///< empty where the driver bound its answer
  Value values;
  std::string output;
  nlohmann::json log;
  std::size_t firstFrames = 0;
};

GivenRun runRecorded(const Path& path, bool isScript, bool compiled, const std::stop_token& stop) {
  GivenRun given;
  const auto text = textOf(path);
  if (!text) return {text.error().text(), {}, {}, {}, 0};
  ProgramRun run{.text = *text, .name = path.filename().string()};
  run.driverAlways = isScript;
  run.driver = "import torch\nanswer = torch._C._dynamo.log()\n";
  if (!isScript) {
    run.prologue = "import torch\ntorch.manual_seed(0)\n";
    run.driver =
        std::string(eagerCalls()) + (compiled ? "\nanswer = _kerf_run(True)\n" : "\nanswer = _kerf_run(False)\n");
  }
  auto ran = runProgramValues(run, stop);
  if (!ran) return {ran.error().text(), {}, {}, {}, 0};
  given.output = std::move(ran->output);
  given.values = std::move(ran->values);
  if (!isScript) given.failure = std::move(ran->exception);
  const Value* log = isScript ? &given.values : nullptr;
  if (given.values.isList() && given.values.list().size() == 5) {
    log = &given.values.list()[3];
    if (const auto* frames = given.values.list()[4].as<std::int64_t>()) given.firstFrames = std::size_t(*frames);
  }
  if (const auto* json = log != nullptr ? log->as<std::string>() : nullptr) given.log = readJson<nlohmann::json>(*json);
  return given;
}

std::string valueDifference(const Recording& recording, const GivenRun& given, bool compiled) {
  return given.failure.empty() ? compareValues(recording, given.values, compiled) : given.failure;
}

Differences differencesOf(const Path& path, const Recording& recording, const std::stop_token& stop) {
  const GivenRun given = runRecorded(path, recording.isScript, true, stop);
  Differences differences = compareLog(recording.document, given.log, given.firstFrames);
  if (recording.isScript) {
    differences[outputField] =
        given.output == recording.output ? "" : "it prints other text: " + given.output.substr(0, 200);
    return differences;
  }
  std::string& values = differences[valuesField];
  values = valueDifference(recording, runRecorded(path, recording.isScript, false, stop), false);
  if (!values.empty()) return differences;
  if (const std::string text = valueDifference(recording, given, true); !text.empty()) values = "compiled: " + text;
  return differences;
}

Differences differencesOf(const ExplainedProgram& program, const std::stop_token& stop) {
  const GivenRun given = runRecorded(program.path, false, true, stop);
  Differences differences = compareExplained(program.explained, given.log);
  differences[valuesField] = given.failure.empty() ? compareOutputs(program.path, given.values) : given.failure;
  return differences;
}

void count(ConformanceAnswer& answer, const std::string& name, const Differences& differences) {
  bool agrees = true;
  for (RanksFieldRow& field : answer.fields) {
    const auto found = differences.find(field.field);
    if (found == differences.end()) continue;
    ++field.asked;
    if (found->second.empty()) {
      ++field.equal;
      continue;
    }
    agrees = false;
    answer.differences.push_back({name, field.field, found->second});
  }
  ++answer.cases;
  ++(agrees ? answer.agreed : answer.failed);
}

}  // namespace

bool holdsPrograms(const Path& path) { return !recordedIn(path).empty() || !explainedIn(path).empty(); }

Result<ConformanceAnswer> replayPrograms(const Path& folder, const Job& job) {
  ConformanceAnswer answer{ConformanceAnswer::Kind::Programs};
  answer.fields.push_back({std::string(valuesField)});
  for (const std::string_view name : logFieldNames) answer.fields.push_back({std::string(name)});
  answer.fields.push_back({std::string(outputField)});
  const std::vector<Path> programs = recordedIn(folder);
  const std::vector<ExplainedProgram> explained = explainedIn(folder);
  const std::size_t total = programs.size() + explained.size();
  for (std::size_t k = 0; k < total; ++k) {
    const Path& path = k < programs.size() ? programs[k] : explained[k - programs.size()].path;
    const std::string name = path.stem().string();
    if (!job.progress(fmt::format("{} of {} programs: {}", k + 1, total, name), double(k) / double(total)))
      return fail(ErrorCode::Cancelled, "stopped");
    if (k >= programs.size()) {
      count(answer, name, differencesOf(explained[k - programs.size()], job.stop));
      continue;
    }
    KERF_TRY(const Recording recording, readRecording(Path(path).replace_extension(".json")));
    count(answer, name, differencesOf(path, recording, job.stop));
  }
  return answer;
}

}  // namespace kerf::workbench
