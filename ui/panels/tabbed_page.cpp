#include "ui/panels/tabbed_page.h"

#include <algorithm>

#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

TabbedPage::TabbedPage(const QString& name, const std::vector<std::pair<QString, QWidget*>>& views, QWidget* parent)
    : QWidget(parent), m_tabs(new QTabBar) {
  m_tabs->setObjectName("inner");
  m_tabs->setAccessibleName(name);
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  auto* pages = new QStackedWidget;
  for (const auto& [title, view] : views) {
    m_tabs->addTab(title);
    pages->addWidget(view);
    m_views.push_back(view);
  }
  connect(m_tabs, &QTabBar::currentChanged, pages, &QStackedWidget::setCurrentIndex);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_tabs);
  column->addWidget(pages, 1);
}

void TabbedPage::showView(const QWidget* view) {
  const auto found = std::ranges::find(m_views, view);
  if (found != m_views.end()) m_tabs->setCurrentIndex(int(found - m_views.begin()));
}

}  // namespace kerf::ui::inline panels
