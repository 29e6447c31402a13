// Line numbers as text: for each line of a kernel's LLVM IR or assembly the line of its loop IR that it comes from,
// counted from 1; 0: none. A kernel's texts have them under the text's own format and ".loop_lines".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline codegen_llvm {

inline constexpr std::string_view loopLinesSuffix = ".loop_lines";

/// "0 3 3 5"
std::string lineNumbersText(const std::vector<int>& numbers);
/// The other way round; what is no number is left out.
std::vector<int> readLineNumbers(std::string_view text);

}  // namespace kerf::inline codegen_llvm
