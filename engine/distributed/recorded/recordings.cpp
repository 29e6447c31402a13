#include "engine/distributed/recorded/recordings.h"

#include <fstream>

#include "engine/distributed/recorded/agreement_cases.h"
#include "engine/distributed/recorded/dtensor_cases.h"
#include "engine/distributed/recorded/graph_cases.h"
#include "engine/distributed/recorded/module_cases.h"
#include "engine/distributed/recorded/op_cases.h"
#include "engine/distributed/recorded/redistribute_cases.h"
#include "engine/support/read_json.h"

namespace kerf::inline distributed::inline recorded {
namespace {

struct Part {
  const char* name;
  Result<void> (*check)(const Json&, const SavedTensors&, RanksReport&);
};
constexpr Part parts[] = {{"ops", checkOpCase},         {"redistribute", checkRedistributeCase},
                          {"modules", checkModuleCase}, {"random", checkRandomCase},
                          {"graphs", checkGraphCase},   {"collective_compile", checkAgreementCase}};

std::filesystem::path rootOf(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder / "public", ignored) ? folder / "public" : folder;
}

Result<void> checkLine(const Part& part, const std::string& text, const SavedTensors& tensors, RanksReport& report) {
  const Json line = readJson<Json>(text);
  if (!line.is_object()) return fail(ErrorCode::BadInput, "not a JSON object");
  try {
    return part.check(line, tensors, report);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::BadInput, "unexpected JSON: {}", error.what());
  }
}

/// "ops.json" and "convnext.json" of the older recording; without them nothing happens.
Result<void> checkOlder(const std::filesystem::path& root, RanksReport& report) {
  const auto read = [&](const char* name) {
    std::ifstream in(root / name);
    return readJson<Json>(in);
  };
  std::error_code ignored;
  if (!std::filesystem::exists(root / "convnext.json", ignored)) return {};
  try {
    const Json operations = read("ops.json");
    if (operations.is_array())
      for (const Json& line : operations) KERF_CHECK(checkPlacementCase(line, report));
    const Json model = read("convnext.json");
    if (!model.is_object()) return fail(ErrorCode::BadInput, "convnext.json is no JSON object");
    KERF_TRY(const SavedTensors tensors, SavedTensors::read(root / "convnext.safetensors"));
    return checkConvNextCase(model, tensors, report);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::BadInput, "unexpected JSON: {}", error.what());
  }
}

}  // namespace

bool holdsRanks(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path root = rootOf(folder);
  return std::filesystem::exists(root / "redistribute.jsonl", ignored) ||
         (std::filesystem::exists(root / "convnext.json", ignored) &&
          std::filesystem::exists(root / "convnext.safetensors", ignored)) ||
         (std::filesystem::exists(root / "ops.jsonl", ignored) &&
          std::filesystem::exists(root / "ops.safetensors", ignored));
}

Result<RanksReport> checkRanks(const std::filesystem::path& folder, RecordedWorld world) {
  RanksReport report{.world = std::move(world)};
  const std::filesystem::path root = rootOf(folder);
  for (const Part& part : parts) {
    if (report.world.ranks != 0 && part.check != checkModuleCase) continue;
    const std::filesystem::path file = root / (std::string(part.name) + ".jsonl");
    std::ifstream in(file);
    if (!in) continue;
    KERF_TRY(const SavedTensors tensors,
             SavedTensors::read(std::filesystem::path(file).replace_extension(".safetensors")));
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
      if (text.empty()) continue;
      if (auto checked = checkLine(part, text, tensors, report); !checked)
        return fail(std::move(checked).error().atFile(file.string(), number));
    }
  }
  if (report.world.ranks == 0) KERF_CHECK(checkOlder(root, report));
  return report;
}

}  // namespace kerf::inline distributed::inline recorded
