// Numbers on the command line: one parser, which knows no nan, no infinity and no number that its option cannot hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace kerf::cli {

/// "1e-3", "0.5", "12": all of the text, and finite.
std::optional<double> parsedNumber(std::string_view text);
/// "0", "42": digits alone, below 2^64.
std::optional<std::uint64_t> parsedWhole(std::string_view text);

/// For CLI::Option::check: a finite number of `least` to `most`; with `above`, more than `least`.
CLI::Validator numberBetween(double least, double most, bool above = false);
/// A whole number of `least` to `most`.
CLI::Validator wholeBetween(std::uint64_t least, std::uint64_t most);

}  // namespace kerf::cli
