// Texts of the workbench as Qt has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <QString>
#include <QStringList>

namespace kerf::ui::inline session {

inline QString text(std::string_view value) { return QString::fromUtf8(value.data(), qsizetype(value.size())); }

inline QStringList texts(const std::vector<std::string>& values) {
  QStringList list;
  for (const auto& value : values) list << text(value);
  return list;
}

inline std::vector<std::string> plainTexts(const QStringList& values) {
  std::vector<std::string> list;
  for (const auto& value : values) list.push_back(value.toStdString());
  return list;
}

}  // namespace kerf::ui::inline session
