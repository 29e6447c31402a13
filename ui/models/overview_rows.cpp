#include "ui/models/overview_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ui/models/format.h"

namespace kerf::ui::inline models {
namespace {

/// "0/1", where a trace has ranks "0/1@rank3".
std::map<std::string, int> compilesByLabel(const CaptureDoc& capture) {
  std::map<std::string, int> places;
  for (int i = 0; i < int(capture.compiles.size()); ++i) {
    const auto& entry = capture.compiles[std::size_t(i)];
    places.emplace(entry.id, i);
    if (entry.rank >= 0) places.emplace(entry.id + "@rank" + std::to_string(entry.rank), i);
  }
  return places;
}

/// "model.py:12 in forward": folders stand in the tool tip.
QString shortFrame(const std::string& frame) { return text(frame).section('/', -1); }

std::string cellOf(const workbench::LogTable& table, const workbench::LogRow& row, std::string_view key) {
  const auto column = std::ranges::find(table.columns, key, &workbench::LogColumn::key);
  const auto place = std::size_t(column - table.columns.begin());
  return place < row.cells.size() ? row.cells[place] : std::string();
}

class OverviewBuilder {
 public:
  OverviewBuilder(const CaptureDoc& capture, const TraceLogDoc* log) : m_capture(capture), m_log(log) {}

  std::vector<OverviewRow> build() {
    fillCaches();
    m_shown.assign(m_capture.compiles.size(), false);
    if (const auto* stacks = m_log ? m_log->table("stacks") : nullptr) addStacks(*stacks);
    for (int i = 0; i < int(m_capture.compiles.size()); ++i)
      if (!m_shown[std::size_t(i)]) addCompile(i, -1);
    if (m_capture.compiles.empty()) addGraphs();
    return std::move(m_rows);
  }

 private:
  void fillCaches() {
    const auto* table = m_log ? m_log->table("compiles") : nullptr;
    for (const auto& row : table ? table->rows : std::vector<workbench::LogRow>())
      if (row.compile >= 0) m_caches[row.compile] = text(cellOf(*table, row, "caches"));
  }

  /// Frames in a line are one row, which is named after the last of them.
  void addStacks(const workbench::LogTable& table) {
    const auto places = compilesByLabel(m_capture);
    std::vector<int> parents;  // by depth
    QStringList chain;
    for (const auto& row : table.rows) {
      chain << text(row.cells.front()) + (row.detail.empty() ? QString() : "    " + text(row.detail).trimmed());
      const auto& label = row.cells.size() > 1 ? row.cells[1] : std::string();
      const bool goesOn = label.empty() && &row != &table.rows.back() && (&row + 1)->depth == row.depth;
      if (goesOn) continue;
      const auto depth = std::size_t(std::max(row.depth, 0));
      parents.resize(std::min(parents.size(), depth));
      const int frame = add({.parent = parents.empty() ? -1 : parents.back(),
                             .where = shortFrame(row.cells.front()),
                             .tip = std::exchange(chain, {}).join('\n')});
      parents.push_back(frame);
      for (const auto& each : QString::fromStdString(label).split(' ', Qt::SkipEmptyParts))
        if (const auto found = places.find(each.toStdString()); found != places.end()) addCompile(found->second, frame);
    }
  }

  void addCompile(int compile, int parent) {
    const auto& entry = m_capture.compiles[std::size_t(compile)];
    m_shown[std::size_t(compile)] = true;
    OverviewRow row{.parent = parent, .compile = compile, .where = text(entry.id), .status = text(entry.status)};
    if (entry.rank >= 0) row.where += QString("  rank %1").arg(entry.rank);
    if (parent < 0 && !entry.frame.empty()) row.where += "  " + shortFrame(entry.frame);
    if (!entry.graphs.empty()) row.graph = entry.graphs.front();
    if (entry.seconds >= 0) row.time = formatSeconds(entry.seconds);
    row.cache = m_caches.contains(compile) ? m_caches.at(compile) : QString();
    if (!entry.failure.empty()) row.remarks << text(entry.failure);
    if (m_log) row.remarks << m_log->remarksOf(entry.id, entry.rank);
    const int place = add(std::move(row));
    for (int above = parent; above >= 0; above = m_rows[std::size_t(above)].parent)
      if (auto& frame = m_rows[std::size_t(above)]; frame.graph < 0) frame.graph = m_rows[std::size_t(place)].graph;
  }

  void addGraphs() {
    for (int i = 0; i < int(m_capture.graphs.size()); ++i) {
      const auto& graph = m_capture.graphs[std::size_t(i)];
      OverviewRow row{.graph = i, .where = text(graph.name), .status = text(graph.stage)};
      if (graph.nodes >= 0) row.remarks << plural(graph.nodes, "node");
      add(std::move(row));
    }
  }

  int add(OverviewRow row) {
    m_rows.push_back(std::move(row));
    return int(m_rows.size()) - 1;
  }

  const CaptureDoc& m_capture;
  const TraceLogDoc* m_log;
  std::map<int, QString> m_caches;
  std::vector<bool> m_shown;
  std::vector<OverviewRow> m_rows;
};

}  // namespace

std::vector<OverviewRow> overviewRows(const CaptureDoc& capture, const TraceLogDoc* log) {
  return OverviewBuilder(capture, log).build();
}

QString overviewTotals(const CaptureDoc& capture, const TraceLogDoc* log) {
  if (capture.compiles.empty()) return plural(qint64(capture.graphs.size()), "graph");
  double seconds = 0;
  std::map<std::string, int> statuses;
  for (const auto& entry : capture.compiles) {
    seconds += std::max(entry.seconds, 0.0);
    ++statuses[entry.status];
  }
  QStringList said{plural(qint64(capture.compiles.size()), "compilation"), formatSeconds(seconds)};
  const std::pair<const char*, const char*> tables[] = {
      {"breaks", "graph break"}, {"recompiles", "failed guard"}, {"restarts", "restart"}, {"failures", "failure"}};
  for (const auto& [name, noun] : tables)
    if (const auto* table = log ? log->table(name) : nullptr; table && !table->rows.empty())
      said << plural(qint64(table->rows.size()), noun);
  if (statuses["cache hit"] > 0) said << plural(statuses["cache hit"], "cache hit");
  return said.join("  ·  ");
}

QString adviceFor(const QString& guard) {
  struct GuardAdvice {
    const char *part, *text;
  };
  static constexpr GuardAdvice advices[] = {
      {".size()", "A size changed. Mark it with torch._dynamo.mark_dynamic, or compile with dynamic=True."},
      {"size mismatch", "A size changed. Mark it with torch._dynamo.mark_dynamic, or compile with dynamic=True."},
      {"stride", "A stride changed. Make the input contiguous before the call, or mark its sizes as dynamic."},
      {"requires_grad", "Gradients were asked for in one call and not in the other: call both in the same mode."},
      {"grad_mode", "torch.no_grad() was on in one call and off in the other: call both in the same mode."},
      {"dtype", "The dtype changed. Cast the input before the call."},
      {"___check_type_id", "The type of an object changed between calls."},
      {"___check_obj_id", "Another object stands there now: keep one and the same, or pass it as an argument."},
      {"len(", "The length of a container changed. Pad it, or take it out of the compiled function."},
      {" == ", "A Python value is compiled in as a constant. Pass it as a tensor, or keep it the same."}};
  for (const auto& advice : advices)
    if (guard.contains(advice.part, Qt::CaseInsensitive)) return QString::fromLatin1(advice.text);
  return {};
}

}  // namespace kerf::ui::inline models
