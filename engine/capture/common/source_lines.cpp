#include "engine/capture/common/source_lines.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::inline capture {
namespace {

using LineByName = std::unordered_map<std::string_view, int>;

/// "relu" of "relu = torch…", "relu: \"f32[2]\" = …"; empty if the line assigns nothing.
std::string_view assignedName(std::string_view line) {
  const std::string_view content = trimmed(line);
  const auto end =
      std::find_if(content.begin(), content.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
  const auto length = std::size_t(end - content.begin());
  const std::string_view rest = trimmed(content.substr(length));
  const bool assigns = rest.starts_with(':') || (rest.starts_with('=') && !rest.starts_with("=="));
  return assigns ? content.substr(0, length) : std::string_view();
}

LineByName assignedLines(const SourceText& source, LineRange forward) {
  LineByName lines;
  for (std::size_t line = forward.first + 1; line < forward.last; ++line) {
    if (!source.startsStatement(line)) continue;
    const std::string_view name = assignedName(source.lines[line]);
    if (!name.empty()) lines.try_emplace(name, int(line + 1));
  }
  return lines;
}

int returnLine(const SourceText& source, LineRange forward) {
  for (std::size_t line = forward.last; line-- > forward.first;)
    if (source.startsStatement(line) && trimmed(source.lines[line]).starts_with("return")) return int(line + 1);
  return int(forward.last);
}

}  // namespace

void assignSourceLines(const SourceText& source, LineRange forward, const std::string& file, Graph& graph, int before) {
  const LineByName lines = assignedLines(source, forward);
  int next = returnLine(source, forward);
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.node(*id);
    const bool isPlaceholder = node.op() == Opcode::Placeholder;
    if (isPlaceholder)
      next = int(forward.first + 1);
    else if (const auto found = lines.find(node.name()); found != lines.end())
      next = found->second;
    NodeMeta meta = node.meta();
    if (!meta.sourceFile.empty()) continue;
    meta.sourceFile = file;
    meta.sourceLine = next + before;
    graph.setMeta(*id, std::move(meta));
  }
}

}  // namespace kerf::inline capture
