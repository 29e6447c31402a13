// Output code out of the recordings: of logs and debug folders.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/audit/audit.h"
#include "engine/capture/common/capture.h"

namespace kerf::testing {

struct RecordedOutputCode {
  std::string name;  ///< file and number
  std::string text;
  std::shared_ptr<const CapturedGraph> graph;  ///< that it was generated from; null: none was recorded

  AuditOptions options() const;
};

/// All programs of the recorded traces and of the variety, each once.
std::vector<RecordedOutputCode> recordedOutputCode();

}  // namespace kerf::testing
