// CaptureTreeModel: opened files and, below each, ranks, compile ids, graphs and records.
#pragma once

#include <vector>

#include <QAbstractItemModel>
#include <QHash>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

/// Rows are kept in one flat list; an index carries its row's place there.
class CaptureTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  static constexpr int detailRole = Qt::UserRole + 2;  ///< second, quieter text of a row
  enum class Kind { Capture, Rank, Compile, Graph, Records, Record };

  explicit CaptureTreeModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}
  void setCaptures(std::vector<CaptureDocPtr> captures);
  /// What tool tips of compile ids say beside.
  void addRemarks(int capture, const TraceLogDoc& log);
  Kind kind(const QModelIndex& index) const { return rowOf(index).kind; }
  /// The place a row leads to; capture -1 if it leads nowhere (still loading, refused, no graph).
  Location location(const QModelIndex& index) const;
  int captureId(const QModelIndex& index) const;
  /// Index among the capture's records; -1 for other rows.
  int record(const QModelIndex& index) const;
  QModelIndex indexOf(const Location& location) const;
  /// Rows that should be open at first: all but lists of records, as long as they are few.
  std::vector<QModelIndex> openRows() const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return 1; }
  QVariant data(const QModelIndex& index, int role) const override;

  // A graph can be dragged onto another one.
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                       const QModelIndex& onto) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& onto) override;
  Qt::DropActions supportedDropActions() const override { return Qt::CopyAction | Qt::LinkAction; }

 signals:
  void graphDropped(const kerf::ui::Location& dragged, const kerf::ui::Location& onto);

 private:
  struct Row {
    Kind kind = Kind::Capture;
    int capture = 0;  ///< index in m_captures
    int item = 0;     ///< graph, compile or record of the capture; rank
    int parent = -1, place = 0;
    std::vector<int> children;
  };

  const Row& rowOf(const QModelIndex& index) const { return m_rows[std::size_t(index.internalId())]; }
  QModelIndex indexAt(int row) const { return createIndex(m_rows[std::size_t(row)].place, 0, quintptr(row)); }
  int add(Kind kind, int capture, int item, int parent);
  void addCapture(int capture);
  void addCompile(int capture, int compile, int parent);
  void addRecords(int capture, const std::vector<int>& records, int parent);
  int firstGraph(int row) const;
  const CaptureDoc& captureOf(const Row& row) const { return *m_captures[std::size_t(row.capture)]; }
  QVariant captureData(const CaptureDoc& capture, int role) const;
  QVariant compileData(const CaptureDoc& capture, const CompileEntryDoc& compile, int role) const;
  QVariant graphData(const GraphEntry& graph, int role) const;
  QVariant recordData(const RecordEntry& record, int role) const;

  QHash<QString, QStringList> m_remarks;  ///< by compile id and rank
  std::vector<CaptureDocPtr> m_captures;
  std::vector<Row> m_rows;
  std::vector<int> m_roots;
};

}  // namespace kerf::ui::inline models
