// What PyTorch's Dynamo recorded for a program (graphs, breaks, recompiles, guards), and comparing with Kerf's.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kerf::workbench {

/// Fields of a recording that Dynamo's log answers, in the order in which they are told.
inline constexpr std::string_view logFieldNames[] = {"graphs",     "op_lists",          "breaks",
                                                     "recompiles", "recompile_reasons", "guards"};

/// By field: what differs first; empty where nothing does. Fields that the recording does not hold are absent.
/// `log` is what torch._C._dynamo.log() gave, `firstFrames` how many frames the first call compiled.
std::map<std::string_view, std::string> compareLog(const nlohmann::json& recorded, const nlohmann::json& log,
                                                   std::size_t firstFrames);

}  // namespace kerf::workbench
