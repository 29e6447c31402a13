#include "ui/models/capture_tree_model.h"

#include <algorithm>
#include <map>

#include <QMimeData>

#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

constexpr std::size_t mostOpen = 300;
constexpr const char* graphType = "application/x-kerf-graph";

/// True for every item that some compile id lists.
std::vector<bool> listed(std::size_t count, const std::vector<CompileEntryDoc>& compiles,
                         std::vector<int> CompileEntryDoc::* items) {
  std::vector<bool> seen(count, false);
  for (const auto& compile : compiles)
    for (const int item : compile.*items)
      if (item >= 0 && std::size_t(item) < count) seen[std::size_t(item)] = true;
  return seen;
}

QColor statusColor(const std::string& status) {
  if (status == "ok" || status == "cache hit") return theme().good;
  return status == "failed" ? theme().bad : theme().warn;
}

QString rankedId(int capture, const std::string& id, int rank) {
  return QString("%1/%2@%3").arg(capture).arg(QString::fromStdString(id)).arg(rank);
}

QString shortName(const std::string& path) { return text(path).section('/', -1); }

}  // namespace

void CaptureTreeModel::setCaptures(std::vector<CaptureDocPtr> captures) {
  beginResetModel();
  m_captures = std::move(captures);
  m_rows.clear();
  m_roots.clear();
  for (int i = 0; i < int(m_captures.size()); ++i) addCapture(i);
  endResetModel();
}

void CaptureTreeModel::addRemarks(int capture, const TraceLogDoc& log) {
  for (const auto& remark : log.remarks) {
    auto& said = m_remarks[rankedId(capture, remark.id, remark.rank)];
    if (const auto line = text(remark.text); !said.contains(line)) said << line;
  }
}

int CaptureTreeModel::add(Kind kind, int capture, int item, int parent) {
  const int row = int(m_rows.size());
  auto& siblings = parent < 0 ? m_roots : m_rows[std::size_t(parent)].children;
  const int place = int(siblings.size());
  siblings.push_back(row);
  m_rows.push_back({kind, capture, item, parent, place, {}});
  return row;
}

void CaptureTreeModel::addCapture(int capture) {
  const auto& doc = *m_captures[std::size_t(capture)];
  const int top = add(Kind::Capture, capture, 0, -1);
  std::map<int, int> ranks;
  for (const auto& compile : doc.compiles) ranks.emplace(compile.rank, top);
  if (ranks.size() > 1)
    for (auto& [rank, row] : ranks) row = add(Kind::Rank, capture, rank, top);
  for (int i = 0; i < int(doc.compiles.size()); ++i)
    addCompile(capture, i, ranks.at(doc.compiles[std::size_t(i)].rank));
  const auto graphSeen = listed(doc.graphs.size(), doc.compiles, &CompileEntryDoc::graphs);
  for (int i = 0; i < int(doc.graphs.size()); ++i)
    if (!graphSeen[std::size_t(i)]) add(Kind::Graph, capture, i, top);
  const auto recordSeen = listed(doc.records.size(), doc.compiles, &CompileEntryDoc::records);
  std::vector<int> rest;
  for (int i = 0; i < int(doc.records.size()); ++i)
    if (!recordSeen[std::size_t(i)]) rest.push_back(i);
  addRecords(capture, rest, top);
}

void CaptureTreeModel::addCompile(int capture, int compile, int parent) {
  const auto& entry = m_captures[std::size_t(capture)]->compiles[std::size_t(compile)];
  const int row = add(Kind::Compile, capture, compile, parent);
  for (const int graph : entry.graphs) add(Kind::Graph, capture, graph, row);
  addRecords(capture, entry.records, row);
}

/// Records that are graphs are shown as graphs already.
void CaptureTreeModel::addRecords(int capture, const std::vector<int>& records, int parent) {
  const auto& all = m_captures[std::size_t(capture)]->records;
  std::vector<int> shown;
  for (const int record : records)
    if (record >= 0 && record < int(all.size()) && all[std::size_t(record)].graph < 0) shown.push_back(record);
  if (shown.empty()) return;
  const int folder = add(Kind::Records, capture, 0, parent);
  for (const int record : shown) add(Kind::Record, capture, record, folder);
}

