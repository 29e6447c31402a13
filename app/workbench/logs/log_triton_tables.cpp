// Tables of tritonparse's logs: kernels as they were compiled and launched, and which lines of their texts each line of the
// Python source became.
#include <algorithm>
#include <map>

#include "app/workbench/logs/log_tables.h"
#include "engine/capture/common/json.h"
#include "engine/capture/trace/triton_lines.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostListedLines = 12;
constexpr std::size_t mostShownBytes = 256, mostLineRows = 100'000;
constexpr std::int64_t mostKernelText = 16LL << 20;  ///< bytes

std::string saidText(std::string_view object, std::string_view name) {
  const std::string_view value = jsonMember(object, name);
  return jsonString(value).value_or(std::string(value));
}

/// Records of a kind with what they say, in the order of the log.
template <class Take>
void forSaid(const LogView& view, std::string_view kind, const Take& take) {
  for (std::size_t i = 0; i < view.details.records.size(); ++i) {
    const CaptureRecord& record = view.details.records[i];
    if (record.kind == kind) take(i, jsonMember(record.metadata, kind));
  }
}

/// The compilation of each record; -1: none.
std::vector<int> compilesOfRecords(const LogView& view) {
  std::vector<int> compiles(view.details.records.size(), -1);
  for (std::size_t i = 0; i < view.details.compiles.size(); ++i)
    for (const std::size_t record : view.details.compiles[i].records)
      if (record < compiles.size() && compiles[record] < 0) compiles[record] = int(i);
  return compiles;
}

/// Names are shown in each row: of long ones the begin, of long paths the end.
bool isInsideCharacter(const std::string& text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}
std::string shortName(const std::string& name) {
  if (name.size() <= mostShownBytes) return name;
  std::size_t end = mostShownBytes;
  while (end > 0 && isInsideCharacter(name, end)) --end;
  return name.substr(0, end) + "…";
}
std::string shortPath(const std::string& path) {
  if (path.size() <= mostShownBytes) return path;
  std::size_t start = path.size() - mostShownBytes;
  while (isInsideCharacter(path, start)) ++start;
  return "…" + path.substr(start);
}

struct LaunchText {
  std::int64_t count = 0;
  std::string grids, arguments, where;
};

LaunchText launchText(std::string_view said) {
  LaunchText text{jsonInteger(jsonMember(said, "count")).value_or(0), "", saidText(said, "arguments"),
                  saidText(said, "where")};
  for (JsonWalker grids(jsonMember(said, "grids")); grids.nextElement();) {
    const std::string grid = saidText(grids.value(), "grid"), count = saidText(grids.value(), "count");
    text.grids += fmt::format("{}{} ×{}", text.grids.empty() ? "" : ", ", grid, count);
  }
  return text;
}

/// Lines of the texts of a kernel by file and line of the source.
using SourceUses = std::map<std::string, std::map<int, std::map<std::string, std::vector<int>>>>;

void addUses(const CaptureRecord& record, SourceUses& uses) {
  const std::string_view name = record.name;
  const std::string extension(name.substr(std::min(name.rfind('.') + 1, name.size())));
  const bool mlir = extension == "ttir" || extension == "ttgir", machine = extension == "ptx" || extension == "amdgcn";
  if (!mlir && !machine) return;
  const auto text = record.text(mostKernelText);
  if (!text) return;
  const auto found = mlir ? trace::linesOfMlir(*text) : trace::linesOfPtx(*text);
  std::vector<SourceUses::mapped_type*> files;
  for (const std::string& file : found.files) files.push_back(&uses[file]);
  const std::string kind = machine ? "machine" : extension;
  for (const auto& line : found.lines) (*files[std::size_t(line.file)])[line.source][kind].push_back(line.line);
}

/// "12-14, 17" of sorted line numbers.
std::string rangesText(const std::vector<int>& lines) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < lines.size(); ++ranges) {
    std::size_t end = i;
    while (end + 1 < lines.size() && lines[end + 1] <= lines[end] + 1) ++end;
    if (ranges == mostListedLines) return text + ", …";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", lines[i]);
    if (lines[end] > lines[i]) text += fmt::format("-{}", lines[end]);
    i = end + 1;
  }
  return text;
}

/// The records of one compilation's texts stand behind its `triton_compilation`.
void addLineRows(const LogView& view, std::size_t compilation, const std::string& kernel, LogTable& table) {
  SourceUses uses;
  const auto& records = view.details.records;
  for (std::size_t i = compilation + 1; i < records.size() && records[i].kind == "artifact"; ++i)
    addUses(records[i], uses);
  for (auto& [file, lines] : uses)
    for (auto& [line, texts] : lines) {
      LogRow row;
      row.cells = {shortName(kernel), fmt::format("{}:{}", shortPath(file), line), rangesText(texts["ttir"]),
                   rangesText(texts["ttgir"]), rangesText(texts["machine"])};
      row.record = int(compilation);
      table.rows.push_back(std::move(row));
    }
}

}  // namespace

void fillTriton(const LogView& view, LogTable& table) {
  std::map<std::string, LaunchText> launches;
  forSaid(view, "triton_launches", [&](std::size_t, std::string_view said) {
    launches[saidText(said, "hash") + "|" + saidText(said, "kernel")] = launchText(said);
  });
  const auto compiles = compilesOfRecords(view);
  const auto add = [&](std::size_t record, std::string_view said, const LaunchText& launched) {
    LogRow row;
    const int compile = row.compile = compiles[record];
    row.cells = {compile < 0 ? std::string() : view.details.compiles[std::size_t(compile)].id,
                 saidText(said, "kernel"),
                 saidText(said, "hash").substr(0, 8),
                 saidText(said, "num_warps"),
                 saidText(said, "num_stages"),
                 saidText(said, "shared"),
                 saidText(said, "arch"),
                 std::to_string(launched.count),
                 launched.grids,
                 launched.arguments,
                 launched.where.empty() ? saidText(said, "where") : launched.where,
                 saidText(said, "source")};
    row.record = int(record);
    table.rows.push_back(std::move(row));
  };
  forSaid(view, "triton_compilation", [&](std::size_t record, std::string_view said) {
    const std::string key = saidText(said, "hash") + "|" + saidText(said, "kernel");
    const auto found = launches.find(key);
    add(record, said, found == launches.end() ? LaunchText{} : found->second);
    if (found != launches.end()) launches.erase(found);
  });
  // Launches of what was compiled before the log begins.
  forSaid(view, "triton_launches", [&](std::size_t record, std::string_view said) {
    if (const auto found = launches.find(saidText(said, "hash") + "|" + saidText(said, "kernel"));
        found != launches.end())
      add(record, said, found->second);
  });
}

void fillTritonLines(const LogView& view, LogTable& table) {
  forSaid(view, "triton_compilation", [&](std::size_t record, std::string_view said) {
    if (table.rows.size() <= mostLineRows) addLineRows(view, record, saidText(said, "kernel"), table);
  });
  if (table.rows.size() <= mostLineRows) return;
  table.rows.resize(mostLineRows);
  LogRow rest;
  rest.cells = {"", fmt::format("only the first {} lines are listed", mostLineRows), "", "", ""};
  table.rows.push_back(std::move(rest));
}

}  // namespace kerf::workbench
