// Recorded logs and made ones, verified stage by stage: what the tests of verification share.
#pragma once

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/verification/stage_inputs.h"
#include "engine/verification/verify.h"
#include "tests/support/recordings.h"

namespace kerf::testing {

namespace fs = std::filesystem;

inline std::string textOf(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline fs::path logOf(const std::string& name) {
  const fs::path folder = recordingsFolder() / "variety" / name / "trace";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

/// `from` → `to` in the n-th record that says `stage`, counted from 0; the first place behind its header.
inline std::string edited(std::string text, const std::string& stage, const std::string& from, const std::string& to,
                          int nth = 0) {
  std::size_t at = 0;
  for (int i = 0; i <= nth; ++i) {
    at = text.find("\"" + stage + "\"", at + 1);
    EXPECT_NE(at, std::string::npos) << stage;
  }
  const std::size_t found = text.find(from, text.find('\n', at)), end = text.find("\nV", at);
  EXPECT_LT(found, end) << from << " is not in " << stage;
  return found < end ? text.replace(found, from.size(), to) : text;
}

struct VerifyStages : ::testing::Test {
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("kerf_verify_{}_{}", getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<CompileVerdict> verify(const std::string& text, const VerifyOptions& options = {},
                                     const LoadOptions& load = {}) {
    std::ofstream(folder / "x.log", std::ios::binary) << text;
    auto capture = importCapture(folder / "x.log");
    EXPECT_TRUE(capture) << (capture ? "" : capture.error().text());
    auto plans = planStages(*capture);
    EXPECT_TRUE(plans) << (plans ? "" : plans.error().text());
    std::vector<CompileVerdict> verdicts;
    for (const StagePlan& plan : *plans) {
      const auto inputs = makeStageInputs(*capture, plan, {}, loadWith(load));
      EXPECT_TRUE(inputs);
      auto verdict = verifyStages(*capture, plan, inputs->values, options);
      EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text());
      verdicts.push_back(std::move(*verdict));
    }
    return verdicts;
  }

  fs::path folder;
};

inline const PairVerdict* firstDifferent(const CompileVerdict& verdict) {
  for (const auto& pair : verdict.pairs)
    if (pair.kind == PairVerdict::Kind::Different) return &pair;
  return nullptr;
}

}  // namespace kerf::testing

/// Ends a test whose recording is not at hand.
#define KERF_NEEDS(name)                  \
  if (kerf::testing::logOf(name).empty()) \
  GTEST_SKIP() << kerf::testing::leftOut(kerf::recordingsFolder() / "variety" / name)
