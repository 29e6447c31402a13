#include "ui/panels/captures_panel.h"

#include <functional>

#include <QApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

/// A row's own text, and at the right, quieter, its detail.
class DetailDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), 26};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    const auto detail = index.data(CaptureTreeModel::detailRole).toString();
    QFont small = option.font;
    small.setPixelSize(11);
    const int width = QFontMetrics(small).horizontalAdvance(detail) + 16;
    const auto room = option.rect.width() - width - (option.icon.isNull() ? 8 : 28);
    // A name ends with its compile id, "aot_joint_graph[0/0]", which is what tells rows apart.
    const auto elided = option.text.endsWith(QLatin1Char(']')) ? Qt::ElideMiddle : Qt::ElideRight;
    option.text = option.fontMetrics.elidedText(option.text, elided, std::max(60, room));
    QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);
    painter->save();
    painter->setFont(small);
    painter->setPen(detail == "refused" ? theme().bad : theme().muted);
    if (room >= 60) painter->drawText(option.rect.adjusted(0, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter, detail);
    painter->restore();
  }
};

/// Says what to do while it is empty.
class HintTree : public QTreeView {
 protected:
  /// Qt makes the first row the current one where there is none: to come by with Tab is not to go there.
  void focusInEvent(QFocusEvent* event) override {
    const bool hadCurrent = currentIndex().isValid();
    const QSignalBlocker quiet(selectionModel());
    QTreeView::focusInEvent(event);
    if (!hadCurrent) selectionModel()->setCurrentIndex({}, QItemSelectionModel::NoUpdate);  // a click goes there
    viewport()->update();
  }
  void resizeEvent(QResizeEvent* event) override {
    QTreeView::resizeEvent(event);
    if (currentIndex().isValid()) scrollTo(currentIndex());
  }
  void paintEvent(QPaintEvent* event) override {
    QTreeView::paintEvent(event);
    if (model()->rowCount() > 0) return;
    QPainter painter(viewport());
    painter.setPen(theme().muted);
    painter.drawText(viewport()->rect().adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap,
                     CapturesPanel::tr("Open a file or folder, or drop one here."));
  }
};

}  // namespace

CapturesPanel::CapturesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(new CaptureTreeModel(this)),
      m_filter(new QLineEdit),
      m_tree(new HintTree) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_filter->setObjectName("captureFilter");
  m_filter->setPlaceholderText(tr("Filter captures and graphs"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setMinimumWidth(1);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(8, 6, 8, 6);
  head->addWidget(m_filter);
  column->addLayout(head);
  column->addWidget(m_tree);
  connect(m_filter, &QLineEdit::textChanged, this, &CapturesPanel::applyFilter);
  connect(&session, &Session::traceLogChanged, this, [this] {
    for (const auto& capture : m_session.captures())
      if (const auto log = m_session.traceLog(capture->id)) m_model->addRemarks(capture->id, *log);
  });
  m_tree->setObjectName("captures");
  m_tree->setModel(m_model);
  m_tree->setHeaderHidden(true);
  m_tree->setIndentation(16);
  m_tree->setItemDelegate(new DetailDelegate(m_tree));
  m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
  m_tree->setAccessibleName(tr("Captures"));
  m_tree->setDragEnabled(true);
  m_tree->setAcceptDrops(true);
  m_tree->setDragDropMode(QAbstractItemView::DragDrop);
  m_tree->setDefaultDropAction(Qt::LinkAction);
  connect(m_model, &CaptureTreeModel::graphDropped, this, &CapturesPanel::compareGraphs);
  connect(m_tree, &QTreeView::customContextMenuRequested, this, &CapturesPanel::menuAt);
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
    if (const int record = m_model->record(index); record >= 0)
      return m_session.showRecord(m_model->captureId(index), record);
    if (const auto place = m_model->location(index); place.capture >= 0) m_session.go(place);
    showGraphless(index);
  });
  for (const auto signal : {&QTreeView::clicked, &QTreeView::activated})
    connect(m_tree, signal, this, [this](const QModelIndex& index) {
      if (m_model->kind(index) == CaptureTreeModel::Kind::Graph) emit graphPicked();
      showGraphless(index);
    });
  connect(&session, &Session::capturesChanged, this, &CapturesPanel::showCaptures);
  connect(&session, &Session::loadingProgressed, m_tree->viewport(), qOverload<>(&QWidget::update));
  connect(&session, &Session::locationChanged, this, &CapturesPanel::showPlace);
}

