#include "engine/codegen_llvm/line_numbers.h"

#include <charconv>

#include <fmt/ranges.h>

namespace kerf::inline codegen_llvm {

std::string lineNumbersText(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, " ")); }

std::vector<int> readLineNumbers(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    int number = 0;
    if (std::from_chars(text.data() + at, text.data() + end, number).ec == std::errc()) numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

}  // namespace kerf::inline codegen_llvm
