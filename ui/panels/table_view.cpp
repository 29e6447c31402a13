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
constexpr int rowPixels = 24, measuredRows = 40;
constexpr int mostColumn = 240;  ///< of a column beside one that takes the rest, and has more to say
constexpr int mostText = 900;    ///< of any column: longer texts are read elsewhere
constexpr int leastWidest = 88, leastStretched = 140;  ///< what long texts keep where columns give way
constexpr int sortArrowWidth = 12, smallIcon = 16, iconWidth = 22, padding = 22, hiddenTitlePadding = 28;

struct FreeColumn {
  int wanted = 0, title = 0;
  int under(int cap) const { return std::max(title, std::min(wanted, cap)); }
};
/// The width above which columns are cut so that all of them have `room`, from `least` to `most`. Titles stay whole.
int capOf(const std::vector<FreeColumn>& columns, int room, int least, int most) {
  const auto taken = [&](int cap) {
    int sum = 0;
    for (const FreeColumn& column : columns) sum += column.under(cap);
    return sum;
  };
  int cap = most;
  while (cap > least && taken(cap) > room) --cap;
  return cap;
}
/// What stands before a cell's text: an icon, or a picture of its own size.
int decorationWidth(const QVariant& decoration) {
  if (decoration.isNull()) return 0;
  const auto picture = decoration.value<QImage>();
  return picture.isNull() ? iconWidth : int(picture.width() / picture.devicePixelRatio()) + iconWidth - smallIcon;
}

/// What a title takes, with the arrow where the table is sorted by it: the style takes the arrow's room from the title.
int titleWidth(const QHeaderView& header, int column) {
  const bool sorted = header.isSortIndicatorShown() && header.sortIndicatorSection() == column;
  // The header knows no hint for a hidden one: what it takes at most.
  const auto title = header.model()->headerData(column, Qt::Horizontal).toString();
  const int hint = header.isSectionHidden(column)
                       ? QFontMetrics(header.font()).horizontalAdvance(title) + hiddenTitlePadding
                       : header.sectionSizeHint(column);
  return hint + (sorted ? sortArrowWidth : 0);
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
  connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this] { layOutColumns(); });
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
  return std::min(widest + padding, mostText);
}

void DataTable::fitColumns() {
  m_wanted.clear();
  for (int column = 0; column < model()->columnCount(); ++column) m_wanted.push_back(widthOf(column));
  layOutColumns();
}

/// Its width is neither the user's nor what the others leave.
bool DataTable::isFree(int column) const {
  return !isColumnHidden(column) && !isStretched(column) && !m_chosen.contains(titleOf(column));
}

/// It takes the rest, or what it needs at least (layOutColumns()); the user changes the others alone.
bool DataTable::isStretched(int column) const {
  return horizontalHeader()->sectionResizeMode(column) != QHeaderView::Interactive;
}

/// Below which a column does not give way.
int DataTable::leastWidth(int column) const {
  const int wanted = m_wanted[std::size_t(column)];
  const bool stretched = isStretched(column);
  if (m_chosen.contains(titleOf(column)) && !stretched) return m_chosen.value(titleOf(column)).toInt();
  return std::max(titleWidth(*horizontalHeader(), column), std::min(wanted, stretched ? leastStretched : leastWidest));
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
/// Where not even the titles have room, the table scrolls.
void DataTable::layOutColumns() {
  if (m_wanted.size() != std::size_t(model()->columnCount())) return;
  hideSpareColumns();
  auto& header = *horizontalHeader();
  int room = viewport()->width(), more = 0;  // more: what the column that takes the rest has to say beyond its least
  std::vector<FreeColumn> columns;
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (isColumnHidden(column)) continue;
    const int wanted = m_wanted[std::size_t(column)];
    if (isFree(column)) columns.push_back({wanted, titleWidth(header, column)});
    if (!isFree(column)) room -= leastWidth(column);
    if (isStretched(column)) more += std::max(0, wanted - leastWidth(column));
  }
  int cap = capOf(columns, room - more, mostColumn, mostText);
  if (cap == mostColumn) cap = capOf(columns, room, leastWidest, mostColumn);
  m_fitting = true;
  int left = viewport()->width();
  for (int column = 0, i = 0; column < model()->columnCount(); ++column) {
    if (isColumnHidden(column) || isStretched(column)) continue;
    setColumnWidth(column, isFree(column) ? columns[std::size_t(i++)].under(cap) : leastWidth(column));
    left -= columnWidth(column);
  }
  // The header alone would leave the column that takes the rest no room at all where there is none.
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (isColumnHidden(column) || !isStretched(column)) continue;
    const int least = leastWidth(column);
    header.setSectionResizeMode(column, left < least ? QHeaderView::Fixed : QHeaderView::Stretch);
    if (left < least) setColumnWidth(column, least);
  }
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
  if (title.isEmpty() || titleWidth(*horizontalHeader(), column) <= columnWidth(column))
    return QTableView::eventFilter(watched, event);
  QToolTip::showText(help->globalPos(), title, horizontalHeader()->viewport());
  return true;
}

void DataTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return QApplication::clipboard()->setText(text());
  QTableView::keyPressEvent(event);
}

}  // namespace kerf::ui::inline panels
