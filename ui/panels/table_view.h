// DataTable: a QTableView set up the way every table of the window looks, with sorting and an optional filter.
#pragma once

#include <functional>
#include <vector>

#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVariantMap>

namespace kerf::ui::inline panels {

/// Sorts numbers as numbers; hides rows for which `keep` is false.
class RowFilter : public QSortFilterProxyModel {
 public:
  explicit RowFilter(QObject* parent = nullptr);
  void setKeep(std::function<bool(int sourceRow)> keep);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  std::function<bool(int)> m_keep;
};

class DataTable : public QTableView {
  Q_OBJECT

 public:
  /// Takes `source` as its own.
  explicit DataTable(QAbstractItemModel* source, QWidget* parent = nullptr);
  RowFilter& filter() { return *m_filter; }
  /// Column widths from the first rows; the stretching column takes the rest.
  void fitColumns();
  void setStretchColumn(int column);
  /// Columns that are hidden, the first ones first, where there is no room for all; a tool tip is to say what they say.
  void setSpareColumns(std::vector<int> columns) { m_spare = std::move(columns); }
  /// Widths that the user gave columns, by their titles; fitColumns() leaves those alone.
  QVariantMap chosenWidths() const { return m_chosen; }
  void setChosenWidths(const QVariantMap& widths);
  /// Row of the source model, -1 if nothing is selected.
  int currentSourceRow() const;
  void selectSourceRow(int row);
  /// Tab-separated text of everything shown (copy, tests).
  QString text() const;
  /// Shown while there are no rows.
  void setHint(const QString& hint);

 signals:
  /// The user (not selectSourceRow) went to a row.
  void picked(int sourceRow);

 protected:
  void focusInEvent(QFocusEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  int widthOf(int column) const;
  bool isFree(int column) const;
  bool isStretched(int column) const;
  int leastWidth(int column) const;
  void hideSpareColumns();
  void layOutColumns();
  QString titleOf(int column) const;

  RowFilter* m_filter;
  QString m_hint;
  QVariantMap m_chosen;
  std::vector<int> m_wanted;  ///< pixels, by column
  std::vector<int> m_spare;
  bool m_quiet = false;
  bool m_fitting = false;  ///< widths change, but not by the user's hand
};

}  // namespace kerf::ui::inline panels
