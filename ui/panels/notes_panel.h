// NotesPanel: bookmarks and notes at nodes, of all captures, and the note of the selected node to be written.
#pragma once

#include <QWidget>

#include "ui/models/table_model.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLineEdit;
class QPushButton;

namespace kerf::ui::inline panels {

using NoteModel = TableModel<NodeNoteDoc>;

class NotesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit NotesPanel(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QLineEdit& edit() { return *m_edit; }
  /// Leaves a bookmark at the selected node, or takes away what is there.
  void toggle();
  /// Selects the noted node of the shown graph that comes next in its order, or the one before.
  void step(int direction);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showNotes();
  void showNode();
  void keep();
  void remove();

  Session& m_session;
  NoteModel* m_model;
  DataTable* m_table;
  QLineEdit* m_edit;
  QPushButton* m_mark;
  QPushButton* m_remove;
};

}  // namespace kerf::ui::inline panels
