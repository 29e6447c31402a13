// What faults in output code are made with: lines, words, calls and their arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/code_mutants.h"

namespace kerf::testing {

using CodeLines = std::vector<std::string>;

bool isWordCharacter(char c);
/// Where `word` stands alone in `text`, from `at` on.
std::size_t findWord(const std::string& text, const std::string& word, std::size_t at = 0);
bool hasWord(const std::string& text, const std::string& word);
std::string_view trimmedLine(const std::string& line);

CodeMutant mutantOf(const CodeLines& lines, std::size_t line, std::string change, std::vector<std::string> names = {});

template <class Test>
std::optional<std::size_t> chooseLine(const CodeLines& lines, std::mt19937& random, const Test& test) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (test(i)) places.push_back(i);
  if (places.empty()) return std::nullopt;
  return places[random() % places.size()];
}

/// Names between the parentheses of a call, where each argument is one: {"buf0", "arg0_1", …}; others are empty.
std::vector<std::string> callArguments(const std::string& line);
bool isKernelCall(const std::string& line);
bool isExternCall(const std::string& line);
/// `tl.load(in_ptr0 + (x0), …`, `tl.store(…`
bool isTritonAccess(const std::string& line);

// One kind of fault each; nothing where the program has no place for it.
std::optional<CodeMutant> reuseTooEarly(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> wrongBuffer(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> offByOne(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> noMask(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> missingStore(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> swappedArguments(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> swappedTwins(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> droppedCopy(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> exchangedStride(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> accumulatorType(const CodeLines& lines, std::mt19937& random);
std::optional<CodeMutant> missingAtomic(const CodeLines& lines, std::mt19937& random);

}  // namespace kerf::testing
