// The same failing comparison says the same, whenever it is made: texts, figures and fingerprints.
#include <gtest/gtest.h>

#include <set>

#include "engine/pipeline/node_divergence.h"
#include "engine/process/codec.h"
#include "minifier/oracle/engine_oracle.h"
#include "tests/support/minifier_graphs.h"
#include "tests/support/patience.h"

namespace kerf {
namespace {

using namespace kerf::testing;

constexpr int runs = 3;

class Determinism : public ::testing::TestWithParam<const char*> {
 protected:
  EngineOracleOptions options() const {
    EngineOracleOptions options;
    options.compile.faults.faults.push_back(*parseFault(GetParam()));
    options.limits.timeout = test::patience;
    return options;
  }
};

TEST_P(Determinism, OfReportsByteByByte) {
  const Candidate candidate = mlp(6, 3);
  std::set<std::string> reports, verdicts;
  for (int i = 0; i < runs; ++i) {
    const auto report = compareIsolated(candidate, options());
    ASSERT_TRUE(report) << report.error().text();
    reports.insert(encode(*report));
    EngineOracle oracle(options());
    const auto verdict = oracle.judge(candidate, {});
    ASSERT_TRUE(verdict) << verdict.error().text();
    EXPECT_EQ(verdict->kind, VerdictKind::Fails);
    verdicts.insert(verdict->fingerprint + "\n" + verdict->detail);
  }
  EXPECT_EQ(reports.size(), 1u);
  EXPECT_EQ(verdicts.size(), 1u) << *verdicts.begin() << "\n" << *verdicts.rbegin();
}

INSTANTIATE_TEST_SUITE_P(Planted, Determinism,
                         ::testing::Values("relu=accuracy", "relu=compile_error", "relu=runtime_error", "relu=crash"),
                         [](const auto& info) { return std::string(info.param).substr(5); });

TEST(NodeDeterminism, OfRows) {
  const Candidate candidate = mlp(6, 3);
  NodeDivergenceOptions options;
  options.compile.faults.faults.push_back(*parseFault("relu=accuracy"));
  std::set<std::string> reports;
  for (int i = 0; i < runs; ++i) reports.insert(encode(*nodeDivergence(candidate.module, candidate.inputs, options)));
  EXPECT_EQ(reports.size(), 1u);
}

}  // namespace
}  // namespace kerf
