// TextTable: columns that line up, for people; and the few words that several commands print.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace kerf::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) : m_rows{std::move(headings)} {}
  /// Cells are one line each: what would end it, or move the cursor, is escaped.
  void add(std::vector<std::string> row);
  /// Two spaces between columns; columns of numbers are aligned right.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> m_rows;
};

/// "0.12 ms", "3.4 s", "2 min 5 s".
std::string durationText(std::chrono::nanoseconds time);
/// "1.25e-07"; "-" for NaN.
std::string figure(double value);
/// "1 node", "3 nodes".
std::string counted(std::int64_t count, const std::string& noun);

}  // namespace kerf::cli
