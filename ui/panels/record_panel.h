// RecordPanel: the text of one record of a trace or of one file of a debug folder.
#pragma once

#include <QWidget>

#include "ui/panels/code_view.h"
#include "ui/session/session.h"

class QLabel;

namespace kerf::ui::inline panels {

class RecordPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RecordPanel(Session& session, QWidget* parent = nullptr);
  CodeView& code() { return *m_code; }
  QString title() const;

 private:
  void showRecord();

  Session& m_session;
  QLabel* m_title;
  QLabel* m_detail;
  CodeView* m_code;
};

}  // namespace kerf::ui::inline panels
