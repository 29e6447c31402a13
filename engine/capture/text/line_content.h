// LineContent: what of a graph stands on a line, wherever on the line it begins.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

struct LineContent {
  enum class Kind { None, Class, Forward, Function, GraphHeader, GraphNode, TableHeader, TableRow, Statement };
  Kind kind = Kind::None;
  std::size_t outer = 0;  ///< where the line's content begins: a path in front of a class is part of it
  std::size_t begin = 0;  ///< where the class, function, node or statement itself begins
};

/// The first of these that the line holds: "class Name(…):", "def forward(", "def f(…):", "graph():",
/// "%add : [num_users=1] = …", the header or a row of a table, "add: \"f32[2]\" = torch.ops.…".
LineContent contentOf(std::string_view line);

bool beginsClass(std::string_view content);
bool beginsForward(std::string_view content);
bool beginsGraph(std::string_view content);
/// "%add : [num_users=1] = ", also of old versions.
bool beginsNode(std::string_view content);
bool beginsTable(std::string_view content);
bool isTableRow(std::string_view content);
/// The identifier after `word`, which `text` begins with.
std::string identifierAfter(std::string_view text, std::string_view word);
/// "add: \"f32[2]\" = …" or "add = torch.…": a statement as FX writes them.
bool isStatement(std::string_view content);

}  // namespace kerf::inline capture
