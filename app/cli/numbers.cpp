#include "app/cli/numbers.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace kerf::cli {

std::optional<double> parsedNumber(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parsedWhole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

CLI::Validator numberBetween(double least, double most, bool above) {
  return CLI::Validator(
      [=](const std::string& text) {
        const auto number = parsedNumber(text);
        if (number && *number <= most && (above ? *number > least : *number >= least)) return std::string();
        return fmt::format("\"{}\" is not a number {} {:g} and at most {:g}", text, above ? "above" : "of at least",
                           least, most);
      },
      least == 0 ? (above ? "POSITIVE" : "NONNEGATIVE") : "");
}

CLI::Validator wholeBetween(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](const std::string& text) {
        const auto number = parsedWhole(text);
        if (number && *number >= least && *number <= most) return std::string();
        return fmt::format("\"{}\" is not a whole number of {} to {}", text, least, most);
      },
      least == 0 && most <= INT64_MAX ? "NONNEGATIVE" : "");
}

}  // namespace kerf::cli
