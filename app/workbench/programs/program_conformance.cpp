#include "app/workbench/programs/program_conformance.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "app/workbench/programs/eager_calls.h"
#include "app/workbench/programs/program_runs.h"
#include "app/workbench/programs/recorded_values.h"

namespace kerf::workbench {

namespace {

using Path = std::filesystem::path;

/// Fields in the order of ConformanceAnswer::fields.
enum Field { Values, Output };
constexpr std::string_view fieldNames[] = {"values", "output"};

std::vector<Path> recordedIn(const Path& folder) {
  std::vector<Path> found;
  std::error_code ignored;
  for (const Path& part : {folder, folder / "programs", folder / "scripts"})
    for (const auto& entry : std::filesystem::directory_iterator(part, ignored)) {
      const Path& path = entry.path();
      if (path.extension() == ".py" && std::filesystem::exists(Path(path).replace_extension(".json"), ignored))
        found.push_back(path);
    }
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

/// Empty where what the program gave is what was recorded.
std::string differenceOf(const Path& path, const Recording& recording, const std::stop_token& stop) {
  const auto text = textOf(path);
  if (!text) return text.error().text();
  ProgramRun run{.text = *text, .name = path.filename().string()};
  if (!recording.isScript) {
    run.prologue = "import torch\ntorch.manual_seed(0)\n";
    run.driver = std::string(eagerCalls());
  }
  const auto ran = runProgramValues(run, stop);
  if (!ran) return ran.error().text();
  if (recording.isScript)
    return ran->output == recording.output ? "" : "it prints other text: " + ran->output.substr(0, 200);
  if (!ran->exception.empty()) return ran->exception;
  return compareValues(recording, ran->values);
}

}  // namespace

bool holdsPrograms(const Path& folder) { return std::filesystem::is_directory(folder) && !recordedIn(folder).empty(); }

Result<ConformanceAnswer> replayPrograms(const Path& folder, std::stop_token stop) {
  ConformanceAnswer answer{ConformanceAnswer::Kind::Programs};
  for (const std::string_view name : fieldNames) answer.fields.push_back({std::string(name)});
  for (const Path& path : recordedIn(folder)) {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
    KERF_TRY(const Recording recording, readRecording(Path(path).replace_extension(".json")));
    RanksFieldRow& field = answer.fields[recording.isScript ? Output : Values];
    const std::string difference = differenceOf(path, recording, stop);
    ++answer.cases;
    ++field.asked;
    if (difference.empty()) {
      ++field.equal;
      ++answer.agreed;
    } else {
      ++answer.failed;
      answer.differences.push_back({path.stem().string(), field.field, difference});
    }
  }
  return answer;
}

}  // namespace kerf::workbench
