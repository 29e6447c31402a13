#include "tests/support/code_mutants/mutant_tools.h"

#include <algorithm>
#include <cctype>

namespace kerf::testing {

namespace {

std::string join(const CodeLines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t findWord(const std::string& text, const std::string& word, std::size_t at) {
  for (at = text.find(word, at); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !isWordCharacter(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !isWordCharacter(text[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string::npos;
}

bool hasWord(const std::string& text, const std::string& word) { return findWord(text, word) != std::string::npos; }

std::string_view trimmedLine(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string_view() : std::string_view(line).substr(first);
}

std::vector<std::string> callArguments(const std::string& line) {
  std::vector<std::string> names;
  const std::size_t open = line.find('(');
  if (open == std::string::npos) return names;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = open; at < line.size(); ++at) {
    if (line[at] == '(' || line[at] == '[') ++depth;
    if (line[at] == ')' || line[at] == ']') --depth;
    if ((line[at] == ',' && depth == 1) || depth == 0) {
      std::string piece = line.substr(begin, at - begin);
      while (!piece.empty() && piece.front() == ' ') piece.erase(0, 1);
      const bool isName = !piece.empty() && std::ranges::all_of(piece, isWordCharacter) &&
                          std::isdigit(static_cast<unsigned char>(piece[0])) == 0;
      names.push_back(isName ? piece : std::string());
      begin = at + 1;
      if (depth == 0) break;
    }
  }
  return names;
}

bool isKernelCall(const std::string& line) {
  const std::string_view text = trimmedLine(line);
  return (text.starts_with("triton_") && text.find(".run(") != std::string_view::npos) ||
         (text.starts_with("cpp_fused") && text.find("async_compile") == std::string_view::npos &&
          text.find('(') != std::string_view::npos);
}
bool isExternCall(const std::string& line) { return trimmedLine(line).starts_with("extern_kernels."); }

bool isTritonAccess(const std::string& line) {
  return line.find("tl.load(") != std::string::npos || line.find("tl.store(") != std::string::npos;
}

CodeMutant mutantOf(const CodeLines& lines, std::size_t line, std::string change, std::vector<std::string> names) {
  return {join(lines), int(line) + 1, std::move(change), std::move(names)};
}

}  // namespace kerf::testing
