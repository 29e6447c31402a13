// Preferences: what the window remembers between runs. With `remember` off nothing is read or written (screenshots,
// tests).
#pragma once

#include <memory>

#include <QByteArray>
#include <QSettings>
#include <QStringList>
#include <QVariant>

namespace kerf::ui::inline shell {

class Preferences {
 public:
  /// `file`: of the settings; empty: the user's own.
  explicit Preferences(bool remember, const QString& file = {});
  QVariant value(const QString& key, const QVariant& otherwise = {}) const;
  void set(const QString& key, const QVariant& value);
  /// Where they are; empty: nowhere.
  QString file() const { return m_settings ? m_settings->fileName() : QString(); }
  /// Writes what was set to the file now.
  void sync();
  QStringList recent() const { return value("recent").toStringList(); }
  void addRecent(const QString& path);
  /// Takes out what cannot be opened.
  void removeRecent(const QString& path);

 private:
  std::unique_ptr<QSettings> m_settings;
};

}  // namespace kerf::ui::inline shell
