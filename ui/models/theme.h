// Theme: the colours of the light and the dark look, by role, for models and views alike.
#pragma once

#include <array>

#include <QColor>
#include <QFont>
#include <QPalette>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

struct Theme {
  bool dark = false;
  QColor window, base, raised, canvas, border, text, muted, faint, accent, onAccent, selection;
  QColor good, warn, bad, badFill;
  std::array<QColor, nodeKinds> kinds;

  QPalette palette() const;
  QString styleSheet() const;
  const QColor& kind(NodeKind kind) const { return kinds[std::size_t(kind)]; }
  /// Green far below the limit, amber near it, red at and above it. `ratio` is error over accepted limit.
  QColor heat(double ratio) const;
};

const Theme& theme();
void setTheme(bool dark);

/// Fonts of the window and of code, from what the machine has.
QFont interfaceFont();
QFont codeFont();

/// `over` laid on `under` with the given opacity.
QColor blend(const QColor& over, const QColor& under, double opacity);

}  // namespace kerf::ui::inline models
