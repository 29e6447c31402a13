// Masks: what a golden file does not hold, because it differs from run to run or from machine to machine.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kerf::golden {

/// Whether a golden file may name this mask.
bool isMask(std::string_view name);

/// `text` without times, dates, Kerf's version, progress and spaces at the ends of lines; and without what `named` says:
///   numbers  decimals, which depend on the machine's vector instructions: #
///   sizes    of files and pages: SIZE
///   columns  the widths of columns that hold something masked: two spaces between them
std::string masked(const std::string& text, std::span<const std::string> named);

}  // namespace kerf::golden