int CaptureTreeModel::firstGraph(int row) const {
  const Row& here = m_rows[std::size_t(row)];
  if (here.kind == Kind::Graph) return here.item;
  if (here.kind == Kind::Records) return -1;
  for (const int child : here.children)
    if (const int graph = firstGraph(child); graph >= 0) return graph;
  return -1;
}

int CaptureTreeModel::captureId(const QModelIndex& index) const {
  return index.isValid() ? captureOf(rowOf(index)).id : -1;
}

int CaptureTreeModel::record(const QModelIndex& index) const {
  return index.isValid() && rowOf(index).kind == Kind::Record ? rowOf(index).item : -1;
}

Location CaptureTreeModel::location(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  const int graph = firstGraph(int(index.internalId()));
  if (graph < 0) return {};
  return {captureId(index), graph, Location::Stage::Captured, -1, {}};
}

QModelIndex CaptureTreeModel::indexOf(const Location& location) const {
  for (int row = 0; row < int(m_rows.size()); ++row) {
    const Row& here = m_rows[std::size_t(row)];
    if (here.kind == Kind::Graph && here.item == location.graph && captureOf(here).id == location.capture)
      return indexAt(row);
  }
  return {};
}

std::vector<QModelIndex> CaptureTreeModel::openRows() const {
  std::vector<QModelIndex> open;
  for (int row = 0; row < int(m_rows.size()) && open.size() < mostOpen; ++row) {
    const auto kind = m_rows[std::size_t(row)].kind;
    const bool few = m_rows[std::size_t(row)].children.size() <= mostOpen;
    if (kind == Kind::Capture || ((kind == Kind::Rank || kind == Kind::Compile) && few)) open.push_back(indexAt(row));
  }
  return open;
}

Qt::ItemFlags CaptureTreeModel::flags(const QModelIndex& index) const {
  const auto usual = QAbstractItemModel::flags(index);
  if (!index.isValid() || kind(index) != Kind::Graph) return usual;
  return usual | Qt::ItemIsDragEnabled | Qt::ItemIsDropEnabled;
}

QStringList CaptureTreeModel::mimeTypes() const { return {graphType}; }

QMimeData* CaptureTreeModel::mimeData(const QModelIndexList& indexes) const {
  const auto graph = std::ranges::find_if(indexes, [this](const auto& index) { return kind(index) == Kind::Graph; });
  if (graph == indexes.end()) return nullptr;
  const auto place = location(*graph);
  auto* data = new QMimeData;
  data->setData(graphType, QString("%1/%2").arg(place.capture).arg(place.graph).toUtf8());
  data->setText(graph->data().toString());
  return data;
}

bool CaptureTreeModel::canDropMimeData(const QMimeData* data, Qt::DropAction, int, int, const QModelIndex& onto) const {
  if (!data->hasFormat(graphType) || !onto.isValid() || kind(onto) != Kind::Graph) return false;
  const auto place = location(onto);
  return data->data(graphType) != QString("%1/%2").arg(place.capture).arg(place.graph).toUtf8();
}

bool CaptureTreeModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                                    const QModelIndex& onto) {
  if (!canDropMimeData(data, action, row, column, onto)) return false;
  const auto dragged = QString::fromUtf8(data->data(graphType)).split('/');
  emit graphDropped({dragged.value(0).toInt(), dragged.value(1).toInt()}, location(onto));
  return true;
}

QModelIndex CaptureTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const auto& siblings = parent.isValid() ? rowOf(parent).children : m_roots;
  if (column != 0 || row < 0 || row >= int(siblings.size())) return {};
  return createIndex(row, 0, quintptr(siblings[std::size_t(row)]));
}

QModelIndex CaptureTreeModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || rowOf(index).parent < 0) return {};
  return indexAt(rowOf(index).parent);
}

int CaptureTreeModel::rowCount(const QModelIndex& parent) const {
  return int(parent.isValid() ? rowOf(parent).children.size() : m_roots.size());
}

