#include "minifier/bisect/torch_culprits.h"

#include <algorithm>

#include "minifier/oracle/torch_bisection.h"

namespace kerf::inline minifier::inline bisect {

namespace {

/// What was on in a trial of CompilerBisector, in words.
std::string setting(const TorchTrial& trial) {
  if (trial.subsystem.empty()) return trial.backend;
  if (trial.state == "test_disable") return fmt::format("{} without {}", trial.backend, trial.subsystem);
  if (trial.steps < 0) return fmt::format("{}, counting {}", trial.backend, trial.subsystem);
  return fmt::format("{} with the first {} of {}", trial.backend, trial.steps + 1, trial.subsystem);
}

std::string culpritText(const TorchCulprit& culprit) {
  std::string text = culprit.backend;
  if (!culprit.subsystem.empty()) text += ": " + culprit.subsystem;
  if (culprit.step > 0 || !culprit.info.empty()) text += fmt::format(" step {}", culprit.step);
  if (!culprit.info.empty() && culprit.info != culprit.subsystem) text += fmt::format(" ({})", culprit.info);
  return text;
}

bool isOption(std::string_view line) {
  return line.starts_with("torch._") && line.contains(".config.") && line.contains(" = ");
}

/// The options that a capture sets before its graph, each once, in order.
std::vector<std::string> optionsOf(const ReproEnvelope& envelope) {
  std::vector<std::string> options;
  for (const auto* lines : {&envelope.headerLines, &envelope.configLines})
    for (const std::string& line : *lines)
      if (isOption(line) && std::ranges::find(options, line) == options.end()) options.push_back(line);
  return options;
}

/// "a.b=True" as the line of a header. BadUsage where it is none.
Result<std::string> lineOf(const std::string& option) {
  const auto equals = option.find('=');
  if (equals == std::string::npos)
    return fail(ErrorCode::BadUsage, "option {}: NAME=VALUE is expected, as torch._inductor.config.max_autotune=True",
                option);
  std::string name = option.substr(0, equals);
  if (!name.starts_with("torch.")) name = "torch._inductor.config." + name;
  return fmt::format("{} = {}", name, option.substr(equals + 1));
}

void eraseLine(std::vector<std::string>& lines, const std::string& line) { std::erase(lines, line); }

}  // namespace

Result<CulpritReport> torchSubsystemCulprits(TorchOracle& oracle, const Candidate& candidate,
                                             const std::stop_token& stop) {
  KERF_TRY(const TorchBisection found, bisectWithTorch(oracle, candidate, stop));
  CulpritReport report;
  report.different = found.fails;
  for (const TorchTrial& trial : found.trials)
    report.trials.push_back({{setting(trial)}, trial.same, trial.same ? std::string() : trial.detail});
  if (!found.why.empty()) return fail(ErrorCode::BadInput, "PyTorch cannot test the graph: {}", found.why);
  if (!found.fails) report.note = fmt::format("PyTorch {} runs it without a failure", oracle.torchVersion());
  if (found.fails && !found.culprit)
    report.note = "no backend fails when CompilerBisector runs it alone: bisect by config";
  if (found.culprit) report.culprits.push_back(culpritText(*found.culprit));
  return report;
}

Result<CulpritReport> torchOptionCulprits(TorchOracle& oracle, const std::vector<std::string>& more,
                                          const Candidate& candidate, const WorkProgress& progress) {
  Capture like = oracle.like();
  for (const std::string& option : more) {
    KERF_TRY(std::string line, lineOf(option));
    like.envelope.headerLines.push_back(std::move(line));
  }
  const std::vector<std::string> options = optionsOf(like.envelope);
  if (options.empty())
    return fail(ErrorCode::BadUsage, Hint{Advice::GiveTorchOption},
                "the capture sets no options of PyTorch: give some");
  const PartTrial trial = [&](const std::vector<bool>& on) -> Result<std::string> {
    Capture patched = like;
    for (std::size_t i = 0; i < on.size(); ++i) {
      if (on[i]) continue;
      eraseLine(patched.envelope.headerLines, options[i]);
      eraseLine(patched.envelope.configLines, options[i]);
    }
    KERF_TRY(const TorchAnswer answer, oracle.answer(candidate, patched, progress.stop));
    const Verdict verdict = verdictOf(answer);
    if (verdict.kind == VerdictKind::CannotTest)
      return fail(ErrorCode::BadInput, "PyTorch cannot test the graph: {}", verdict.detail);
    return verdict.fingerprint;
  };
  return findCulprits(options, "option", trial, progress);
}

}  // namespace kerf::inline minifier::inline bisect
