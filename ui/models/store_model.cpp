#include "ui/models/store_model.h"

#include <map>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

constexpr QSize cellSize{0, 24};

/// A row: what it opens, what it is (empty for what cannot be deleted), and a text for each column (name, what, detail,
/// time).
template <class Item = QStandardItem>
QList<QStandardItem*> rowOf(const std::string& opens, const std::string& is, const QStringList& cells) {
  QList<QStandardItem*> row;
  for (const auto& cell : cells) {
    auto* item = new Item(cell);
    item->setEditable(false);
    item->setData(text(opens), storeNameRole);
    item->setData(text(is), storeItemRole);
    item->setToolTip(cell);
    item->setSizeHint(cellSize);
    row << item;
  }
  return row;
}

/// Its colour is always that of the theme at hand.
class HeadingItem : public QStandardItem {
 public:
  using QStandardItem::QStandardItem;
  QVariant data(int role) const override {
    return role == Qt::ForegroundRole ? QVariant(theme().muted) : QStandardItem::data(role);
  }
};

QStandardItem* heading(QStandardItemModel& model, const QString& title, std::size_t count) {
  auto row = rowOf<HeadingItem>({}, {}, {title, formatCount(qint64(count)), {}, {}});
  model.appendRow(row);
  return row[0];
}

/// "2025-01-31 12:00:01" of "2025-01-31T12:00:01Z".
QString when(const std::string& iso) { return text(iso).left(19).replace('T', ' '); }

void addCaptures(QStandardItemModel& model, const StoreListing& store) {
  std::map<std::string, QStandardItem*> rows;
  auto* top = heading(model, QObject::tr("Captures"), store.captures.size());
  for (auto capture = store.captures.rbegin(); capture != store.captures.rend(); ++capture) {
    auto row = rowOf(
        capture->id, capture->id,
        {text(capture->id), text(capture->kind),
         plural(capture->graphs, "graph") + "  ·  " + nameWithFolder(text(capture->path)), when(capture->importedAt)});
    row[2]->setToolTip(text(capture->path));
    rows[capture->id] = row[0];
    top->appendRow(row);
  }
  for (const auto& graph : store.graphs) {
    const auto owner = rows.find(graph.id.substr(0, graph.id.find('/')));
    if (owner == rows.end()) continue;
    owner->second->appendRow(rowOf(graph.id, {},
                                   {text(graph.id), text(graph.stage), text(graph.name),
                                    graph.nodes < 0 ? QString() : plural(graph.nodes, "node")}));
  }
}

void addRuns(QStandardItemModel& model, const StoreListing& store) {
  auto* top = heading(model, QObject::tr("Runs"), store.runs.size());
  for (auto run = store.runs.rbegin(); run != store.runs.rend(); ++run)
    top->appendRow(
        rowOf(run->graph, run->id,
              {text(run->id), text(run->kind + " of " + run->graph), text(run->status), when(run->startedAt)}));
}

void addReductions(QStandardItemModel& model, const StoreListing& store) {
  auto* top = heading(model, QObject::tr("Reductions"), store.reductions.size());
  for (auto row = store.reductions.rbegin(); row != store.reductions.rend(); ++row)
    top->appendRow(rowOf(row->id, row->id,
                         {text(row->id), text(row->status + ", of " + row->graph),
                          QString("%1 → %2  ·  ").arg(row->startNodes).arg(row->bestNodes) + text(row->fingerprint),
                          when(row->startedAt)}));
}

void addRepros(QStandardItemModel& model, const StoreListing& store) {
  auto* top = heading(model, QObject::tr("Repros"), store.repros.size());
  for (auto repro = store.repros.rbegin(); repro != store.repros.rend(); ++repro)
    top->appendRow(
        rowOf(repro->id, repro->id,
              {text(repro->id), text("of " + repro->graph), plural(repro->nodes, "node"), when(repro->createdAt)}));
}

}  // namespace

std::unique_ptr<QStandardItemModel> makeStoreModel() { return std::make_unique<QStandardItemModel>(); }

void fillStoreModel(QStandardItemModel& model, const StoreListing& store) {
  model.clear();
  model.setHorizontalHeaderLabels(
      {QObject::tr("Name"), QObject::tr("What"), QObject::tr("Detail"), QObject::tr("When")});
  addCaptures(model, store);
  addRuns(model, store);
  addReductions(model, store);
  addRepros(model, store);
}

}  // namespace kerf::ui::inline models
