// The file in which PaddingBenchmark keeps what it measured: a line a product, for one machine each.
//
//     6f2c… host aten.mm.default 6 4 [6,10] [10,7] []	1.2e-06	1.9e-06
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kerf::inline passes {

/// Seconds.
struct PaddingTime {
  double plain = 0, padded = 0;
};
using PaddingTimes = std::map<std::string, PaddingTime, std::less<>>;

/// What this machine kept there: lines whose checksum, key and numbers are whole. None of a file that is missing or
/// larger than any that writePaddingTimes() makes.
PaddingTimes readPaddingTimes(const std::filesystem::path& file);
/// Whole or not at all, without lines of other machines; a failure is logged.
void writePaddingTimes(const std::filesystem::path& file, const PaddingTimes& times);

}  // namespace kerf::inline passes
