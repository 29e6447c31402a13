#include "engine/conformance/recorded_gradients.h"

#include <algorithm>
#include <fstream>

#include "engine/conformance/difference_check.h"
#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline conformance {
namespace {

using Outcome = DifferenceCheck::Outcome;

constexpr std::size_t keptFailures = 5;

/// Adds calls to a report.
class GradientReplay {
 public:
  void add(const RecordedCall& call) {
    ++m_report.calls;
    OverloadGradients& row = m_rows[call.op];
    row.op = call.op;
    const OpInfo* op = findOp(call.op);
    if (op == nullptr) return skip(row, "unknown op");
    row.family = folderOf(*op);
    const auto bound = bindArguments(*op, call.args, call.kwargs);
    if (!bound) return skip(row, bound.error().message);
    note(row, call.id, checkByDifferences(*bound, NumberField::Real), *bound);
  }

  GradientConformanceReport report() {
    for (auto& [name, row] : m_rows) m_report.overloads.push_back(std::move(row));
    std::ranges::sort(m_report.overloads, {},
                      [](const OverloadGradients& row) { return std::pair(row.family, row.op); });
    return std::move(m_report);
  }

 private:
  void skip(OverloadGradients& row, const std::string& reason) {
    ++row.skipped;
    ++m_report.skipped[reason];
  }

  void fail(OverloadGradients& row, std::int64_t id, const std::string& text) {
    ++row.failed;
    ++m_report.failed;
    if (row.failures.size() < keptFailures) row.failures.push_back(fmt::format("{}: {}", id, text));
  }

  void note(OverloadGradients& row, std::int64_t id, const DifferenceCheck& check, const BoundArguments& call) {
    switch (check.outcome) {
      case Outcome::Skipped:
        return skip(row, check.text);
      case Outcome::Differs:
        return fail(row, id, check.text);
      case Outcome::Missing:
        ++row.missing, ++m_report.missing[check.text];
        return;
      case Outcome::Constant:
        ++row.constant, ++m_report.constant;
        return;
      case Outcome::Agrees:
        break;
    }
    const DifferenceCheck complex = checkByDifferences(call, NumberField::Complex);
    if (complex.outcome == Outcome::Differs) return fail(row, id, "complex: " + complex.text);
    if (const auto forms = checkForms(call); forms.outcome == Outcome::Differs) return fail(row, id, forms.text);
    ++row.checked;
    ++m_report.checked;
    if (complex.outcome == Outcome::Agrees) ++row.complexChecked;
    if (complex.text.starts_with("complex: ")) ++m_report.skipped[complex.text];
    for (const DifferenceCheck* one : {&check, &complex}) {
      row.gradientError = std::max(row.gradientError, one->gradientError);
      row.jvpError = std::max(row.jvpError, one->jvpError);
      row.dualError = std::max(row.dualError, one->dualError);
    }
  }

  std::map<std::string, OverloadGradients> m_rows;
  GradientConformanceReport m_report;
};

}  // namespace

Result<GradientConformanceReport> checkRecordedGradients(const std::filesystem::path& path) {
  KERF_TRY(const std::filesystem::path file, recordedCallsFile(path));
  KERF_TRY(const SafetensorsFile tensors,
           readSafetensors(std::filesystem::path(file).replace_extension(".safetensors")));
  std::ifstream in(file);
  if (!in) return fail(ErrorCode::NotFound, "{} cannot be read", file.string());
  GradientReplay replay;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    auto call = readRecordedCall(line, tensors);
    if (!call) return fail(std::move(call).error().atFile(file.string(), number));
    replay.add(*call);
  }
  return replay.report();
}

}  // namespace kerf::inline conformance
