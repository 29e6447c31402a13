// GraphPane: the middle of the window: a strip that says what is shown, and the graph below it, bound to the session.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/layout_service.h"
#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace kerf::ui::inline graph_view {

/// What the nodes of a large graph are grouped by.
enum class Grouping { Modules, Kernels, Nothing };

class GraphPane : public QWidget {
  Q_OBJECT

 public:
  explicit GraphPane(Session& session, QWidget* parent = nullptr);
  GraphWidget& view() { return *m_view; }
  LayoutService& layouts() { return m_layouts; }
  /// A layout is under way, or about to be.
  bool busy() const { return m_layouts.busy() || m_resized.isActive(); }
  /// Marks nodes whose name, op or target contains `text` (or whose kind is "kind:…"); the count is in hits().
  void search(const QString& text);
  void nextHit(int step);
  const std::vector<int>& hits() const { return m_hits; }
  int currentHit() const { return m_currentHit; }
  void setInlineParameters(bool on);
  /// Lets Graphviz place the cards of graphs that are small enough for it.
  void setGraphviz(bool on);
  /// Kernels are known once the graph has been compiled; until then nothing is grouped by them.
  void setGrouping(Grouping grouping);
  void openAll(bool open);
  void setColorMode(ColorMode mode);
  /// Where the values of symbolic sizes are written; hidden for graphs without symbols.
  QLineEdit& symbols() { return *m_symbols; }
  /// Which of AOTAutograd's stages is shown.
  QComboBox& stages() { return *m_stages; }

 signals:
  void searchChanged();

 private:
  void buildStrip();
  void buildStages();
  void relayout(bool again);
  void fitAgain();
  std::shared_ptr<const std::vector<std::string>> kernelsOfNodes() const;
  void toggleGroup(const std::string& path, bool open);
  void showNode();
  void showGraph();
  void showScene(ScenePtr scene);
  void updateTitle();
  void updateAdded();
  void showStage();
  void showSymbols();
  void readSymbols();
  void showAccuracy();
  void selectPath(int target);
  void setHits();

  Session& m_session;
  LayoutService m_layouts;
  QWidget* m_strip;
  GraphWidget* m_view;
  QLabel* m_title;
  QLabel* m_detail;
  QToolButton* m_cancel;
  QLineEdit* m_symbols;
  QComboBox* m_stages;
  QComboBox* m_colors;
  SceneOptions m_options;
  Grouping m_grouping = Grouping::Modules;
  GraphKey m_key;        ///< of the graph that the view shows
  bool m_again = false;  ///< the layout under way is of the graph that the view shows
  bool m_picked = false;  ///< the selection comes from the view itself
  QTimer m_slow;         ///< runs at the beginning of a layout: most are done before anything need be said
  QTimer m_resized;      ///< runs until the view keeps its size
  QString m_search;
  std::vector<int> m_hits;
  int m_currentHit = -1;
};

}  // namespace kerf::ui::inline graph_view
