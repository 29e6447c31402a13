// Actions: every command of the window in one table: text, icon, keys, what it does.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include <QAction>
#include <QObject>

class QWidget;

namespace kerf::ui::inline shell {

struct ActionSpec {
  QString id, text, icon, keys;  ///< keys: several separated by spaces, "Ctrl+O"
  QString tip;
  std::function<void()> run;
  bool checkable = false;
};

class Actions : public QObject {
  Q_OBJECT

 public:
  explicit Actions(QWidget& window);
  void add(const std::vector<ActionSpec>& specs);
  QAction* operator[](const QString& id) const { return m_actions.at(id); }
  /// In the order in which they were added.
  const std::vector<QAction*>& all() const { return m_order; }
  /// Draws the icons in the colours of the current theme.
  void refreshIcons();

 private:
  QWidget& m_window;
  std::map<QString, QAction*> m_actions;
  std::vector<QAction*> m_order;
};

}  // namespace kerf::ui::inline shell
