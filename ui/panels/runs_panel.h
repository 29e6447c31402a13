// RunsPanel: two captures beside each other: compile ids with their stages in lanes, and where they part.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSplitter;
class QTextBrowser;
class QTreeWidget;

namespace kerf::ui::inline panels {

class RunsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunsPanel(Session& session, QWidget* parent = nullptr);
  /// Compares the chosen captures; those that were opened last, where none was chosen.
  void compare();
  void choose(int before, int after);
  QTreeWidget& lanes() { return *m_lanes; }
  QString headline() const;
  QString detail() const;

 signals:
  /// A graph of the later run is shown against that of the earlier one.
  void stagePicked();

 private:
  void buildBar();
  void fillCaptures();
  void showRuns();
  void fillLanes(const RunsDoc& runs);
  void showCompile();
  void goToFirst();
  void goTo(int compile, int stage);
  int currentCompile() const;

  Session& m_session;
  QComboBox *m_before, *m_after;
  QPushButton *m_compare, *m_go;
  QLabel *m_headline, *m_hint;
  QTreeWidget* m_lanes;
  QTextBrowser* m_detail;
  QSplitter* m_content;
  bool m_chosen = false;  ///< the user chose the captures; else they are those that were opened last
  RunsDocPtr m_shown;
  QStringList m_stages;  ///< of all compile ids, in the order of compilation
};

}  // namespace kerf::ui::inline panels
