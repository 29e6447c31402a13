// OverviewPanel: the compilations of a trace: where each began in the program, how it went, and why it broke, restarted,
// was compiled again or failed. The first view of every trace.
#pragma once

#include <QWidget>

#include "ui/models/overview_rows.h"
#include "ui/session/session.h"

class QLabel;
class QSplitter;
class QTextBrowser;
class QTreeWidget;
class QTreeWidgetItem;
class QUrl;

namespace kerf::ui::inline panels {

class OverviewPanel : public QWidget {
  Q_OBJECT

 public:
  explicit OverviewPanel(Session& session, QWidget* parent = nullptr);
  QTreeWidget& tree() { return *m_tree; }
  /// What stands at the right, as plain text.
  QString detail() const;
  QString totals() const;
  const std::vector<OverviewRow>& rows() const { return m_rows; }
  /// Selects the row of a compile id.
  void showCompile(int compile);

 signals:
  /// A graph is to be seen.
  void graphPicked(int graph);
  void recordPicked(int record);

 private:
  void showCapture();
  void fillTree();
  void showDetail();
  void open(const QTreeWidgetItem* item);
  void follow(const QUrl& link);
  int currentRow() const;
  QString answerHtml() const;
  QString compileHtml(int compile) const;
  QString frameHtml(const OverviewRow& row) const;
  QString tableHtml(const char* name, int compile) const;

  Session& m_session;
  CaptureDocPtr m_capture;
  TraceLogPtr m_log;
  std::vector<OverviewRow> m_rows;
  QLabel *m_title, *m_totals;
  QTreeWidget* m_tree;
  QTextBrowser* m_detail;
  QSplitter* m_content;
};

}  // namespace kerf::ui::inline panels
