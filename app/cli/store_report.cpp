#include "app/cli/store_report.h"
#include "app/cli/terminal.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownItems = 8;

std::string listedItems(const std::vector<std::string>& items) {
  const auto shown = std::min(items.size(), shownItems);
  auto text = fmt::format("{}", fmt::join(items.begin(), items.begin() + std::ptrdiff_t(shown), ", "));
  return shown < items.size() ? text + fmt::format(" and {} more", items.size() - shown) : text;
}

}  // namespace

std::string byteText(std::int64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double amount = double(bytes);
  std::size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < std::size(units); ++unit) amount /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

void printInfo(const StoreInfo& info) {
  fmt::print("{}: {}{}, schema {}{}{}\n", info.store, byteText(info.fileBytes),
             info.logBytes > 0 ? fmt::format(" and {} of log", byteText(info.logBytes)) : "", info.schema,
             info.checkedPages ? ", pages with checksums" : "", info.readOnly ? ", read only" : "");
  if (info.freeBytes > 0) fmt::print("{} are unused; `kerf store vacuum` gives them back\n", byteText(info.freeBytes));
  TextTable table({"kind", "count", "bytes"});
  for (const auto& row : info.rows) {
    const auto bytes = row.kind == "links" ? info.linkedBytes : row.bytes;
    table.add({row.kind, std::to_string(row.count), byteText(bytes) + (row.kind == "links" ? " elsewhere" : "")});
  }
  fmt::print("{}", table.text());
  for (const auto& row : info.deleted) fmt::print("deleted at {}: {}\n", row.at, listedItems(row.items));
}

void printVerdict(const StoreVerdict& verdict) {
  for (const auto& row : verdict.findings)
    fmt::print("DAMAGED {}{}: {}\n", row.what, row.id.empty() ? "" : " " + row.id, row.message);
  fmt::print("{}: {}, {} of {}, {}, {}: {}\n", verdict.store, counted(verdict.pages, "page"),
             counted(verdict.blobs, "blob"), byteText(verdict.blobBytes), counted(verdict.contents, "graph text"),
             counted(verdict.links, "link"),
             verdict.findings.empty() ? "all whole" : fmt::format("{} damaged", verdict.findings.size()));
}

void printSwept(const Swept& swept) {
  fmt::print("purged {}; dropped {} of {}, {}, {} after passes and {}\n", counted(swept.purged, "deleted item"),
             counted(swept.blobs, "blob"), byteText(swept.bytes), counted(swept.contents, "graph text"),
             counted(swept.snapshots, "graph"), counted(swept.files, "temporary file"));
  if (swept.reductions > 0)
    fmt::print("{} had been left running by processes that are gone\n", counted(swept.reductions, "reduction"));
}

void printCarried(const Carried& carried, const char* verb) {
  for (const auto& row : carried.captures)
    fmt::print("{} -> {}  {}{}\n", row.from, row.to, row.path, row.known ? "  (known already)" : "");
  for (const auto& note : carried.notes) fmt::print("note: {}\n", note);
  for (const auto& failure : carried.failed) complain(Tone::Error, "left out " + failure);
  fmt::print("{}, {}, {} and {} {} {}\n", counted(std::ssize(carried.captures), "capture"),
             counted(carried.runs, "run"), counted(carried.reductions, "reduction"), counted(carried.repros, "repro"),
             verb, carried.file);
}

}  // namespace kerf::cli
