// GraphPane: the middle of the window: a strip that says what is shown, and the graph below it, bound to the session.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/graph_view/change_marks.h"
#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/layout_service.h"
#include "ui/session/session.h"

class QComboBox;
class QHBoxLayout;
class QLineEdit;
class QToolButton;

namespace kerf::ui::inline graph_view {

class Breadcrumbs;
class ElidedLabel;

/// What the nodes of a large graph are grouped by.
enum class Grouping { Modules, Kernels, Nothing };

/// Blocks, zoom and place of a view that is shown again.
struct KeptView {
  std::set<std::string> open;  ///< paths of blocks
  double zoom = 1;
  QPointF center;
};

class GraphPane : public QWidget {
  Q_OBJECT

 public:
  explicit GraphPane(Session& session, QWidget* parent = nullptr);
  GraphWidget& view() { return *m_view; }
  LayoutService& layouts() { return m_layouts; }
  /// A layout is under way, or about to be.
  bool busy() const { return m_layouts.busy() || m_resized.isActive(); }
  /// Marks the nodes that a query describes ("op:relu users>1 fc"); they are in hits().
  void search(const QString& query);
  /// Selects the next hit, or the one before, and zooms to it.
  void nextHit(int step);
  void showHit(int hit);
  /// Why the query finds nothing, where it cannot be understood or answered.
  const QString& searchProblem() const { return m_searchProblem; }
  const std::vector<int>& hits() const { return m_hits; }
  /// Selects the ghost of a node that is gone, where it is drawn.
  void showGhost(const QString& name);
  /// Marks what forward saves for backward, by name with how many bytes, and what is computed again.
  void setCut(const QHash<QString, QString>& saved, const QStringList& recomputed);
  int currentHit() const { return m_currentHit; }
  void setInlineParameters(bool on);
  /// Lets Graphviz place the cards of graphs that are small enough for it.
  void setGraphviz(bool on);
  /// Kernels are known once the graph has been compiled; until then nothing is grouped by them.
  void setGrouping(Grouping grouping);
  void openAll(bool open);
  /// What was shown before the graph that was laid out does not come back.
  void cancelLayout();
  /// Outlines what is fused together: as PyTorch recorded it, else as Kerf compiles it.
  void setHulls(bool on);
  /// For the next graph that is shown.
  void keepView(KeptView view) { m_kept = std::move(view); }
  void setColorMode(ColorMode mode);
  /// Where the values of symbolic sizes are written; hidden for graphs without symbols.
  QLineEdit& symbols() { return *m_symbols; }
  /// Which of AOTAutograd's stages is shown.
  QComboBox& stages() { return *m_stages; }

 signals:
  /// A node that is gone was picked: its name in the graph that this one is compared with.
  void ghostPicked(const QString& name);
  void searchChanged();
  /// What makes results of the shown graph worth less is to be seen.
  void doubtPicked();
  /// Placements are to colour the graph, and are not known yet.
  void placementsAsked();

 private:
  void buildStrip();
  void buildStages();
  void relayout(bool again);
  void fitAgain();
  std::shared_ptr<const std::vector<std::string>> kernelsOfNodes() const;
  void toggleGroup(const std::string& path, bool open);
  void rememberBlocks(const QString& what);
  void showNode();
  void showGraph();
  void leaveGraph();
  void showScene(ScenePtr scene);
  void updateTitle();
  void readDifference();
  void showDifference();
  void markChanges();
  void showPins();
  void showDoubt();
  void showNotes();
  void showHulls();
  QString changesText(bool brief) const;
  void showNoGraph(const CaptureDocPtr& capture);
  bool pickGhost(int node);
  void showStage();
  void showSymbols();
  void readSymbols();
  void showAccuracy();
  void showSharding();
  void selectPath(int target);
  void setHits();
  void offerBodies(int node);
  void showPlaceInBodies();

  Session& m_session;
  LayoutService m_layouts;
  QWidget* m_strip;
  GraphWidget* m_view;
  ElidedLabel* m_title;
  Breadcrumbs* m_breadcrumbs;
  ElidedLabel* m_detail;
  QToolButton* m_cancel;
  QToolButton* m_doubt;
  QLineEdit* m_symbols;
  QComboBox* m_stages;
  QComboBox* m_colors;
  SceneOptions m_options;
  Grouping m_grouping = Grouping::Modules;
  bool m_hulls = false;
  GraphKey m_key;                ///< of the graph that the view shows
  RecordedStagesPtr m_recorded;  ///< of the graph that the view shows
  DifferenceDocPtr m_difference;
  ChangeMarks m_marks;
  bool m_again = false;   ///< the layout under way is of the graph that the view shows
  bool m_picked = false;  ///< the selection comes from the view itself
  QTimer m_slow;          ///< runs at the beginning of a layout: most are done before anything need be said
  QTimer m_resized;       ///< runs until the view keeps its size
  QString m_search, m_searchProblem;
  std::optional<KeptView> m_kept;
  int m_zoomTo = -1;   ///< node that is zoomed to once its card is there
  std::string m_body;  ///< nested graph that the view shows
  std::vector<int> m_hits;
  int m_currentHit = -1;
};

}  // namespace kerf::ui::inline graph_view
