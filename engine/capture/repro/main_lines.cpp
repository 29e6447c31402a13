#include "engine/capture/repro/main_lines.h"

#include <algorithm>

namespace kerf::inline capture {
namespace {

constexpr std::string_view callName = "run_repro(";

bool isIdentifier(unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }

/// End of the expression that starts at text[at]: the next ',' or closing bracket outside strings and brackets.
std::size_t expressionEnd(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if (c == '\'' || c == '"')
      quote = c;
    else if (c == '#')
      at = std::min(text.find('\n', at), text.size() - 1);
    else if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if (depth == 0 && (c == ',' || c == ')' || c == ']' || c == '}'))
      break;
    else if (c == ')' || c == ']' || c == '}')
      --depth;
  }
  return std::min(at, text.size());
}

/// Splits one argument into keyword and value; positional arguments give nothing.
void addOption(std::string_view argument, RunOptions& options) {
  argument = trimmed(argument);
  const auto end = std::find_if_not(argument.begin(), argument.end(), isIdentifier);
  const auto length = std::size_t(end - argument.begin());
  if (length == 0 || length >= argument.size() || argument[length] != '=') return;
  options.emplace_back(argument.substr(0, length), trimmed(argument.substr(length + 1)));
}

/// Offset just behind "run_repro(" of a call (not of a comment or an import), or npos.
std::size_t findCall(const SourceText& source, LineRange lines) {
  const std::string_view text = source.slice(lines);
  for (std::size_t line = lines.first; line < lines.last; ++line) {
    const std::string_view content = source.lines[line];
    const std::size_t at = content.find(callName);
    if (at == std::string_view::npos || content.find('#') < at || source.inString[line] != 0) continue;
    return std::size_t(content.data() - text.data()) + at + callName.size();
  }
  return std::string_view::npos;
}

const std::string& valueOf(const RunOptions& options, std::string_view key, const std::string& otherwise) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.first == key; });
  return found == options.end() ? otherwise : found->second;
}

bool isOff(std::string_view accuracy) { return accuracy == "False" || accuracy == "None" || accuracy == "''"; }

std::string callText(const RunOptions& options, const std::string& command) {
  return fmt::format("run_repro(mod, load_args, accuracy={}, command={}, save_dir={}, tracing_mode={}, check_str={})",
                     valueOf(options, "accuracy", "False"), command, valueOf(options, "save_dir", "None"),
                     valueOf(options, "tracing_mode", "'real'"), valueOf(options, "check_str", "None"));
}

}  // namespace

bool readRunOptions(const SourceText& source, LineRange lines, RunOptions& options) {
  std::size_t at = findCall(source, lines);
  if (at == std::string_view::npos) return false;
  const std::string_view text = source.slice(lines);
  while (at < text.size()) {
    const std::size_t end = expressionEnd(text, at);
    addOption(text.substr(at, end - at), options);
    if (end >= text.size() || text[end] != ',') return end < text.size() && text[end] == ')';
    at = end + 1;
  }
  return false;
}

void replaceOption(std::vector<std::string>& lines, const std::string& key, const std::string& oldValue,
                   const std::string& newValue) {
  const std::string before = key + "=" + oldValue;
  const std::string after = key + "=" + newValue;
  for (std::string& line : lines) {
    for (std::size_t at = line.find(before); at != std::string::npos; at = line.find(before, at + after.size())) {
      const bool wholeKey = at == 0 || !isIdentifier(static_cast<unsigned char>(line[at - 1]));
      const std::size_t end = at + before.size();
      const bool wholeValue = end >= line.size() || line[end] == ',' || line[end] == ')' || line[end] == ' ';
      if (wholeKey && wholeValue) line.replace(at, before.size(), after);
    }
  }
}

std::vector<std::string> defaultMainLines(const std::string& className, const RunOptions& options) {
  return {"load_args._version = 0",
          fmt::format("mod = {}()", className),
          "if __name__ == '__main__':",
          "    from torch._dynamo.repro.after_aot import run_repro",
          "    with torch.no_grad():",
          "        " + callText(options, valueOf(options, "command", "'run'")),
          "        # To run it separately, do ",
          "        # mod, args = " + callText(options, "'get_args'"),
          "        # mod(*args)"};
}

std::vector<std::string> defaultDynamoModuleLines(const std::string& className) {
  return {"", "", fmt::format("mod = {}()", className), ""};
}

std::vector<std::string> defaultDynamoMainLines(const RunOptions& options) {
  // after_dynamo knows accuracy or none, no strict one.
  const bool accuracy = !isOff(valueOf(options, "accuracy", "False"));
  return {"load_args._version = 0",
          "",
          "if __name__ == '__main__':",
          "    from torch._dynamo.repro.after_dynamo import run_repro",
          fmt::format("    run_repro(mod, load_args, accuracy={}, command={},", accuracy ? "True" : "False",
                      valueOf(options, "command", "'run'")),
          fmt::format("        save_dir={}, autocast={}, backend={})", valueOf(options, "save_dir", "None"),
                      valueOf(options, "autocast", "False"), valueOf(options, "backend", "'inductor'"))};
}

}  // namespace kerf::inline capture
