#include "engine/capture/text/line_content.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/capture/text/lines.h"

namespace kerf::inline capture {
namespace {

using Kind = LineContent::Kind;

constexpr std::array<std::string_view, 6> opcodes = {"placeholder", "call_function", "call_method",
                                                     "call_module", "get_attr",      "output"};
/// What FX's statements call; a user's own code calls other names too.
constexpr std::array<std::string_view, 5> calledRoots = {"torch.ops.", "torch.", "operator.", "_operator.", "self."};
constexpr std::size_t longestSearch = 2048;  ///< of a line, for where its content begins
constexpr std::size_t longestType = 300;     ///< between a node's name and how many use it

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// Length of the name at the front; 0 if a digit or something else stands there.
std::size_t nameLength(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return 0;
  return std::size_t(std::ranges::find_if_not(text, isNameCharacter) - text.begin());
}

bool isBoundary(std::string_view line, std::size_t at) {
  return at == 0 || std::string_view(" \t\"'+>|#").find(line[at - 1]) != std::string_view::npos;
}

/// Where `word` begins behind a blank or a sign, as those that end a log's prefix.
std::size_t findWord(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1))
    if (isBoundary(line, at) || line[at - 1] == ':' || line[at - 1] == ']') return at;
  return std::string_view::npos;
}

/// The word with a path or "<eval_with_key>.5" that logs write in front of a class.
std::size_t pathBefore(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] != ' ') --begin;
  const std::string_view word = line.substr(begin, end - begin);
  const bool isPath = word.starts_with("<eval_with_key>") || (word.ends_with(".py") && word.find('=') == word.npos);
  return isPath ? begin : at;
}

/// The words that logs write in front of a table: "__compiled_fn_0 <eval_with_key>.0 opcode  name  …".
std::size_t tableBefore(std::string_view line, std::size_t at) {
  const std::size_t path = pathBefore(line, at);
  const std::size_t name = path == at ? std::string_view::npos : line.substr(0, path).rfind("__compiled_fn");
  return name == std::string_view::npos || !isBoundary(line, name) ? path : name;
}

/// The start of a statement "name: \"…\" = …" or "name = …" whose " = " is at `equals`.
std::size_t statementBegin(std::string_view line, std::size_t equals) {
  std::size_t at = equals;
  if (at > 0 && line[at - 1] == '"') {
    const std::size_t quote = at >= 2 ? line.rfind('"', at - 2) : std::string_view::npos;
    if (quote == std::string_view::npos || quote < 3 || line.substr(quote - 2, 2) != ": ")
      return std::string_view::npos;
    at = quote - 2;
  }
  const std::size_t end = at;
  while (at > 0 && isNameCharacter(line[at - 1])) --at;
  const bool isName = nameLength(line.substr(at, end - at)) == end - at && at < end;
  return isName && isBoundary(line, at) ? at : std::string_view::npos;
}

std::size_t findStatement(std::string_view line) {
  for (std::size_t equals = line.find(" = "); equals != std::string_view::npos; equals = line.find(" = ", equals + 1)) {
    const std::size_t begin = statementBegin(line, equals);
    if (begin == std::string_view::npos || !isStatement(line.substr(begin))) continue;
    const bool isQuoted = line.substr(0, begin).find(", code: ") != std::string_view::npos;  // the user's, in a comment
    return isQuoted ? std::string_view::npos : begin;
  }
  return std::string_view::npos;
}

std::size_t findNode(std::string_view line) {
  for (std::size_t at = line.find('%'); at != std::string_view::npos; at = line.find('%', at + 1))
    if (isBoundary(line, at) && beginsNode(line.substr(at))) return at;
  return std::string_view::npos;
}

std::size_t findTable(std::string_view line, bool (*begins)(std::string_view), std::string_view word) {
  const std::size_t at = findWord(line, word);
  return at != std::string_view::npos && begins(strippedLine(line.substr(at))) ? at : std::string_view::npos;
}

