// WorkPlaces: what the user is at (looking over a trace, reading a graph, comparing numbers, reducing), and the panels
// below the graph that belong to it. One of them is open at a time, or none; buttons in the status bar open and close it.
#pragma once

#include <functional>
#include <vector>

#include <QObject>
#include <QSet>
#include <QStringList>

class QAbstractButton;
class QButtonGroup;
class QDockWidget;
class QStackedWidget;
class QWidget;

namespace kerf::ui::inline shell {

enum class WorkPlace { Overview, Graph, Numbers, Reduce };
constexpr int workPlaces = 4;

class WorkPlaces : public QObject {
  Q_OBJECT

 public:
  struct Panel {
    QString name, title;
    QWidget* widget = nullptr;
    std::vector<WorkPlace> places;
    std::function<bool()> hasContent;  ///< null: it always has something to show
  };

  /// `dock` gets the panels.
  WorkPlaces(QDockWidget& dock, QObject* parent);
  void add(Panel panel);
  /// Of all panels, in the order in which they were added.
  QStringList names() const;
  QString title(const QString& name) const;
  /// Opens a panel, in the work place at hand if it belongs there; false where there is no such panel.
  bool raise(const QString& name);
  void go(WorkPlace place);
  WorkPlace place() const { return m_place; }
  /// Name of the panel that is open; empty: none.
  QString open() const;
  void close();
  /// Shows the buttons of panels that have something to show now.
  void refresh();
  /// The buttons of the panels, and those of the work places.
  QWidget* panelButtons() { return m_panelButtons; }
  QWidget* placeButtons() { return m_placeButtons; }
  QAbstractButton* buttonOf(const QString& name) const;
  /// Where nothing is open to work at.
  void setEnabled(bool enabled);

 signals:
  void placeChanged();

 private:
  int indexOf(const QString& name) const;
  bool belongs(int panel, WorkPlace place) const;
  void show(int panel);
  void press(int panel);
  void buildPlaces();

  QDockWidget& m_dock;
  QStackedWidget* m_stack;
  QWidget *m_panelButtons, *m_placeButtons;
  QButtonGroup* m_placeGroup;
  std::vector<Panel> m_panels;
  std::vector<QAbstractButton*> m_buttons;  ///< by panel
  QSet<int> m_asked;                        ///< panels that somebody opened although they had nothing to show
  WorkPlace m_place = WorkPlace::Graph;
  int m_current[workPlaces] = {-1, -1, -1, -1};  ///< by work place: the panel that is open there, or opens; -1: none
  bool m_open[workPlaces] = {false, false, true, true};
};

}  // namespace kerf::ui::inline shell