void CapturesPanel::showCaptures() {
  const QSignalBlocker quiet(m_tree->selectionModel());
  m_model->setCaptures(m_session.captures());
  for (const auto& row : m_model->openRows()) m_tree->expand(row);
  applyFilter();
  showPlace();
}

/// The page of a capture that has no graph to go to.
void CapturesPanel::showGraphless(const QModelIndex& index) {
  const int id = m_model->captureId(index);
  const bool whole = index.isValid() && m_model->kind(index) == CaptureTreeModel::Kind::Capture;
  const auto capture = m_session.capture(id);
  if (whole && capture && capture->graphs.empty() && m_session.hasPage(id) && m_session.shownCapture() != id)
    m_session.showGraphless(id);
}

/// Rows whose texts hold what is typed, with what is above and below them.
void CapturesPanel::applyFilter() {
  const auto typed = m_filter->text().trimmed();
  const std::function<bool(const QModelIndex&, bool)> keep = [&](const QModelIndex& parent, bool kept) {
    bool any = false;
    for (int row = 0; row < m_model->rowCount(parent); ++row) {
      const auto index = m_model->index(row, 0, parent);
      const bool own =
          kept || index.data().toString().contains(typed, Qt::CaseInsensitive) ||
          (!parent.isValid() && index.data(Qt::ToolTipRole).toString().contains(typed, Qt::CaseInsensitive));
      const bool shown = keep(index, own) || own;
      m_tree->setRowHidden(row, parent, !shown);
      any |= shown;
    }
    return any;
  };
  keep({}, typed.isEmpty());
}

void CapturesPanel::showPlace() {
  const QSignalBlocker quiet(m_tree->selectionModel());
  // A row that only leads to the place (a compile id, a file) stays chosen.
  const auto here = m_model->location(m_tree->currentIndex());
  const auto& place = m_session.location();
  const bool leadsHere = here.capture == place.capture && here.graph == place.graph;
  if (!leadsHere && m_model->record(m_tree->currentIndex()) < 0) {
    m_tree->setCurrentIndex(m_model->indexOf(place));
    m_tree->scrollTo(m_tree->currentIndex());
  }
  m_tree->viewport()->update();
}

/// Shows the graph on which another one was dropped, against that one.
void CapturesPanel::compareGraphs(const Location& before, const Location& after) {
  m_session.compareWith(before);
  m_session.go(after);
  emit comparisonAsked();
}

void CapturesPanel::menuAt(const QPoint& position) {
  const int id = m_model->captureId(m_tree->indexAt(position));
  if (id < 0) return;
  QMenu menu(this);
  const auto index = m_tree->indexAt(position);
  const auto place = m_model->location(index), here = m_session.location();
  if (m_model->kind(index) == CaptureTreeModel::Kind::Graph && here.capture >= 0 && !here.sameGraph(place)) {
    menu.addAction(tr("Compare the shown graph with this one"), this,
                   [this, place, here] { compareGraphs(place, here); });
    menu.addAction(tr("Compare this graph with the shown one"), this,
                   [this, place, here] { compareGraphs(here, place); });
    menu.addSeparator();
  }
  if (here.capture >= 0 && here.capture != id) {
    menu.addAction(tr("Compare this run with the shown one"), this,
                   [this, id, here] { emit runsAsked(id, here.capture); });
    menu.addSeparator();
  }
  menu.addAction(tr("Close"), this, [this, id] { m_session.close(id); });
  menu.exec(m_tree->viewport()->mapToGlobal(position));
}

}  // namespace kerf::ui::inline panels
