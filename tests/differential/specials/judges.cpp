#include "tests/differential/specials/judges.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/node_divergence.h"
#include "minifier/bisect/part_bisection.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::specials {
namespace {

EngineOracleOptions optionsOf(const std::string& backend, bool planted) {
  EngineOracleOptions options;
  options.compile.backend = backend;
  options.compile.keepArtifacts = false;
  if (planted) options.compile.faults.faults.push_back(*parseFault("erf=accuracy"));
  options.limits.timeout = std::chrono::seconds(60);
  return options;
}

class Judges {
 public:
  Judges(const SpecialCase& special, const SpecialsOptions& options, SpecialsReport& report)
      : m_case(special), m_options(options), m_report(report) {}

  /// With the fault, or without one, where everything is the same.
  void run(bool planted, bool bisects) {
    m_planted = planted;
    m_truth = planted ? m_case.truth : Truth::Same;
    const EngineOracleOptions options = optionsOf(m_options.backend, planted);
    if (const auto report = compareIsolated(m_case.candidate, options))
      expect("compare", report->same, report->failure);
    else
      refuse("compare", report.error());
    EngineOracle oracle(options);
    if (const auto verdict = oracle.judge(m_case.candidate, {}))
      expect("judge", verdict->kind == VerdictKind::Passes, verdict->detail);
    else
      refuse("judge", verdict.error());
    nodes(options);
    if (bisects) bisect(options);
  }

 private:
  void nodes(const EngineOracleOptions& options) {
    NodeDivergenceOptions own;
    own.compile = options.compile;
    own.compare = options.compare;
    const auto report = nodeDivergence(m_case.candidate.module, m_case.candidate.inputs, own);
    if (!report) return refuse("nodes", report.error());
    if (!report->failure.empty())
      return refuse("nodes", Error{ErrorCode::RuntimeFailed, report->failure, {}, 0, {}, {}});
    for (const std::string& node : m_case.different) {
      if (!m_planted) break;
      const auto row = std::ranges::find(report->nodes, node, &NodeDivergence::node);
      ++m_report.verdicts;
      if (row == report->nodes.end() || row->same) wrong("nodes: " + node + " is the same");
    }
    if (m_planted) return;
    for (const NodeDivergence& row : report->nodes)
      if (!row.same) wrong("nodes: " + row.node + " differs without a fault");
  }

  void bisect(const EngineOracleOptions& options) {
    const BisectedCompiler compiler{m_case.candidate, options, DecompositionTable::None, {}};
    const auto report = bisectParts(BisectedParts::Passes, compiler, {});
    if (!report) return refuse("bisect", report.error());
    expect("bisect", !report->different, report->note);
  }

  void expect(const char* judge, bool same, const std::string& detail) {
    ++m_report.verdicts;
    if (m_truth == Truth::Between || same == (m_truth == Truth::Same)) return;
    wrong(fmt::format("{}: {} ({})", judge, same ? "same" : "different", detail));
  }

  void wrong(const std::string& what) {
    m_report.wrong.push_back(fmt::format("{}{}\n{}", what, m_planted ? "" : " without a fault", m_case.text));
  }
  void refuse(const char* judge, const Error& error) {
    m_report.refused.push_back(fmt::format("{}: {}\n{}", judge, error.text(), m_case.text));
  }

  const SpecialCase& m_case;
  const SpecialsOptions& m_options;
  SpecialsReport& m_report;
  bool m_planted = false;
  Truth m_truth = Truth::Same;
};

}  // namespace

SpecialsReport runSpecials(const SpecialsOptions& options) {
  SpecialsReport report;
  for (int i = 0; i < options.count; ++i) {
    const auto special = makeCase((options.seed * 1'000'003 + std::uint64_t(i)) * 0xd1342543de82ef95ULL);
    if (!special) {
      report.refused.push_back(special.error().text());
      continue;
    }
    ++report.cases;
    report.different += special->truth == Truth::Different;
    report.same += special->truth == Truth::Same;
    report.between += special->truth == Truth::Between;
    Judges judges(*special, options, report);
    const bool bisects = options.bisectEvery > 0 && i % options.bisectEvery == 0;
    judges.run(true, bisects);
    if (i % 4 == 0) judges.run(false, false);
  }
  return report;
}

}  // namespace kerf::specials
