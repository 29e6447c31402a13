#include "ui/shell/preferences.h"

namespace kerf::ui::inline shell {
namespace {
constexpr int mostRecent = 10;
}

Preferences::Preferences(bool remember, const QString& file) {
  if (remember && file.isEmpty()) m_settings = std::make_unique<QSettings>("kerf", "studio");
  if (remember && !file.isEmpty()) m_settings = std::make_unique<QSettings>(file, QSettings::IniFormat);
}

QVariant Preferences::value(const QString& key, const QVariant& otherwise) const {
  return m_settings ? m_settings->value(key, otherwise) : otherwise;
}

void Preferences::set(const QString& key, const QVariant& value) {
  if (m_settings) m_settings->setValue(key, value);
}

void Preferences::sync() {
  if (m_settings) m_settings->sync();
}

void Preferences::removeRecent(const QString& path) {
  auto paths = recent();
  if (paths.removeAll(path) > 0) set("recent", paths);
}

void Preferences::addRecent(const QString& path) {
  auto paths = recent();
  paths.removeAll(path);
  paths.prepend(path);
  set("recent", QStringList(paths.mid(0, mostRecent)));
}

}  // namespace kerf::ui::inline shell