QVariant CaptureTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rowOf(index);
  const auto& capture = captureOf(row);
  switch (row.kind) {
    case Kind::Capture:
      return captureData(capture, role);
    case Kind::Rank:
      return role == Qt::DisplayRole ? QVariant(row.item < 0 ? tr("no rank") : tr("rank %1").arg(row.item))
                                     : QVariant();
    case Kind::Compile:
      return compileData(capture, capture.compiles[std::size_t(row.item)], role);
    case Kind::Graph:
      return graphData(capture.graphs[std::size_t(row.item)], role);
    case Kind::Records:
      if (role == detailRole) return formatCount(qint64(row.children.size()));
      return role == Qt::DisplayRole ? QVariant(tr("Records")) : QVariant();
    case Kind::Record:
      return recordData(capture.records[std::size_t(row.item)], role);
  }
  return {};
}

QVariant CaptureTreeModel::captureData(const CaptureDoc& capture, int role) const {
  const auto path = text(capture.path);
  if (role == Qt::DisplayRole) {
    const auto title = captureTitle(path), file = path.section('/', -1);
    return title == file ? title : title + "  " + file;
  }
  if (role == Qt::ToolTipRole)
    return path + (capture.error.empty() ? "" : "\n" + text(capture.error)) +
           (capture.notes.empty() ? "" : "\n" + texts(capture.notes).join('\n'));
  if (role == detailRole) {
    if (capture.loading) {
      const int percent = capture.percent ? capture.percent->load() : 0;
      return percent > 0 ? QString("reading… %1 %").arg(percent) : QString("reading…");
    }
    if (!capture.error.empty()) return "refused";
    const auto torch = text(capture.torchVersion).section('+', 0, 0);
    // Two captures of one file are told apart by their ids in the store.
    const auto kind = capture.isStored() ? text(capture.name + " · " + capture.kind) : text(capture.kind);
    return torch.isEmpty() ? kind : kind + " · torch " + torch;
  }
  if (role == Qt::ForegroundRole && !capture.error.empty()) return theme().bad;
  return {};
}

QVariant CaptureTreeModel::compileData(const CaptureDoc& capture, const CompileEntryDoc& compile, int role) const {
  if (role == Qt::DisplayRole)
    return compile.frame.empty() ? text(compile.id) : text(compile.id) + "  " + shortName(compile.frame);
  if (role == detailRole)
    return compile.status == "ok" && compile.seconds >= 0 ? formatSeconds(compile.seconds) : text(compile.status);
  if (role == Qt::DecorationRole) return dotIcon(statusColor(compile.status), true);
  if (role == Qt::ForegroundRole && compile.status == "failed") return theme().bad;
  if (role != Qt::ToolTipRole) return {};
  QString tip = text(compile.id + ": " + compile.status);
  if (!compile.failure.empty()) tip += "\n" + text(compile.failure);
  if (!compile.frame.empty()) tip += "\n" + text(compile.frame);
  for (const auto& remark : m_remarks.value(rankedId(capture.id, compile.id, compile.rank))) tip += "\n" + remark;
  for (const auto& [name, value] : compile.metrics) tip += QString("\n%1: %2").arg(text(name)).arg(value);
  return tip;
}

QVariant CaptureTreeModel::graphData(const GraphEntry& graph, int role) const {
  const bool known = graph.nodes >= 0;
  if (role == Qt::DisplayRole) return text(graph.name);
  if (role == detailRole) return known ? plural(graph.nodes, "node") : QString();
  if (role == Qt::DecorationRole) return dotIcon(theme().accent, true);
  if (role != Qt::ToolTipRole) return {};
  QString tip = known ? plural(graph.nodes, "node") + ", " + plural(graph.inputs, "input") : text(graph.name);
  if (!graph.stage.empty()) tip += "\n" + text(graph.stage + " " + graph.compileId);
  if (!graph.file.empty())
    tip += "\n" + text(graph.file) + (graph.line > 0 ? QString(":%1").arg(graph.line) : QString());
  return tip;
}

QVariant CaptureTreeModel::recordData(const RecordEntry& record, int role) const {
  if (role == Qt::DisplayRole) return text(record.name.empty() ? record.kind : record.name);
  if (role == detailRole) return record.bytes > 0 ? formatBytes(record.bytes) : QString();
  if (role == Qt::ToolTipRole) return QString("%1\n%2:%3").arg(text(record.kind), text(record.file)).arg(record.line);
  return {};
}

}  // namespace kerf::ui::inline models
