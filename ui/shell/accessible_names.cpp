#include "ui/shell/accessible_names.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLineEdit>
#include <QTabBar>
#include <QWidget>

namespace kerf::ui::inline shell {
namespace {

bool hasName(QWidget& widget) {
  const auto* spoken = QAccessible::queryAccessibleInterface(&widget);
  return spoken != nullptr && !spoken->text(QAccessible::Name).trimmed().isEmpty();
}

QString dockTitle(const QWidget& widget) {
  for (const auto* around = widget.parentWidget(); around != nullptr; around = around->parentWidget())
    if (const auto* dock = qobject_cast<const QDockWidget*>(around)) return dock->windowTitle();
  return {};
}

QString nameFor(const QWidget& widget) {
  if (const auto* edit = qobject_cast<const QLineEdit*>(&widget); edit && !edit->placeholderText().isEmpty())
    return edit->placeholderText();
  if (qobject_cast<const QTabBar*>(&widget)) return QCoreApplication::translate("AccessibleNames", "Panels");
  if (!widget.toolTip().isEmpty()) return widget.toolTip();
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) return button->text();
  return dockTitle(widget);
}

/// Line edits and lists that belong to a box speak through it; null for other widgets.
const QWidget* boxAround(const QWidget& widget) {
  for (const auto* around = widget.parentWidget(); around != nullptr; around = around->parentWidget())
    if (qobject_cast<const QAbstractSpinBox*>(around) || qobject_cast<const QComboBox*>(around)) return around;
  return nullptr;
}

}  // namespace

void nameWidgets(QWidget& root) {
  for (auto* widget : root.findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || !widget->accessibleName().isEmpty()) continue;
    const bool box = qobject_cast<QComboBox*>(widget) || qobject_cast<QAbstractSpinBox*>(widget);
    if (!box && hasName(*widget)) continue;  // a box would only speak what is chosen in it
    const auto* around = boxAround(*widget);
    const auto name = around ? around->accessibleName() : nameFor(*widget);
    if (!name.isEmpty()) widget->setAccessibleName(name);
  }
}

}  // namespace kerf::ui::inline shell
