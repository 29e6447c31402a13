#include "ui/panels/notes_panel.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

NoteModel* makeNoteModel() {
  const auto dot = [](const NodeNoteDoc& note, int role) {
    return role == Qt::DecorationRole ? dotIcon(theme().accent, !note.text.empty()) : QVariant();
  };
  const auto whole = [](const NodeNoteDoc& note, int role) {
    return role == Qt::ToolTipRole ? QVariant(text(note.text)) : QVariant();
  };
  return new NoteModel(std::vector<Column<NodeNoteDoc>>{
      {"Node", [](const NodeNoteDoc& note) { return text(note.node); }, {}, false, dot},
      {"Note", [](const NodeNoteDoc& note) { return text(note.text); }, {}, false, whole},
      {"Graph", [](const NodeNoteDoc& note) { return notedPlaceTitle(note); }},
      {"Capture", [](const NodeNoteDoc& note) { return nameWithFolder(text(note.capture)); }},
      {"When", [](const NodeNoteDoc& note) { return text(note.changedAt).left(16).replace('T', ' '); }}});
}

}  // namespace

NotesPanel::NotesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeNoteModel()),
      m_table(new DataTable(m_model)),
      m_edit(new QLineEdit),
      m_mark(new QPushButton(tr("Bookmark"))),
      m_remove(new QPushButton(tr("Remove"))) {
  m_edit->setObjectName("note");
  m_edit->setClearButtonEnabled(true);
  m_edit->setAccessibleName(tr("Note at the selected node"));
  m_mark->setToolTip(tr("Bookmark the selected node (Ctrl+F2)"));
  m_remove->setToolTip(tr("Take the chosen bookmark or note away"));
  m_table->setObjectName("notes");
  m_table->setAccessibleName(tr("Bookmarks and notes"));
  m_table->setHint(
      tr("Ctrl+F2 bookmarks the selected node; a note is written above. Both are kept in the store, and are "
         "there again whenever the same graph is opened."));
  m_table->setStretchColumn(1);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  row->addWidget(m_edit, 1);
  row->addWidget(m_mark);
  row->addWidget(m_remove);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  connect(m_edit, &QLineEdit::returnPressed, this, &NotesPanel::keep);
  connect(m_mark, &QPushButton::clicked, this, &NotesPanel::toggle);
  connect(m_remove, &QPushButton::clicked, this, &NotesPanel::remove);
  connect(m_table, &DataTable::picked, this, [this](int note) { m_session.goToNote(m_model->row(note)); });
  connect(&session, &Session::notesChanged, this, &NotesPanel::showNotes);
  connect(&session, &Session::nodeChanged, this, &NotesPanel::showNode);
  connect(&session, &Session::graphChanged, this, &NotesPanel::showNode);
  showNode();
}

void NotesPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!m_session.notes()) m_session.listNotes();
}

void NotesPanel::showNotes() {
  m_model->setRows(*m_session.notes());
  m_table->fitColumns();
  showNode();
}

void NotesPanel::showNode() {
  const auto* node = m_session.nodeDoc();
  const auto* note = node ? m_session.noteAt(node->name) : nullptr;
  m_edit->setEnabled(node != nullptr);
  m_mark->setEnabled(node != nullptr);
  m_mark->setText(note ? tr("Remove bookmark") : tr("Bookmark"));
  m_edit->setPlaceholderText(node ? tr("Note at %1, Enter keeps it").arg(text(node->name)) : tr("No node is selected"));
  m_edit->setText(note ? text(note->text) : QString());
  int shown = -1;
  for (int i = 0; note && i < m_model->rowCount(); ++i)
    if (m_model->row(i).node == note->node && m_model->row(i).graphHash == note->graphHash) shown = i;
  m_table->selectSourceRow(shown);
  m_remove->setEnabled(m_table->currentSourceRow() >= 0);
}

void NotesPanel::keep() {
  if (const auto* node = m_session.nodeDoc())
    m_session.leaveNote(QString::fromStdString(node->name), m_edit->text().trimmed());
}

void NotesPanel::toggle() {
  const auto* node = m_session.nodeDoc();
  if (!node) return;
  if (const auto* note = m_session.noteAt(node->name)) return m_session.forgetNote(*note);
  m_session.leaveNote(QString::fromStdString(node->name), {});
}

void NotesPanel::remove() {
  if (const int row = m_table->currentSourceRow(); row >= 0) m_session.forgetNote(m_model->row(row));
}

void NotesPanel::step(int direction) {
  const auto graph = m_session.graph();
  if (!graph) return;
  const int count = int(graph->nodes.size());
  for (int i = 1; i <= count; ++i) {
    const int node = ((m_session.node() + direction * i) % count + count) % count;
    if (m_session.noteAt(graph->nodes[std::size_t(node)].name)) return m_session.selectNode(node);
  }
}

}  // namespace kerf::ui::inline panels
