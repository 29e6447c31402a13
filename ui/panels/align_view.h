// AlignView: two recordings of runs, step by step: which belong together and by what evidence, the first step with equal
// inputs and unequal results, and what was recorded of its values.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QTextBrowser;

namespace kerf::ui::inline panels {

class AlignView : public QWidget {
  Q_OBJECT

 public:
  explicit AlignView(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QLineEdit& first() { return *m_first; }
  QLineEdit& second() { return *m_second; }
  QPushButton& run() { return *m_run; }
  QPushButton& goToFirst() { return *m_go; }
  QCheckBox& onlyWrong() { return *m_onlyWrong; }
  QString headline() const;
  QString detail() const;
  QString hint() const;

 signals:
  /// The graph of a step is shown.
  void stepPicked();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build();
  QWidget* chooser(QLineEdit* edit, const QString& title);
  void choose(QLineEdit* edit);
  void proposeCaptures();
  void showAlignment();
  void applyFilter();
  void showRow(int row);
  void open(const workbench::AlignedRow* row);

  Session& m_session;
  AlignmentModel* m_model;
  DataTable* m_table;
  QLineEdit *m_first, *m_second;
  QPushButton *m_run, *m_go, *m_open;
  QCheckBox* m_onlyWrong;
  QLabel *m_headline, *m_hint;
  QTextBrowser* m_detail;
  QSplitter* m_content;
  AlignmentDocPtr m_shown;
};

}  // namespace kerf::ui::inline panels
