#include "engine/capture/pt2/metadata.h"

#include <algorithm>
#include <charconv>

#include "engine/capture/common/json.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr int sourceNesting = 100;  // from_node chains are a few levels deep

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view lineAt(std::string_view text, std::size_t at) {
  return at >= text.size() ? std::string_view() : text.substr(at, text.find('\n', at) - at);
}

/// `File "/a/b.py", line 253, in forward` + the code line below it, of the last frame.
void applyStackTrace(std::string_view trace, NodeMeta& meta) {
  constexpr std::string_view fileMark = "File \"", lineMark = "\", line ", inMark = ", in ";
  const std::size_t frame = trace.rfind(fileMark);
  if (frame == std::string_view::npos) return;
  const std::string_view head = lineAt(trace, frame);
  const std::size_t line = head.find(lineMark), in = head.rfind(inMark);
  if (line == std::string_view::npos || in == std::string_view::npos || in < line) return;
  const std::string_view digits = head.substr(line + lineMark.size(), in - line - lineMark.size());
  int number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return;
  meta.sourceFile = head.substr(fileMark.size(), line - fileMark.size());
  meta.sourceLine = number;
  const std::string_view code = trimmed(lineAt(trace, frame + head.size() + 1));
  meta.stackTrace = fmt::format("File: {}:{} in {}, code: {}", meta.sourceFile, number,
                                trimmed(head.substr(in + inMark.size())), code);
  std::ranges::replace(meta.stackTrace, '\r', ' ');
}

/// "key,path,type;key,path,type": the path of the last entry, without torch.export's "L['self']." in front.
void applyModuleStack(std::string_view stack, NodeMeta& meta) {
  const std::string_view last = stack.substr(stack.rfind(';') + 1);  // npos + 1 is 0
  const std::size_t first = last.find(',');
  if (first == std::string_view::npos) return;
  const std::size_t second = last.find(',', first + 1);
  if (second == std::string_view::npos) return;
  std::string_view path = last.substr(first + 1, second - first - 1);
  for (const std::string_view prefix : {"L['self'].", "L['self']"})
    if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
  meta.modulePath = path;
}

/// [{"name": "linear", "from_node": […], …}, …]: the names of the outer list.
void applyFromNode(std::string_view sources, NodeMeta& meta) {
  JsonCursor json(sources, "from_node", sourceNesting);
  std::vector<std::string> names;
  const auto read = json.forEachElement([&] {
    return json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key != "name") {
        KERF_CHECK(json.skip());
        return {};
      }
      KERF_TRY(std::string name, json.string());
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
      return {};
    });
  });
  if (read) meta.fromNodes = std::move(names);
}

}  // namespace

void applyNodeMetadata(std::vector<std::pair<std::string, std::string>> entries, NodeMeta& meta) {
  for (const auto& [key, value] : entries) {
    if (key == "stack_trace") applyStackTrace(value, meta);
    if (key == "nn_module_stack") applyModuleStack(value, meta);
    if (key == "from_node") applyFromNode(value, meta);
  }
  meta.extra = std::move(entries);
}

}  // namespace kerf::inline capture::pt2
