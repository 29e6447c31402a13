#include "ui/panels/table_view.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/models/table_model.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {
constexpr int rowPixels = 24, measuredRows = 40, mostColumn = 240;
constexpr int leastWidest = 96, leastStretched = 140;  ///< what long texts keep where columns give way
constexpr int sortArrowWidth = 12, smallIcon = 16, iconWidth = 22, padding = 22;

/// The width above which columns are cut so that `over` pixels are saved in all; at least `leastWidest`.
int capOf(std::vector<int> widths, int over) {
  std::ranges::sort(widths, std::greater<>());
  int cap = widths.front();
  for (std::size_t i = 0; i < widths.size() && over > 0; ++i) {  // the i + 1 widest have the width `cap` by now
    const int next = std::max(leastWidest, i + 1 < widths.size() ? widths[i + 1] : 0);
    const int count = int(i) + 1, step = std::min(std::max(0, cap - next), (over + count - 1) / count);
    cap -= step;
    over -= step * count;
  }
  return cap;
}
/// What stands before a cell's text: an icon, or a picture of its own size.
int decorationWidth(const QVariant& decoration) {
  if (decoration.isNull()) return 0;
  const auto picture = decoration.value<QImage>();
  return picture.isNull() ? iconWidth : int(picture.width() / picture.devicePixelRatio()) + iconWidth - smallIcon;
}

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
  horizontalHeader()->viewport()->installEventFilter(this);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column, int, int width) {
    const bool dragged = QApplication::mouseButtons() & Qt::LeftButton;
    if (dragged && !m_fitting && horizontalHeader()->sectionResizeMode(column) == QHeaderView::Interactive)
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
  const int rows = model()->rowCount();
  for (int row = 0; row < rows; ++row) {
    if (row == measuredRows) row = std::max(row, rows - 2);  // the last ones have the longest numbers
    const auto index = model()->index(row, column);
    widest = std::max(
        widest, metrics.horizontalAdvance(index.data().toString()) + decorationWidth(index.data(Qt::DecorationRole)));
  }
  return std::min(widest + padding, mostColumn);
}

void DataTable::fitColumns() {
  m_wanted.clear();
  for (int column = 0; column < model()->columnCount(); ++column) m_wanted.push_back(widthOf(column));
  layOutColumns();
}

/// Its width is neither the user's nor what the others leave.
bool DataTable::isFree(int column) const {
  return !isColumnHidden(column) && horizontalHeader()->sectionResizeMode(column) != QHeaderView::Stretch &&
         !m_chosen.contains(titleOf(column));
}

bool DataTable::isStretched(int column) const {
  return horizontalHeader()->sectionResizeMode(column) == QHeaderView::Stretch;
}

/// Below which a column does not give way.
int DataTable::leastWidth(int column) const {
  const int wanted = m_wanted[std::size_t(column)];
  if (m_chosen.contains(titleOf(column)) && !isStretched(column)) return m_chosen.value(titleOf(column)).toInt();
  return std::min(wanted, isStretched(column) ? leastStretched : leastWidest);
}

void DataTable::hideSpareColumns() {
  int over = -viewport()->width();
  for (int column = 0; column < model()->columnCount(); ++column)
    if (!isColumnHidden(column) || std::ranges::find(m_spare, column) != m_spare.end()) over += leastWidth(column);
  for (const int column : m_spare) {
    const bool hidden = over > 0;
    if (hidden) over -= leastWidth(column);
    if (hidden != isColumnHidden(column)) setColumnHidden(column, hidden);
  }
}

/// A few long names do not push the other columns out of sight: the widest ones give way, and tool tips have all of them.
void DataTable::layOutColumns() {
  if (m_wanted.size() != std::size_t(model()->columnCount())) return;
  hideSpareColumns();
  int total = 0;
  std::vector<int> widths;
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (isFree(column)) widths.push_back(m_wanted[std::size_t(column)]);
    if (!isColumnHidden(column)) total += isFree(column) ? widths.back() : leastWidth(column);
  }
  const int cap = widths.empty() ? mostColumn : capOf(widths, total - viewport()->width());
  m_fitting = true;
  for (int column = 0; column < model()->columnCount(); ++column)
    if (isFree(column))
      setColumnWidth(column, std::min(cap, m_wanted[std::size_t(column)]));
    else if (m_chosen.contains(titleOf(column)))
      setColumnWidth(column, m_chosen.value(titleOf(column)).toInt());
  m_fitting = false;
}

/// Qt makes the first row the current one where there is none: to come by with Tab is not to pick it, and a click on it
/// later is.
void DataTable::focusInEvent(QFocusEvent* event) {
  const bool hadCurrent = currentIndex().isValid();
  m_quiet = true;
  QTableView::focusInEvent(event);
  if (!hadCurrent) selectionModel()->setCurrentIndex({}, QItemSelectionModel::NoUpdate);
  m_quiet = false;
}

void DataTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) layOutColumns();
  const bool smaller = event->size().height() < event->oldSize().height();
  if (smaller && currentIndex().isValid()) scrollTo(currentIndex());
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

/// What a cell has no room for is told beside it.
bool DataTable::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QTableView::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto index = indexAt(help->pos());
  const auto whole = index.data().toString(), tip = index.data(Qt::ToolTipRole).toString();
  const int icon = decorationWidth(index.data(Qt::DecorationRole));
  const bool cut = index.isValid() &&
                   QFontMetrics(font()).horizontalAdvance(whole) + icon + padding / 2 > columnWidth(index.column());
  if (!cut || tip.contains(whole)) return QTableView::viewportEvent(event);
  QToolTip::showText(help->globalPos(), (whole + "\n" + tip).trimmed(), viewport(), visualRect(index));
  return true;
}

/// A title that is cut is told beside it, too.
bool DataTable::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ToolTip || watched != horizontalHeader()->viewport())
    return QTableView::eventFilter(watched, event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int column = horizontalHeader()->logicalIndexAt(help->pos());
  const auto title = column < 0 ? QString() : titleOf(column);
  // What the header itself asks for: its padding cuts titles that would fit otherwise.
  if (title.isEmpty() || horizontalHeader()->sectionSizeHint(column) <= columnWidth(column))
    return QTableView::eventFilter(watched, event);
  QToolTip::showText(help->globalPos(), title, horizontalHeader()->viewport());
  return true;
}

void DataTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return QApplication::clipboard()->setText(text());
  QTableView::keyPressEvent(event);
}

}  // namespace kerf::ui::inline panels
