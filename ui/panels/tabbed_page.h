// TabbedPage: views of one thing, one of them shown at a time.
#pragma once

#include <utility>
#include <vector>

#include <QString>
#include <QWidget>

class QTabBar;

namespace kerf::ui::inline panels {

class TabbedPage : public QWidget {
  Q_OBJECT

 public:
  /// Takes the views as its own; `name` is what a screen reader calls the tabs.
  TabbedPage(const QString& name, const std::vector<std::pair<QString, QWidget*>>& views, QWidget* parent = nullptr);
  void showView(const QWidget* view);
  QTabBar& tabs() { return *m_tabs; }

 private:
  std::vector<const QWidget*> m_views;
  QTabBar* m_tabs;
};

}  // namespace kerf::ui::inline panels
