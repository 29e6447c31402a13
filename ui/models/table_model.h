// TableModel: the whole of Qt's table boilerplate, written once: rows of any type, columns given as a list of
// functions.
#pragma once

#include <functional>
#include <vector>

#include <QAbstractTableModel>
#include <QVariant>

namespace kerf::ui::inline models {

/// Role with the value that a column sorts by (numbers stay numbers); text is the fallback.
constexpr int rowSortRole = Qt::UserRole + 1;

template <class Row>
struct Column {
  QString title;
  std::function<QString(const Row&)> text;
  std::function<QVariant(const Row&)> sort = {};             ///< default: the text
  bool number = false;                                       ///< right-aligned
  std::function<QVariant(const Row&, int role)> extra = {};  ///< colours, fonts, tool tips, decorations
};

template <class Row>
class TableModel : public QAbstractTableModel {
 public:
  explicit TableModel(std::vector<Column<Row>> columns, QObject* parent = nullptr)
      : QAbstractTableModel(parent), m_columns(std::move(columns)) {}

  void setRows(std::vector<Row> rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
  }
  /// Keeps selection and scroll position where rows were only added at the end.
  void appendRows(const std::vector<Row>& all) {
    if (all.size() < m_rows.size()) return setRows(all);
    if (all.size() == m_rows.size()) return;
    beginInsertRows({}, int(m_rows.size()), int(all.size()) - 1);
    m_rows.insert(m_rows.end(), all.begin() + std::ptrdiff_t(m_rows.size()), all.end());
    endInsertRows();
  }
  const std::vector<Row>& rows() const { return m_rows; }
  const Row& row(int index) const { return m_rows[std::size_t(index)]; }

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : int(m_rows.size()); }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : int(m_columns.size());
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || section >= int(m_columns.size())) return {};
    const auto& column = m_columns[std::size_t(section)];
    if (role == Qt::DisplayRole) return column.title;
    if (role == Qt::TextAlignmentRole) return int((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
  }
  QVariant data(const QModelIndex& index, int role) const override {
    if (!index.isValid() || index.row() >= int(m_rows.size())) return {};
    const auto& column = m_columns[std::size_t(index.column())];
    const Row& row = m_rows[std::size_t(index.row())];
    if (column.extra)
      if (auto value = column.extra(row, role); value.isValid()) return value;
    if (role == Qt::DisplayRole) return column.text(row);
    if (role == rowSortRole) return column.sort ? column.sort(row) : QVariant(column.text(row));
    if (role == Qt::TextAlignmentRole) return int((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
  }

 private:
  std::vector<Column<Row>> m_columns;
  std::vector<Row> m_rows;
};

}  // namespace kerf::ui::inline models
