#include "ui/models/theme.h"

#include <algorithm>
#include <cmath>

#include <QFile>
#include <QFontDatabase>

namespace kerf::ui::inline models {
namespace {

const Theme lightTheme{
    false,
    "#f4f5f7",
    "#ffffff",
    "#fafbfc",
    "#fbfcfd",
    "#d9dee5",
    "#828c99",
    "#1d2530",
    "#566171",
    "#7b8694",
    "#1f5bcf",
    "#ffffff",
    "#dfe9fb",
    "#0b7566",
    "#a05f00",
    "#c4262f",
    "#fdecec",
    {"#0f8a94", "#8a7d5f", "#2e8b57", "#c2571a", "#7c8797", "#2563d9", "#7b4fd0", "#b8388a", "#4a5568", "#1d2530"}};

const Theme darkTheme{
    true,
    "#1a1d22",
    "#20242a",
    "#262b32",
    "#1d2025",
    "#363d47",
    "#737d89",
    "#e2e6ec",
    "#a3adba",
    "#7a8491",
    "#5c97f7",
    "#0e1420",
    "#2b3b57",
    "#45c4b0",
    "#e0a83a",
    "#f2686f",
    "#3d2428",
    {"#4fc3cc", "#c4b48a", "#5cc08a", "#f0925a", "#9aa5b3", "#6ea3ff", "#b08cf5", "#ec7bc0", "#aab4c2", "#e2e6ec"}};

bool g_dark = false;

QString firstInstalled(const QStringList& wanted) {
  const auto families = QFontDatabase::families();
  for (const auto& family : wanted)
    if (families.contains(family)) return family;
  return {};
}

}  // namespace

QColor blend(const QColor& over, const QColor& under, double opacity) {
  const auto mix = [&](int a, int b) { return int(std::lround(a * opacity + b * (1 - opacity))); };
  return QColor(mix(over.red(), under.red()), mix(over.green(), under.green()), mix(over.blue(), under.blue()));
}

QPalette Theme::palette() const {
  QPalette palette;
  palette.setColor(QPalette::Window, window);
  palette.setColor(QPalette::WindowText, text);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, raised);
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::Button, raised);
  palette.setColor(QPalette::ButtonText, text);
  palette.setColor(QPalette::BrightText, bad);
  palette.setColor(QPalette::ToolTipBase, raised);
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::PlaceholderText, muted);
  palette.setColor(QPalette::Highlight, selection);
  palette.setColor(QPalette::HighlightedText, text);
  palette.setColor(QPalette::Link, accent);
  palette.setColor(QPalette::Mid, border);
  palette.setColor(QPalette::Midlight, border);
  palette.setColor(QPalette::Dark, border);
  palette.setColor(QPalette::Light, raised);
  palette.setColor(QPalette::Shadow, border);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, faint);
  return palette;
}

QString Theme::styleSheet() const {
  QFile file(":/kerf/style.qss");
  if (!file.open(QIODevice::ReadOnly)) return {};
  auto sheet = QString::fromUtf8(file.readAll());
  const std::pair<const char*, QColor> names[] = {
      {"@window", window},   {"@base", base},
      {"@raised", raised},   {"@canvas", canvas},
      {"@border", border},   {"@text", text},
      {"@edge", edge},       {"@muted", muted},
      {"@faint", faint},     {"@selection", selection},
      {"@accent", accent},   {"@onAccent", onAccent},
      {"@badFill", badFill}, {"@bad", bad},
      {"@warn", warn},       {"@hover", blend(accent, window, dark ? 0.16 : 0.08)}};
  // Longer names first, so that "@bad" does not eat the start of "@badFill".
  std::vector<std::pair<QString, QString>> sorted;
  for (const auto& [name, color] : names) sorted.emplace_back(name, color.name());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [name, color] : sorted) sheet.replace(name, color);
  return sheet.replace("@mode", dark ? "dark" : "light");
}

QColor Theme::heat(double ratio) const {
  if (std::isnan(ratio) || ratio >= 1) return bad;
  if (ratio <= 1e-3) return good;
  const double t = (std::log10(ratio) + 3) / 3;  // 0.001 … 1 → 0 … 1
  return t < 0.5 ? good : blend(warn, good, (t - 0.5) * 2);
}

const Theme& theme() { return g_dark ? darkTheme : lightTheme; }
void setTheme(bool dark) { g_dark = dark; }

QFont interfaceFont() {
  static const auto family =
      firstInstalled({qEnvironmentVariable("KERF_FONT"), "Inter", "Segoe UI", "SF Pro Text", "Noto Sans", "Cantarell",
                      "Ubuntu", "Roboto", "Liberation Sans", "DejaVu Sans"});
  QFont font(family);
  font.setPixelSize(13);
  return font;
}

QFont codeFont() {
  static const auto family =
      firstInstalled({qEnvironmentVariable("KERF_CODE_FONT"), "JetBrains Mono", "Fira Code", "Cascadia Mono",
                      "Noto Sans Mono", "Source Code Pro", "Liberation Mono", "DejaVu Sans Mono"});
  QFont font(family);
  font.setStyleHint(QFont::Monospace);
  font.setPixelSize(12);
  return font;
}

}  // namespace kerf::ui::inline models
