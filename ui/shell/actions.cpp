#include "ui/shell/actions.h"

#include <QWidget>

#include "ui/shell/appearance.h"

namespace kerf::ui::inline shell {

Actions::Actions(QWidget& window) : QObject(&window), m_window(window) {}

void Actions::add(const std::vector<ActionSpec>& specs) {
  for (const auto& spec : specs) {
    auto* action = new QAction(spec.text, &m_window);
    QList<QKeySequence> keys;
    for (const auto& key : spec.keys.split(' ', Qt::SkipEmptyParts)) keys << QKeySequence(key);
    action->setShortcuts(keys);
    action->setObjectName(spec.id);
    action->setCheckable(spec.checkable);
    action->setData(spec.icon);
    auto tip = spec.tip.isEmpty() ? QString(spec.text).remove('&').remove("…") : spec.tip;
    if (!keys.isEmpty()) tip += "  (" + keys.first().toString(QKeySequence::NativeText) + ")";
    action->setToolTip(tip);
    connect(action, &QAction::triggered, &m_window, [run = spec.run] { run(); });
    m_window.addAction(action);
    m_actions[spec.id] = action;
    m_order.push_back(action);
  }
}

void Actions::refreshIcons() {
  for (auto* action : m_order)
    if (const auto name = action->data().toString(); !name.isEmpty()) action->setIcon(themedIcon(name));
}

}  // namespace kerf::ui::inline shell
