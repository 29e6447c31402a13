// What holds colours of the theme as text or as brushes is made anew when the theme changes.
#pragma once

#include <functional>
#include <utility>

#include <QEvent>
#include <QTimer>
#include <QWidget>

#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {

class ThemeWatch : public QObject {
 public:
  ThemeWatch(QWidget& widget, std::function<void()> redo)
      : QObject(&widget), m_redo(std::move(redo)), m_dark(theme().dark) {
    widget.installEventFilter(this);
  }
  /// One change of the theme comes as several events, and is long as it is: what follows waits for the next turn.
  bool eventFilter(QObject* widget, QEvent* event) override {
    const bool coloured = event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange;
    if (coloured && std::exchange(m_dark, theme().dark) != theme().dark)
      QTimer::singleShot(0, this, [this] { m_redo(); });
    return QObject::eventFilter(widget, event);
  }

 private:
  std::function<void()> m_redo;
  bool m_dark;
};

/// Calls `redo` whenever the colours of `widget` have become those of another theme, as long as it lives.
inline void onThemeChange(QWidget& widget, std::function<void()> redo) { new ThemeWatch(widget, std::move(redo)); }

}  // namespace kerf::ui::inline graph_view
