// Output code out of the recordings: of logs and debug folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kerf::testing {

struct RecordedOutputCode {
  std::string name;  ///< file and number
  std::string text;
};

/// All programs of the recorded traces and of the variety, each once.
std::vector<RecordedOutputCode> recordedOutputCode();

}  // namespace kerf::testing