std::size_t findRow(std::string_view line) {
  for (const std::string_view op : opcodes) {
    const std::size_t at = findTable(line, isTableRow, op);
    if (at != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

/// "def f(x, y):" at the end of the line, and of a name that no printer gives to other methods.
std::size_t findFunction(std::string_view line) {
  const std::size_t at = findWord(line, "def ");
  if (at == std::string_view::npos || !strippedLine(line).ends_with(':')) return std::string_view::npos;
  const std::string_view name = line.substr(at + 4, nameLength(line.substr(at + 4)));
  const bool isCall = line.substr(at + 4 + name.size()).starts_with('(');
  return !name.empty() && isCall && name != "__init__" && name != "load_args" ? at : std::string_view::npos;
}

}  // namespace

std::string identifierAfter(std::string_view text, std::string_view word) {
  text.remove_prefix(word.size());
  return {text.begin(), std::ranges::find_if_not(text, isNameCharacter)};
}

bool beginsClass(std::string_view content) {
  if (!content.starts_with("class ") || content.find(':') == std::string_view::npos) return false;
  const std::string name = identifierAfter(content, "class ");
  const char next = content.size() > 6 + name.size() ? content[6 + name.size()] : ' ';
  return (!name.empty() && (next == '(' || next == ':')) || content.starts_with("class <lambda>(");
}

bool beginsForward(std::string_view content) { return content.starts_with("def forward("); }

bool beginsGraph(std::string_view content) {
  return content.starts_with("graph(") && content.ends_with(":") && content.find(')') != std::string_view::npos;
}

bool beginsNode(std::string_view content) {
  if (!content.starts_with('%')) return false;
  const std::size_t name = nameLength(content.substr(1));
  const std::string_view rest = content.substr(std::min(1 + name, content.size()), longestType);
  return name > 0 && rest.starts_with(" : ") &&
         (rest.find("users=") != std::string_view::npos || rest.find("[uses=") != std::string_view::npos) &&
         rest.find("] = ") != std::string_view::npos;
}

bool beginsTable(std::string_view content) {
  for (const std::string_view name : {"opcode", "name", "target", "args", "kwargs"}) {
    if (!content.starts_with(name)) return false;
    content.remove_prefix(name.size());
    content.remove_prefix(std::min(content.find_first_not_of(" |\t"), content.size()));
  }
  return content.empty();
}

/// An opcode, a name, more, and the braces of the keyword arguments.
bool isTableRow(std::string_view content) {
  const auto op = std::ranges::find_if(opcodes, [&](std::string_view word) {
    return content.starts_with(word) && content.size() > word.size() && content[word.size()] == ' ';
  });
  if (op == opcodes.end()) return false;
  const std::string_view rest = strippedLine(content.substr(op->size()));
  return nameLength(rest.starts_with('|') ? strippedLine(rest.substr(1)) : rest) > 0 &&
         rest.find("  ") != std::string_view::npos;
}

bool isStatement(std::string_view content) {
  const std::size_t name = nameLength(content);
  if (name == 0) return false;
  std::string_view rest = content.substr(name);
  if (rest.starts_with(": \"")) {
    const std::size_t quote = rest.find('"', 3);
    return quote != std::string_view::npos && rest.substr(quote + 1).starts_with(" = ");
  }
  if (!rest.starts_with(" = ")) return false;
  rest.remove_prefix(3);
  return std::ranges::any_of(calledRoots, [&](std::string_view root) { return rest.starts_with(root); });
}

LineContent contentOf(std::string_view whole) {
  const std::string_view line = whole.substr(0, longestSearch);
  if (const std::size_t at = findWord(line, "class "); at != line.npos && beginsClass(line.substr(at)))
    return {Kind::Class, pathBefore(line, at), at};
  if (const std::size_t at = findWord(line, "def forward("); at != line.npos) return {Kind::Forward, at, at};
  if (const std::size_t at = findFunction(line); at != line.npos) return {Kind::Function, at, at};
  if (const std::size_t at = findWord(line, "graph("); at != line.npos && beginsGraph(strippedLine(line.substr(at))))
    return {Kind::GraphHeader, at, at};
  if (const std::size_t at = findNode(line); at != line.npos) return {Kind::GraphNode, at, at};
  if (const std::size_t at = findTable(line, beginsTable, "opcode"); at != line.npos)
    return {Kind::TableHeader, tableBefore(line, at), at};
  if (const std::size_t at = findRow(line); at != line.npos) return {Kind::TableRow, at, at};
  if (const std::size_t at = findStatement(line); at != line.npos) return {Kind::Statement, at, at};
  return {};
}

}  // namespace kerf::inline capture
