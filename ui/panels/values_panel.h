// ValuesPanel: the selected node's value on one side, or the difference of two: figures, heat map, histogram, cells.
#pragma once

#include <QHash>
#include <QTimer>
#include <QWidget>

#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QTableWidget;
class QToolButton;

namespace kerf::ui::inline panels {

class HeatMap;
class HistogramChart;

class ValuesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ValuesPanel(Session& session, QWidget* parent = nullptr);
  QComboBox& side() { return *m_side; }
  QComboBox& minus() { return *m_minus; }
  QLineEdit& slice() { return *m_slice; }
  QTableWidget& cells() { return *m_cells; }
  HeatMap& heatMap() { return *m_map; }
  QString figures() const;
  QString status() const;
  /// Computes the selected node's value.
  void ask();
  /// Computes it and writes it to `path` (.npy, .safetensors).
  void saveTo(const QString& path);
  /// File of recorded values for the shown capture; empty: one beside it, if there is any.
  void setExpected(const QString& path);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void buildBar();
  void buildContent();
  void ask(workbench::NodeValueRequest request);
  workbench::NodeValueRequest request() const;
  bool shownIsSelected() const;
  void moveTo(qint64 row, qint64 column);
  void findOdd();
  void goToOdd();
  void follow();
  void chooseFile();
  void chooseExpected();
  void showExpected();
  bool isRecorded() const;
  QString expected() const;
  void showValue();
  void showCells(const ValueDoc& value);
  QString stateText() const;

  Session& m_session;
  QPushButton* m_run;
  QComboBox* m_side;
  QComboBox* m_minus;
  QLineEdit* m_slice;
  QPushButton* m_next;
  QPushButton* m_save;
  QToolButton* m_expected;
  QHash<int, QString> m_expectedFiles;  ///< by capture
  QLabel* m_status;
  QLabel* m_hint;
  QSplitter* m_content;
  HeatMap* m_map;
  HistogramChart* m_histogram;
  QLabel* m_figures;
  QTableWidget* m_cells;
  QTimer m_follow;         ///< runs from going to a node until its value is asked for
  bool m_goToOdd = false;  ///< the answer under way says where the next NaN or infinity is
};

}  // namespace kerf::ui::inline panels
