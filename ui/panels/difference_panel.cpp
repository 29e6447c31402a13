#include "ui/panels/difference_panel.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

DifferencePanel::DifferencePanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_left(new QLabel),
      m_right(new QLabel),
      m_only(new QCheckBox(tr("Only changes"))),
      m_view(new DifferenceView) {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 4, 10, 4);
  bar->setSpacing(8);
  m_only->setObjectName("onlyChanges");
  m_only->setChecked(true);
  for (auto* label : {m_left, m_right}) {
    label->setObjectName("quiet");
    label->setMinimumWidth(1);
  }
  bar->addWidget(m_left, 1);
  bar->addWidget(m_right, 1);
  for (const int step : {-1, 1}) {
    auto* button = new QToolButton;
    button->setText(step < 0 ? "↑" : "↓");
    button->setObjectName(step < 0 ? "previousChange" : "nextChange");
    button->setAccessibleName(step < 0 ? tr("Previous change") : tr("Next change"));
    button->setToolTip(step < 0 ? tr("Previous change (Ctrl+Up in the text)")
                                : tr("Next change (Ctrl+Down in the text)"));
    connect(button, &QToolButton::clicked, m_view, [this, step] { m_view->goToChange(step); });
    bar->addWidget(button);
  }
  bar->addWidget(m_only);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_view, 1);
  connect(m_only, &QCheckBox::toggled, m_view, &DifferenceView::setOnlyChanges);
  connect(&session, &Session::differenceChanged, this, &DifferencePanel::showDifference);
  connect(&session, &Session::graphChanged, this, &DifferencePanel::showDifference);
  connect(&session, &Session::nodeChanged, this, [this] {
    const auto* node = m_session.nodeDoc();
    if (node) m_view->setCurrent(text(node->name), false);
  });
  connect(m_view, &DifferenceView::nodePicked, this, [this](const QString& name, bool left) {
    if (!left) m_session.selectNode(name);
  });
  showDifference();
}

void DifferencePanel::showDifference() {
  const auto difference = m_session.difference();
  const bool told = difference && difference->error.isEmpty();
  m_left->setText(difference ? difference->title : QString());
  m_right->setText(difference && m_session.graph() ? text(m_session.graph()->title) : QString());
  if (!difference)
    m_view->setHint(
        tr("Both graphs appear here when one is compared with another: with the stage before it, or with one "
           "that you choose."));
  else if (!told)
    m_view->setHint(difference->error);
  else
    m_view->setHint(tr("The same as %1").arg(difference->title));
  m_view->setDifference(told ? difference : nullptr);
  if (const auto* node = m_session.nodeDoc()) m_view->setCurrent(text(node->name), false);
}

}  // namespace kerf::ui::inline panels
