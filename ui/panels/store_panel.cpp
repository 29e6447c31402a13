#include "ui/panels/store_panel.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include "ui/models/store_model.h"

namespace kerf::ui::inline panels {

namespace {
constexpr int nameWidth = 150, whatWidth = 190, whenWidth = 160;

/// All words must occur somewhere in a row.
class RowWords : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    QStringList cells;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column)
      cells << sourceModel()->index(row, column, parent).data().toString();
    const auto line = cells.join(' ');
    return std::ranges::all_of(m_words, [&](const QString& word) { return line.contains(word, Qt::CaseInsensitive); });
  }

 private:
  QStringList m_words;
};
}  // namespace

StorePanel::StorePanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeStoreModel().release()),
      m_tree(new QTreeView),
      m_found(new RowWords(this)),
      m_filter(new QLineEdit),
      m_refresh(new QPushButton(tr("Refresh"))),
      m_open(new QPushButton(tr("Open"))),
      m_delete(new QPushButton(tr("Delete"))),
      m_undo(new QPushButton(tr("Undo delete"))),
      m_place(new QLabel) {
  m_model->setParent(this);
  m_place->setObjectName("quiet");
  m_place->setTextFormat(Qt::PlainText);
  m_place->setText(tr("What was imported, run and minified is kept in the store."));
  m_tree->setObjectName("store");
  m_tree->setAccessibleName(tr("Store"));
  m_found->setSourceModel(m_model);
  m_found->setRecursiveFilteringEnabled(true);
  m_found->setAutoAcceptChildRows(true);
  m_filter->setObjectName("storeFilter");
  m_filter->setAccessibleName(tr("Search the store"));
  m_filter->setPlaceholderText(tr("Search captures, runs, reductions, repros"));
  m_filter->setClearButtonEnabled(true);
  m_tree->setModel(m_found);
  m_tree->setUniformRowHeights(true);
  m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
  addDeleting();
  m_tree->setToolTip(tr("Double click opens a capture, graph, reduction or repro; Del deletes"));
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  row->addWidget(m_filter, 1);
  m_filter->setMaximumWidth(420);
  m_filter->setMinimumWidth(180);
  row->addStretch(1);
  for (auto* button : {m_open, m_delete, m_undo, m_refresh}) row->addWidget(button);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_place->setContentsMargins(12, 4, 12, 6);
  m_place->setMinimumWidth(1);
  column->addLayout(row);
  column->addWidget(m_tree, 1);
  column->addWidget(m_place);
  connect(m_open, &QPushButton::clicked, this, &StorePanel::openChosen);
  connect(m_delete, &QPushButton::clicked, this, &StorePanel::deleteChosen);
  connect(m_undo, &QPushButton::clicked, &session, &Session::undoDelete);
  connect(&session, &Session::deletionsChanged, this, &StorePanel::enableButtons);
  connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &StorePanel::enableButtons);
  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& typed) {
    static_cast<RowWords*>(m_found)->setWords(typed);
    for (int group = 0; group < m_found->rowCount(); ++group) m_tree->expand(m_found->index(group, 0));
  });
  enableButtons();
  connect(m_refresh, &QPushButton::clicked, &session, &Session::listStore);
  connect(&session, &Session::storeChanged, this, &StorePanel::showStore);
  connect(m_tree, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
    if (const auto name = index.data(storeNameRole).toString(); !name.isEmpty()) m_session.open({name});
  });
}

void StorePanel::openChosen() {
  const auto name = m_tree->currentIndex().data(storeNameRole).toString();
  if (!name.isEmpty()) m_session.open({name});
}

void StorePanel::enableButtons() {
  const auto rows = m_tree->selectionModel()->selectedRows();
  const auto holds = [&](int role) {
    return std::ranges::any_of(rows, [role](const QModelIndex& row) { return !row.data(role).toString().isEmpty(); });
  };
  m_open->setEnabled(holds(storeNameRole));
  m_delete->setEnabled(holds(storeItemRole));
  m_undo->setEnabled(m_session.canUndoDelete());
}

void StorePanel::addDeleting() {
  auto* chosen = new QAction(tr("Delete"), this);
  chosen->setShortcut(QKeySequence::Delete);
  chosen->setShortcutContext(Qt::WidgetShortcut);
  connect(chosen, &QAction::triggered, this, &StorePanel::deleteChosen);
  auto* open = new QAction(tr("Open"), this);
  open->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
  open->setShortcutContext(Qt::WidgetShortcut);
  connect(open, &QAction::triggered, this, &StorePanel::openChosen);
  m_tree->addAction(open);
  auto* undo = new QAction(tr("Undo delete"), this);
  undo->setEnabled(false);
  connect(undo, &QAction::triggered, &m_session, &Session::undoDelete);
  connect(&m_session, &Session::deletionsChanged, undo, [this, undo] { undo->setEnabled(m_session.canUndoDelete()); });
  m_tree->addActions({chosen, undo});
  m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
}

void StorePanel::deleteChosen() {
  QStringList items;
  for (const auto& index : m_tree->selectionModel()->selectedRows())
    if (const auto item = index.data(storeItemRole).toString(); !item.isEmpty()) items << item;
  if (!items.isEmpty()) m_session.removeStored(items);
}

void StorePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!m_session.store()) m_session.listStore();
}

void StorePanel::showStore() {
  const auto store = m_session.store();
  fillStoreModel(*m_model, *store);
  m_place->setText(text(store->store));
  for (int group = 0; group < m_found->rowCount(); ++group) m_tree->expand(m_found->index(group, 0));
  auto& header = *m_tree->header();
  header.setStretchLastSection(false);
  header.setSectionResizeMode(2, QHeaderView::Stretch);
  header.resizeSection(0, nameWidth);
  header.resizeSection(1, whatWidth);
  header.resizeSection(3, whenWidth);
}

}  // namespace kerf::ui::inline panels
