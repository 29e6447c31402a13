#include "app/cli/numbers.h"
#include "app/cli/oracle_options.h"

#include <fmt/format.h>

namespace kerf::cli {

namespace {

void takeTolerance(const std::string& text, bool byName, double& tolerance, workbench::AccuracyChoice& choice) {
  const auto equals = text.rfind('=');
  const auto number = parsedNumber(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
  if (!number || *number < 0)
    throw CLI::ValidationError("--tol", fmt::format("\"{}\" is not a number of 0 or more", text));
  choice.toleranceGiven = choice.toleranceGiven || equals == std::string::npos;
  if (equals == std::string::npos)
    tolerance = *number;
  else if (equals == 0 || !byName)
    throw CLI::ValidationError("--tol", fmt::format("\"{}\": give one number for all results", text));
  else
    choice.tolerances.push_back(text);
}

}  // namespace

void addAccuracyOptions(CLI::App& command, double& tolerance, workbench::AccuracyChoice& choice, bool byName,
                        const std::string& help) {
  const auto take = [&tolerance, &choice, byName](const std::vector<std::string>& texts) {
    for (const auto& text : texts) takeTolerance(text, byName, tolerance, choice);
  };
  command.add_option_function<std::vector<std::string>>("--tol,--tolerance", take, help)
      ->type_name(byName ? "X|NAME=X" : "X")
      ->default_str(fmt::format("{:g}", tolerance))
      ->allow_extra_args(false);
  command.add_flag("--require-fp64", choice.requireFp64, "Fail (exit 2) if there is no fp64 reference");
  command.add_flag("--strict-accuracy", choice.strict,
                   "Use no fp64 reference; only the tolerance decides (PyTorch's strict_accuracy)");
  command.add_flag("--ignore-non-fp", choice.ignoreNonFloat,
                   "Ignore differences of integers, bools and texts (PyTorch's ignore_non_fp)");
  command.add_flag("--torch-same", choice.torchSame,
                   "Judge as PyTorch's same(), which passes a result whose error is NaN as the reference's is");
  command.add_flag("--exact", choice.exact, "Results are the same only if all their bits are");
  command.add_flag("--only-fwd", choice.forwardOnly,
                   "Do not compare the loss of outputs that require gradients (PyTorch's only_fwd)");
}

}  // namespace kerf::cli
