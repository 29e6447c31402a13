#include "ui/shell/appearance.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QStyle>
#include <QStyleFactory>
#include <QSvgRenderer>

#include "ui/models/theme.h"

// A static library's resources are registered only when this is called (outside any namespace).
static void registerResources() { Q_INIT_RESOURCE(kerf); }

namespace kerf::ui::inline shell {
namespace {

constexpr int iconSize = 20;

QPixmap render(const QByteArray& svg, int size) {
  QSvgRenderer renderer(svg);
  QPixmap pixmap(size, size);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  renderer.render(&painter);
  return pixmap;
}

QByteArray read(const QString& name) {
  QFile file(":/kerf/" + name + ".svg");
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool systemIsDark() {
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark;
}

}  // namespace

void applyAppearance(const QString& mode) {
  registerResources();
  const bool system = systemIsDark();
  setTheme(mode == "dark" || (mode == "system" && system));
  // Each of these visits every widget of every window: what is as it was is left alone.
  static const auto* const fusion = QApplication::setStyle("Fusion");
  Q_UNUSED(fusion);
  if (QApplication::font() != interfaceFont()) QApplication::setFont(interfaceFont());
  if (QApplication::palette() != theme().palette()) QApplication::setPalette(theme().palette());
  if (const auto sheet = theme().styleSheet(); sheet != qApp->styleSheet()) qApp->setStyleSheet(sheet);
}

QIcon themedIcon(const QString& name) {
  QIcon icon;
  const auto add = [&](const QColor& color, QIcon::Mode mode) {
    const auto svg = read(name).replace("currentColor", color.name().toLatin1());
    for (const int scale : {1, 2}) {
      auto pixmap = render(svg, iconSize * scale);
      pixmap.setDevicePixelRatio(scale);
      icon.addPixmap(pixmap, mode);
    }
  };
  add(theme().muted, QIcon::Normal);
  add(theme().accent, QIcon::Active);
  add(blend(theme().faint, theme().window, 0.5), QIcon::Disabled);
  return icon;
}

QIcon programIcon() { return QIcon(render(read("kerf"), 128)); }

}  // namespace kerf::ui::inline shell
