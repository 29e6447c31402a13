// Recordings of tests/data/alignment, made with PyTorch 2.11 on an H200 (README.md there).
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "engine/align/read_recording.h"

namespace kerf {

inline std::string recordedText(const std::string& name) {
  std::ifstream file(std::string(KERF_SOURCE_DIR) + "/tests/data/alignment/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline RunRecording recordedRun(const std::string& name) {
  const std::string text = recordedText(name);
  auto recording = name.ends_with(".json")  ? readDebugModeJson(text)
                   : name.ends_with(".log") ? readTorchtitanLog(text)
                                            : readDebugModeText(text);
  EXPECT_TRUE(recording) << recording.error().text();
  return recording ? *recording : RunRecording();
}

}  // namespace kerf
