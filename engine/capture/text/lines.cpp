#include "engine/capture/text/lines.h"

#include <algorithm>
#include <cctype>

namespace kerf::inline capture {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Consumes `pattern` from the front: '#' is a digit, '*' one or more digits, else itself.
bool takePattern(std::string_view& text, std::string_view pattern) {
  std::string_view rest = text;
  for (const char p : pattern) {
    if (rest.empty()) return false;
    if (p == '#' || p == '*') {
      if (!isDigit(rest.front())) return false;
      rest.remove_prefix(1);
      while (p == '*' && !rest.empty() && isDigit(rest.front())) rest.remove_prefix(1);
    } else if (rest.front() != p) {
      return false;
    } else {
      rest.remove_prefix(1);
    }
  }
  text = rest;
  return true;
}

/// "[0/0] [__graph_code] ": bracketed words of a log line.
void takeBrackets(std::string_view& text) {
  while (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || text.substr(0, end).find_first_of(" \t,'\"") != std::string_view::npos) return;
    text.remove_prefix(end + 1);
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
}

/// glog style: "V1206 15:18:15.925000 1500233 torch/_dynamo/utils.py:1288] ".
bool takeGlogPrefix(std::string_view& text) {
  std::string_view rest = text;
  if (rest.empty() || std::string_view("VIWECD").find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  if (!takePattern(rest, "#### ##:##:##.* * ")) return false;
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return false;
  rest.remove_prefix(end + 1);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  takeBrackets(rest);
  text = rest;
  return true;
}

/// Before torch 2.2: "[2023-11-01 10:00:00,123] [0/0] torch._dynamo.output_graph.__graph: [DEBUG] ".
bool takeOldPrefix(std::string_view& text) {
  std::string_view rest = text;
  if (!takePattern(rest, "[*-*-* *:*:*,*] ")) return false;
  takeBrackets(rest);
  const std::size_t level = rest.find(": [");
  const std::size_t end = level == std::string_view::npos ? level : rest.find("] ", level);
  const bool isLogger = rest.substr(0, level).find(' ') == std::string_view::npos;
  if (end != std::string_view::npos && isLogger) rest.remove_prefix(end + 2);
  text = rest;
  return true;
}

void takeLogPrefix(std::string_view& text) {
  std::string_view rest = text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool ranked = takePattern(rest, "[rank*]:") || takePattern(rest, "[default*]:");
  if (ranked && rest.starts_with(' ')) rest.remove_prefix(1);
  if (takeGlogPrefix(rest) || takeOldPrefix(rest) || ranked) text = rest;
}

/// Without terminal colours ("\x1b[36m"), which graph_code_verbose logs hold.
std::string withoutColours(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b' && line.substr(at + 1).starts_with('[')) {
      at += 2;
      while (at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) == 0) ++at;
      ++at;
      continue;
    }
    out += line[at++];
  }
  return out;
}

/// "/site-packages/torch/fx/_lazy_graph_module.py class GraphModule(…):" is how logs introduce a class.
void takePath(std::string& line) {
  const std::size_t at = line.find(".py class ");
  if (at == std::string::npos || line.find_first_not_of(' ') >= at) return;
  const std::string_view path = std::string_view(line).substr(0, at);
  if (path.substr(path.find_first_not_of(' ')).find_first_of(" ='\"#(") == std::string_view::npos)
    line.erase(0, at + 4);
}

std::string cleaned(std::string_view line, bool hasColours) {
  std::string plain;
  if (hasColours) line = plain = withoutColours(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  takeLogPrefix(line);
  while (line.starts_with("> ") || line == ">") line.remove_prefix(std::min<std::size_t>(2, line.size()));
  if (const std::size_t first = line.find_first_not_of(' ');
      first != std::string_view::npos && line.substr(first).starts_with("```"))
    return {};
  std::string out(line);
  takePath(out);
  return out;
}

}  // namespace

std::vector<std::string> graphTextLines(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const bool hasColours = text.find('\x1b') != std::string_view::npos;
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(cleaned(text.substr(0, end), hasColours));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t leadingSpaces(std::string_view line) {
  std::size_t count = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    count += c == '\t' ? 8 : 1;
  }
  return count;
}

}  // namespace kerf::inline capture
