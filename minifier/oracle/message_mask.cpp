// Masking of messages: one pass over words, numbers and paths, then lists and sets.
#include "minifier/oracle/message_mask.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace kerf::inline minifier::inline oracle {

namespace {

constexpr std::size_t longestMasked = 200;
constexpr std::size_t longestRead = 4096;  // what is masked at all
constexpr std::size_t shortestHash = 8;

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isHexDigit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Names that count up without an underscore: Inductor's buffers and loop variables, Dynamo's inputs, sizes.
constexpr std::string_view numberedNames[] = {"arg",     "args",    "buf", "ks",  "in_ptr",   "in_out_ptr", "op",
                                              "out_ptr", "primals", "s",   "tmp", "tangents", "u",          "x",
                                              "xindex",  "y",       "zuf", "z",   "r",        "ps",         "i"};

/// What a kernel's name goes on with is what it fuses, and that is cut down.
constexpr std::string_view kernelKinds[] = {"cpp_fused",        "triton_poi_fused", "triton_per_fused",
                                            "triton_red_fused", "triton_for_fused", "triton_tem_fused",
                                            "extern_kernels"};

std::string_view withoutNumber(std::string_view word) {
  for (;;) {
    std::size_t end = word.size();
    while (end > 0 && isDigit(word[end - 1])) --end;
    if (end == word.size() || end == 0) return word;
    const std::string_view stem = word.substr(0, end);
    const bool counts = std::ranges::find(numberedNames, stem) != std::end(numberedNames);
    if (stem.back() != '_') return counts ? stem : word;
    if (stem.size() == 1) return word;
    word = stem.substr(0, end - 1);
  }
}

std::string maskedName(std::string_view word) {
  const bool isHash =
      word.size() >= shortestHash && std::ranges::all_of(word, isHexDigit) && std::ranges::any_of(word, isDigit);
  if (isHash) return "HASH";
  for (const std::string_view kind : kernelKinds)
    if (word.starts_with(kind)) return std::string(kind);
  return std::string(withoutNumber(word));
}

class Masking {
 public:
  explicit Masking(std::string_view text) : m_text(text.substr(0, longestRead)) {}

  std::string run() {
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      if (isSpace(c))
        space();
      else if (isDigit(c))
        number();
      else if (isWordCharacter(c))
        m_masked += maskedName(word());
      else if (startsPath())
        path();
      else
        m_masked += m_text[m_at++];
    }
    while (m_masked.ends_with(' ')) m_masked.pop_back();
    return std::move(m_masked);
  }

 private:
  char at(std::size_t offset) const { return m_at + offset < m_text.size() ? m_text[m_at + offset] : '\0'; }

  void space() {
    while (m_at < m_text.size() && isSpace(m_text[m_at])) ++m_at;
    m_masked += ' ';
  }

  std::string_view word() {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && isWordCharacter(m_text[m_at])) ++m_at;
    return m_text.substr(begin, m_at - begin);
  }

  /// "12", "0.5", "1e-05", "2x3" and "[1., 2.]" are numbers; "0x7f" is an address; "3f9ac01b" a hash.
  void number() {
    const std::string_view first = word();
    if (first.starts_with("0x") && first.size() > 2) {
      m_masked += "ADDR";
      return;
    }
    const bool plain = std::ranges::all_of(first, isDigit);
    const bool exponent =
        first.find_first_not_of("0123456789") == first.size() - 1 && std::tolower(first.back()) == 'e';
    const bool sizes = first.find_first_not_of("0123456789x") == std::string_view::npos;
    if (!plain && !exponent && !sizes && first.find_first_not_of("0123456789eE") != std::string_view::npos) {
      m_masked += maskedName(first);
      return;
    }
    if (plain && at(0) == '.' && isDigit(at(1))) {
      ++m_at;
      const std::string_view fraction = word();
      if (fraction.ends_with('e')) exponentDigits();
    } else if (plain && at(0) == '.' && (at(1) == ',' || at(1) == ']' || at(1) == ')')) {
      ++m_at;  // tensor([1., 2.])
    } else if (exponent) {
      exponentDigits();
    }
    dropSign();
    m_masked += 'N';
  }

  void exponentDigits() {
    if ((at(0) != '-' && at(0) != '+') || !isDigit(at(1))) return;
    ++m_at;
    word();
  }

  /// A number that is negative here is positive there.
  void dropSign() {
    if (!m_masked.ends_with('-')) return;
    const char before = m_masked.size() > 1 ? m_masked[m_masked.size() - 2] : ' ';
    if (!isWordCharacter(before) && before != ')' && before != '-') m_masked.pop_back();
  }

  bool startsPath() const {
    const char before = m_masked.empty() ? ' ' : m_masked.back();
    if (isWordCharacter(before) || before == '/' || before == ')' || before == '.') return false;
    const bool here = at(0) == '/' && (isWordCharacter(at(1)) || at(1) == '.');
    const bool relative = (at(0) == '.' || at(0) == '~') && at(1) == '/' && isWordCharacter(at(2));
    return here || relative;
  }

  void path() {
    constexpr std::string_view ends = "'\",;:()<>[]{}`";
    while (m_at < m_text.size() && !isSpace(m_text[m_at]) && ends.find(m_text[m_at]) == ends.npos) ++m_at;
    while (at(0) == ':' && isDigit(at(1))) {
      ++m_at;
      word();
    }
    m_masked += "PATH";
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_masked;
};

bool isAlone(const std::string& text, std::size_t begin, std::size_t end) {
  const bool open = begin == 0 || !isWordCharacter(text[begin - 1]);
  return open && (end >= text.size() || !isWordCharacter(text[end]));
}

/// "[N, N, N]" and "(N,)" are lists of some length.
void joinNumbers(std::string& text) {
  for (const std::string_view list : {"N, N", "N,N"}) {
    for (std::size_t at = 0; (at = text.find(list, at)) != std::string::npos;)
      isAlone(text, at, at + list.size()) ? void(text.erase(at, list.size() - 1)) : void(++at);
  }
  for (std::size_t at = 0; (at = text.find("(N,)", at)) != std::string::npos; ++at) text.erase(at + 2, 1);
}

/// Parts between commas that are in no brackets.
std::vector<std::string> members(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '>') --depth;
    if (c == ',' && depth <= 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  return parts;
}

/// The order of a set is that of its hashes, and of a dict that of the graph. Innermost first.
void sortSets(std::string& text) {
  for (std::size_t close = 0; (close = text.find('}', close)) != std::string::npos;) {
    const std::size_t open = text.rfind('{', close);
    if (open == std::string::npos || text.substr(open + 1, close - open - 1).find('}') != std::string::npos) {
      ++close;
      continue;
    }
    auto parts = members(std::string_view(text).substr(open + 1, close - open - 1));
    std::ranges::sort(parts);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::string sorted;
    for (const std::string& part : parts) sorted += (sorted.empty() ? "" : ", ") + part;
    text.replace(open + 1, close - open - 1, sorted);
    close = open + sorted.size() + 2;
  }
}

}  // namespace

std::string maskedMessage(std::string_view text) {
  std::string masked = Masking(text).run();
  joinNumbers(masked);
  sortSets(masked);
  if (masked.size() > longestMasked) masked.resize(longestMasked);
  return masked;
}

}  // namespace kerf::inline minifier::inline oracle
