#include "ui/panels/store_panel.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "ui/models/store_model.h"

namespace kerf::ui::inline panels {

namespace {
constexpr int nameWidth = 160, whatWidth = 220, whenWidth = 170;
}

StorePanel::StorePanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeStoreModel().release()),
      m_tree(new QTreeView),
      m_refresh(new QPushButton(tr("Refresh"))),
      m_place(new QLabel) {
  m_model->setParent(this);
  m_place->setObjectName("quiet");
  m_place->setTextFormat(Qt::PlainText);
  m_place->setText(tr("What was imported, run and minified is kept in the store."));
  m_tree->setObjectName("store");
  m_tree->setAccessibleName(tr("Store"));
  m_tree->setModel(m_model);
  m_tree->setUniformRowHeights(true);
  m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
  addDeleting();
  m_tree->setToolTip(tr("Double click opens a capture, graph, reduction or repro; Del deletes"));
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  row->addWidget(m_refresh);
  row->addWidget(m_place, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_tree, 1);
  connect(m_refresh, &QPushButton::clicked, &session, &Session::listStore);
  connect(&session, &Session::storeChanged, this, &StorePanel::showStore);
  connect(m_tree, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
    if (const auto name = index.data(storeNameRole).toString(); !name.isEmpty()) m_session.open({name});
  });
}

void StorePanel::addDeleting() {
  auto* chosen = new QAction(tr("Delete"), this);
  chosen->setShortcut(QKeySequence::Delete);
  chosen->setShortcutContext(Qt::WidgetShortcut);
  connect(chosen, &QAction::triggered, this, &StorePanel::deleteChosen);
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
  for (int group = 0; group < m_model->rowCount(); ++group) m_tree->expand(m_model->index(group, 0));
  auto& header = *m_tree->header();
  header.setStretchLastSection(false);
  header.setSectionResizeMode(2, QHeaderView::Stretch);
  header.resizeSection(0, nameWidth);
  header.resizeSection(1, whatWidth);
  header.resizeSection(3, whenWidth);
}

}  // namespace kerf::ui::inline panels
