// LogParts: what the tables of a trace's log say of one compilation, as rich text.
#pragma once

#include <string_view>
#include <vector>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

struct LogPart {
  std::string_view table;
  const char* title;
  std::vector<const char*> columns;  ///< by key; the first one stands out
  /// Null: the columns, one below the other.
  QString (*html)(const workbench::LogTable& table, const workbench::LogRow& row, const TraceLogDoc& log) = nullptr;
};
/// In the order in which they are told; failures come first.
const std::vector<LogPart>& logParts();
QString logRowHtml(const LogPart& part, const workbench::LogTable& table, const workbench::LogRow& row,
                   const TraceLogDoc& log);
/// Of a part, rows that are told; the others are counted.
constexpr int mostToldRows = 100;

}  // namespace kerf::ui::inline panels
