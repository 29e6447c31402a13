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
  QColor window, base, raised, canvas;
  QColor border;       ///< between areas, which are told apart without it
  QColor edge;         ///< around what is worked with, and of cards: 3:1 on all grounds
  QColor text, muted;  ///< 4.5:1 on all grounds, as accent, good, warn and bad
  QColor faint;        ///< marks, and what is disabled: 3:1
  QColor accent, onAccent, selection;
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
