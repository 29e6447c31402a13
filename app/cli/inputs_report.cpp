#include "app/cli/run_reports.h"

#include <algorithm>

#include "app/cli/text_table.h"

namespace kerf::cli {

std::string inputsText(const std::vector<InputRow>& rows) {
  TextTable table({"input", "value", "source", "why"});
  for (const auto& row : rows) table.add({row.name, row.value, row.source, row.why});
  const auto made = std::ranges::count(rows, "generated", &InputRow::source);
  return fmt::format("{}{}, {} made up\n", table.text(), counted(std::ssize(rows), "input"), made);
}

}  // namespace kerf::cli
