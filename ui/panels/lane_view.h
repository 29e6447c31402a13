// LaneView: things in lanes with what is to be said of the current row beside them: ranks, or two runs. A headline with
// what is most worth knowing, and a button that goes there; a hint where there is nothing to tell.
#pragma once

#include <vector>

#include <QWidget>

#include "ui/graph_view/elided_label.h"

class QHBoxLayout;
class QPushButton;
class QSplitter;
class QTextBrowser;
class QTreeWidget;

namespace kerf::ui::inline panels {

class LaneView : public QWidget {
  Q_OBJECT

 public:
  /// Names of the lanes and of the detail, for tests, style and screen readers.
  struct Names {
    const char *lanes, *detail, *go;
    QString lanesTitle, detailTitle, goTip;
  };
  LaneView(const Names& names, QWidget* parent);
  QTreeWidget& lanes() { return *m_lanes; }
  QString headline() const;
  /// Why there are no lanes.
  QString hint() const;
  /// What is said of the current row.
  QString detail() const;

 protected:
  /// In front of the headline.
  QHBoxLayout& bar() { return *m_bar; }
  QTextBrowser& detailView() { return *m_detail; }
  QPushButton& goButton() { return *m_go; }
  void setHeadline(const QString& said);
  /// Shows the lanes.
  void showLanes();
  /// Columns as wide as what they hold; the lanes, from column `first` on, give way until all are in view. Again when the
  /// view gets another size, until the user gives a column a width.
  void fitLanes(int first);
  void resizeEvent(QResizeEvent* event) override;
  /// Shows why there are none.
  void showHint(const QString& hint);
  /// Place of the current row; -1: none.
  int currentRow() const;

 private:
  void shareRoom();

  QHBoxLayout* m_bar;
  ElidedLabel* m_headline;
  QLabel* m_hint;
  QPushButton* m_go;
  QTreeWidget* m_lanes;
  QTextBrowser* m_detail;
  QSplitter* m_content;
  int m_firstLane = 0;
  std::vector<int> m_needed;  ///< widths of columns by what they hold
  bool m_fitting = false, m_chosenWidths = false;
};

}  // namespace kerf::ui::inline panels
