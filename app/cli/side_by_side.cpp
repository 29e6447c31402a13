// Two graphs in two columns: node by node, so that a renamed or moved node stands beside itself.
#include <algorithm>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "app/cli/diff_report.h"
#include "engine/support/log.h"

namespace kerf::cli {

namespace {

constexpr std::size_t context = 3;
constexpr std::size_t smallestColumn = 20;

/// How one kind of difference looks: the mark between the columns and a terminal colour.
struct Look {
  char mark;
  std::string_view colour;
};
constexpr Look looks[] = {{' ', ""},         {'<', "\033[31m"}, {'>', "\033[32m"},
                          {'|', "\033[33m"}, {'~', "\033[36m"}, {'*', "\033[35m"}};  // by Kind

/// Exactly `width` characters: cut with an ellipsis, or filled with spaces.
std::string fitted(const std::string& text, std::size_t width) {
  std::size_t characters = 0, keep = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u) continue;
    if (characters + 1 == width) keep = at;
    ++characters;
  }
  if (characters <= width) return text + std::string(width - characters, ' ');
  return text.substr(0, keep) + "…";
}

/// Which rows are within `context` rows of a difference of the same graph.
std::vector<bool> shownRows(const std::vector<DiffRow>& rows) {
  std::vector<bool> shown(rows.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == DiffRow::Kind::Same) continue;
    const auto last = std::min(rows.size(), i + context + 1);
    for (std::size_t near = i - std::min(i, context); near < last; ++near)
      if (rows[near].path == rows[i].path) shown[near] = true;
  }
  return shown;
}

std::string rowText(const DiffRow& row, std::size_t column, bool colours) {
  const auto& look = looks[std::size_t(row.kind)];
  const bool coloured = colours && !look.colour.empty();
  auto right = fitted(escapedText(row.right), column);
  right.erase(right.find_last_not_of(' ') + 1);
  return fmt::format("{}{} {} {}{}\n", coloured ? look.colour : "", fitted(escapedText(row.left), column), look.mark,
                     right, coloured ? "\033[0m" : "");
}

}  // namespace

std::string sideBySide(const GraphDifference& difference, std::size_t width, bool colours) {
  if (difference.same) return "the graphs are the same\n";
  const auto& rows = difference.rows;
  const auto column = std::max(smallestColumn, (width - std::min<std::size_t>(width, 3)) / 2);
  const auto shown = shownRows(rows);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = i == 0 || rows[i].path != rows[i - 1].path;
    if (first && !rows[i].path.empty()) text += fmt::format("# {}\n", escapedText(rows[i].path));
    if (shown[i])
      text += rowText(rows[i], column, colours);
    else if (first || shown[i - 1])
      text += "...\n";
  }
  return text;
}

std::size_t terminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* named = std::getenv("COLUMNS");
  const long columns = named != nullptr ? std::strtol(named, nullptr, 10) : 0;
  return columns >= 40 && columns <= 10'000 ? std::size_t(columns) : 160;
}

}  // namespace kerf::cli
