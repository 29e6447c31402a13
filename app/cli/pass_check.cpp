#include "app/cli/pass_check.h"
#include "app/cli/numbers.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace kerf::cli {

namespace {

constexpr std::string_view prefix = "numeric_check.";
constexpr std::string_view checkedStages[] = {"pre_grad", "joint", "post_grad"};

std::unexpected<Error> badSetting(const std::string& text) {
  return fail(
      ErrorCode::BadUsage,
      "\"{}\" is not a setting of numeric_check; it has pre_grad, joint and post_grad (true or false) and precision "
      "(a relative error)",
      text);
}

Result<void> setCheck(PassCheckChoice& check, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return badSetting(text);
  const std::string name = text.substr(prefix.size(), equals - prefix.size()), value = text.substr(equals + 1);
  if (name == "precision") {
    const auto number = parsedNumber(value);
    if (!number || *number < 0) return badSetting(text);
    check.tolerance = *number;
    return {};
  }
  if (std::ranges::find(checkedStages, name) == std::end(checkedStages)) return badSetting(text);
  if (value != "true" && value != "false") return badSetting(text);
  std::erase(check.stages, name);
  if (value == "true") check.stages.push_back(name);
  return {};
}

}  // namespace

void addCheckedPassOptions(CLI::App& command, PassChoice& passes, PassCheckChoice& check) {
  addPassOptions(command, passes);
  command.add_flag_callback(
      "--check-passes", [&check] { check.stages.assign(std::begin(checkedStages), std::end(checkedStages)); },
      "Run the graph after each pass, and name the first pass that changes values (exit 1). To check one stage only: "
      "--config numeric_check.pre_grad=true");
}

Result<void> takeNumericCheck(PassChoice& passes, PassCheckChoice& check) {
  for (const std::string& text : passes.settings)
    if (text.starts_with(prefix)) KERF_CHECK(setCheck(check, text));
  std::erase_if(passes.settings, [](const std::string& text) { return text.starts_with(prefix); });
  return {};
}

PassesRequest checkRequest(const GraphAddress& graph, const PassChoice& passes, const PassCheckChoice& check,
                           const std::vector<std::string>& plants) {
  PassesRequest request{.graph = graph, .passes = passes, .checkPasses = check.asked()};
  if (check.stages.size() < std::size(checkedStages)) request.checkedStages = check.stages;
  request.tolerance = check.tolerance;
  request.plants = plants;
  return request;
}

Result<PassCheckDoc> checkedPasses(Context& context, const PassesRequest& request) {
  if (!request.checkPasses) return PassCheckDoc();
  const auto trace = context.perform(request);
  if (trace) return trace->check;
  const Error& error = trace.error();
  if (error.code == ErrorCode::BadUsage || error.code == ErrorCode::Cancelled) return std::unexpected(error);
  return PassCheckDoc{.asked = true,
                      .failure = error.text()};  // a pass failed: what was found beside it is still shown
}

void printPassCheck(const PassCheckDoc& check) {
  if (!check.asked) return;
  if (!check.failure.empty())
    fmt::print("not checked: {}\n", check.failure);
  else if (check.pass.empty())
    fmt::print("{} passes changed the graph, none its values\n", check.checked);
  else
    fmt::print("{} changes {}{}: {}\n", check.pass, check.result.empty() ? "the run" : check.result,
               check.node.empty() ? "" : " from node " + check.node, check.reason);
}

}  // namespace kerf::cli
