// Contained: scripts that are run by runContained(), and what is to be left of them: nothing.
#pragma once

#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/process/containment.h"
#include "engine/process/temporary_folder.h"
#include "tests/support/patience.h"
#include "tests/support/processes.h"

namespace kerf {

using namespace std::chrono_literals;

using test::countMarked, test::waitUntil;

/// Runs scripts in the way that its parameter names.
class Contained : public ::testing::TestWithParam<Containment> {
 protected:
  void SetUp() override {
    if (GetParam() == Containment::Namespace && containmentSupport().best != Containment::Namespace)
      GTEST_SKIP() << "no PID namespaces here: " << containmentSupport().why;
  }

  /// "MARK" in a script stands for a number of seconds that no other test sleeps for.
  ContainedResult run(std::string script, CandidateLimits limits = {},
                      std::chrono::milliseconds timeout = test::patience, std::stop_token stop = {}) {
    for (auto at = script.find("MARK"); at != std::string::npos; at = script.find("MARK"))
      script.replace(at, 4, m_mark);
    const auto began = std::chrono::steady_clock::now();
    auto result = runContained({.arguments = {"/bin/sh", "-c", script},
                                .folder = m_folder.path(),
                                .timeout = timeout,
                                .limits = std::move(limits),
                                .containment = GetParam()},
                               std::move(stop));
    EXPECT_TRUE(result) << result.error().text();
    m_time = std::chrono::steady_clock::now() - began;
    return result.value_or(ContainedResult{});
  }
  void expectNothingLeft() const { EXPECT_EQ(countMarked(m_mark), 0); }

  const TemporaryFolder m_folder = TemporaryFolder::create().value();
  const std::string m_mark = test::markOf(7);
  std::chrono::nanoseconds m_time{};
};

inline std::string nameOfContainment(const ::testing::TestParamInfo<Containment>& info) {
  return info.param == Containment::Namespace ? "Namespace" : "Subreaper";
}

}  // namespace kerf
