#include "app/cli/oracle_options.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kerf::cli {

using workbench::MinifyRequest;
using workbench::MinifyWorkEvent;

namespace {

/// "90", "90s", "5m" or "1.5h"; none for anything else, and for nothing at all.
std::optional<std::chrono::milliseconds> durationOf(const std::string& text) {
  constexpr std::pair<std::string_view, double> units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  for (const auto& [unit, seconds] : units) {
    const double time = number * seconds * 1000;
    if (text.substr(digits) == unit && time >= 1 && time < 1e12) return std::chrono::milliseconds(std::int64_t(time));
  }
  return std::nullopt;
}

std::string checkDuration(const std::string& text) {
  return durationOf(text) ? std::string() : "\"" + text + "\" is not a time; write 90, 90s, 5m or 1h";
}

/// Of --flaky without a number.
constexpr int usualStarts = 20;

}  // namespace

void addLimitOptions(CLI::App& command, int& maxTests, std::chrono::milliseconds& maxTime) {
  command.add_option("--max-tests", maxTests, "Stop after this many tests and keep the best graph so far")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  const auto setTime = [&maxTime](const std::string& text) { maxTime = *durationOf(text); };
  command
      .add_option_function<std::string>("--max-time", setTime,
                                        "Stop after this time (90, 90s, 5m or 1h) and keep the best graph so far")
      ->check(CLI::Validator(checkDuration, ""))
      ->type_name("TIME");
}

CLI::Option* addFlakyOption(CLI::App& command, int& flaky) {
  const auto setFlaky = [&flaky](const std::string& text) { flaky = text.empty() ? usualStarts : std::stoi(text); };
  return command
      .add_option_function<std::string>(
          "--flaky", setFlaky,
          "For a failure that does not always show: test the graph N times (20) to see how often it fails. After "
          "that one failure is enough to fail, and a candidate passes only after enough runs that the doubt is below "
          "0.1 %")
      ->check(CLI::Range(2, 1000))
      ->expected(0, 1)
      ->type_name("[N]");
}

void addSearchOptions(CLI::App& command, MinifyRequest& request) {
  addLimitOptions(command, request.maxTests, request.maxTime);
  addFlakyOption(command, request.flaky)->excludes(command.get_option("--votes"));
  command.add_option("--pin", request.pins, "Name of a node that must stay as it is (repeatable)")
      ->type_name("NODE")
      ->delimiter(',')
      ->allow_extra_args(false);
}

Json workEventJson(const MinifyWorkEvent& event) {
  using Kind = MinifyWorkEvent::Kind;
  if (event.kind == Kind::Asked) return {{"event", "candidate"}, {"candidate", event.query}, {"nodes", event.nodes}};
  if (event.kind == Kind::Answered) {
    return {{"event", "verdict"},
            {"candidate", event.query > 0 ? Json(event.query) : Json()},
            {"worker", event.worker >= 0 ? Json(event.worker) : Json()},
            {"verdict", event.verdict},
            {"fingerprint", event.fingerprint},
            {"seconds", std::chrono::duration<double>(event.time).count()},
            {"cached", event.cached}};
  }
  Json json{{"event", "reduction"},
            {"reduction", event.reduction},
            {"phase", event.kind == Kind::ReductionBegins ? "begin" : "end"},
            {"best", event.nodes}};
  if (event.kind == Kind::ReductionEnds) json["accepted"] = event.accepted;
  return json;
}

}  // namespace kerf::cli
