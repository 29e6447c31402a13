// What PyTorch gave for a program, and comparing with it.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/tensor/safetensors.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

struct Recording {
  bool isScript = false;
  std::string output;       ///< of a script
  nlohmann::json document;  ///< all of NAME.json
  SafetensorsFile tensors;  ///< of the eager run
};

/// NAME.json with NAME.safetensors beside it, where there is one.
Result<Recording> readRecording(const std::filesystem::path& json);

/// What differs first between the recording and what the driver bound: [JSON text, names, tensors, …]. Empty: nothing.
/// `compiled`: where PyTorch's compiled value differs from the eager one, either is right.
std::string compareValues(const Recording& recording, const Value& given, bool compiled = false);

}  // namespace kerf::workbench
