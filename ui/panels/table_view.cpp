#include "ui/panels/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>

#include "ui/models/table_model.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {
constexpr int rowPixels = 24, measuredRows = 40, mostColumn = 240;
constexpr int sortArrowWidth = 12, iconWidth = 22, padding = 22;
}  // namespace

RowFilter::RowFilter(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(rowSortRole); }

void RowFilter::setKeep(std::function<bool(int)> keep) {
  const bool nothing = !m_keep && !keep;
  m_keep = std::move(keep);
  if (!nothing) invalidateFilter();
}

bool RowFilter::filterAcceptsRow(int row, const QModelIndex&) const { return !m_keep || m_keep(row); }

DataTable::DataTable(QAbstractItemModel* source, QWidget* parent) : QTableView(parent), m_filter(new RowFilter(this)) {
  source->setParent(this);
  m_filter->setSourceModel(source);
  setModel(m_filter);
  setShowGrid(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setEditTriggers(NoEditTriggers);
  setTabKeyNavigation(false);
  setWordWrap(false);
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollMode(ScrollPerPixel);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(rowPixels);
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(28);
  setSortingEnabled(true);
  m_filter->sort(-1);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column, int, int width) {
    const bool dragged = QApplication::mouseButtons() & Qt::LeftButton;
    if (dragged && horizontalHeader()->sectionResizeMode(column) == QHeaderView::Interactive)
      m_chosen[titleOf(column)] = width;
  });
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!m_quiet && current.isValid()) emit picked(m_filter->mapToSource(current).row());
  });
}

void DataTable::setStretchColumn(int column) { horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch); }

/// From the text alone: asking the style for hundreds of cells takes longer than a frame.
int DataTable::widthOf(int column) const {
  const QFontMetrics metrics(font());
  int widest = metrics.horizontalAdvance(model()->headerData(column, Qt::Horizontal).toString()) + sortArrowWidth;
  const int rows = std::min(model()->rowCount(), measuredRows);
  for (int row = 0; row < rows; ++row) {
    const auto index = model()->index(row, column);
    const int icon = index.data(Qt::DecorationRole).isNull() ? 0 : iconWidth;
    widest = std::max(widest, metrics.horizontalAdvance(index.data().toString()) + icon);
  }
  return std::min(widest + padding, mostColumn);
}

void DataTable::fitColumns() {
  constexpr int leastWidest = 190;
  int total = 0, widest = -1;
  bool stretches = false;
  for (int column = 0; column < model()->columnCount(); ++column) {
    stretches |= horizontalHeader()->sectionResizeMode(column) == QHeaderView::Stretch;
    if (isColumnHidden(column) || horizontalHeader()->sectionResizeMode(column) == QHeaderView::Stretch) continue;
    setColumnWidth(column, m_chosen.value(titleOf(column), widthOf(column)).toInt());
    total += columnWidth(column);
    const bool free = !m_chosen.contains(titleOf(column));
    if (free && (widest < 0 || columnWidth(column) > columnWidth(widest))) widest = column;
  }
  // A few long names do not push the other columns out of sight.
  const int over = total - viewport()->width();
  if (stretches || over <= 0 || widest < 0 || columnWidth(widest) <= leastWidest) return;
  setColumnWidth(widest, std::max(leastWidest, columnWidth(widest) - over));
}

QString DataTable::titleOf(int column) const { return model()->headerData(column, Qt::Horizontal).toString(); }

void DataTable::setChosenWidths(const QVariantMap& widths) {
  m_chosen = widths;
  fitColumns();
}

int DataTable::currentSourceRow() const {
  return currentIndex().isValid() ? m_filter->mapToSource(currentIndex()).row() : -1;
}

void DataTable::selectSourceRow(int row) {
  m_quiet = true;
  const auto index = m_filter->mapFromSource(m_filter->sourceModel()->index(row, 0));
  if (index.isValid() && row >= 0) {
    selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    scrollTo(index);
  } else {
    clearSelection();
    setCurrentIndex({});
  }
  m_quiet = false;
}

QString DataTable::text() const {
  QStringList lines, cells;
  for (int column = 0; column < model()->columnCount(); ++column)
    cells << model()->headerData(column, Qt::Horizontal).toString();
  lines << cells.join('\t');
  for (int row = 0; row < model()->rowCount(); ++row) {
    cells.clear();
    for (int column = 0; column < model()->columnCount(); ++column)
      if (!isColumnHidden(column)) cells << model()->index(row, column).data().toString();
    lines << cells.join('\t');
  }
  return lines.join('\n');
}

void DataTable::setHint(const QString& hint) {
  m_hint = hint;
  viewport()->update();
}

void DataTable::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (model()->rowCount() > 0 || m_hint.isEmpty()) return;
  QPainter painter(viewport());
  painter.setPen(theme().muted);
  painter.drawText(viewport()->rect().adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap, m_hint);
}

void DataTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return QApplication::clipboard()->setText(text());
  QTableView::keyPressEvent(event);
}

}  // namespace kerf::ui::inline panels
