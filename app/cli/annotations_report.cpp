#include "app/cli/annotations_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/terminal.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownRows = 10;

}  // namespace

void printAnnotations(const std::vector<AnnotationRow>& rows) {
  for (std::size_t i = 0; i < std::min(shownRows, rows.size()); ++i)
    fmt::print("recorded {} of {}{}: {}, but {} gives {}\n", rows[i].what,
               rows[i].stage.empty() ? "" : rows[i].stage + ", ", rows[i].node, rows[i].recorded, rows[i].op,
               rows[i].computed);
  if (rows.size() > shownRows)
    fmt::print("{} more nodes were recorded with another value than their op gives\n", rows.size() - shownRows);
}

}  // namespace kerf::cli
