// Programs in one folder with what torch._dynamo.explain said of them in expected.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/tensor/value.h"

namespace kerf::workbench {

struct ExplainedProgram {
  std::filesystem::path path;
  nlohmann::json explained;  ///< `graphs` as pairs of op and printed target, `break_reasons`
};

/// Empty where the folder has no such file.
std::vector<ExplainedProgram> explainedIn(const std::filesystem::path& folder);

/// By field of the log: what differs first; `log` is what torch._C._dynamo.log() gave.
std::map<std::string_view, std::string> compareExplained(const nlohmann::json& explained, const nlohmann::json& log);

/// What the calls gave (names and tensors, as the driver binds them) against NAME.out.safetensors.
std::string compareOutputs(const std::filesystem::path& program, const Value& given);

}  // namespace kerf::workbench
