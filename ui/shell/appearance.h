// Appearance: applies the light or the dark look to the whole program, and icons in its colours.
#pragma once

#include <QIcon>
#include <QString>

namespace kerf::ui::inline shell {

/// "light", "dark", or "system": as the desktop has it.
void applyAppearance(const QString& mode);
/// An icon of resources/icons in the current text colour.
QIcon themedIcon(const QString& name);
/// The program's own picture.
QIcon programIcon();

}  // namespace kerf::ui::inline shell
