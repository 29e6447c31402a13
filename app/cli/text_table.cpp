#include "app/cli/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "engine/support/log.h"

namespace kerf::cli {

namespace {

/// Code points, near enough to columns for the text Kerf prints.
std::size_t width(const std::string& text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

bool isNumber(const std::string& text) {
  return text.empty() || text == "-" || text == "nan" || text == "inf" || (text[0] >= '0' && text[0] <= '9') ||
         (text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9');
}

struct Column {
  std::size_t width = 0;
  bool right = true;
};

std::vector<Column> measure(const std::vector<std::vector<std::string>>& rows) {
  std::vector<Column> columns(rows.front().size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns.size() && c < rows[r].size(); ++c) {
      columns[c].width = std::max(columns[c].width, width(rows[r][c]));
      if (r > 0 && !isNumber(rows[r][c])) columns[c].right = false;
    }
  }
  return columns;
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  for (auto& cell : row) cell = escapedText(cell);
  m_rows.push_back(std::move(row));
}

std::string TextTable::text() const {
  const auto columns = measure(m_rows);
  std::string out;
  for (const auto& row : m_rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size() && c < columns.size(); ++c) {
      const std::string pad(columns[c].width - width(row[c]), ' ');
      line += (c == 0 ? "" : "  ") + (columns[c].right ? pad + row[c] : row[c] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string durationText(std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds < 100) return fmt::format("{:.2f} s", seconds);
  const auto whole = std::int64_t(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string figure(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3g}", value); }

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace kerf::cli
