// Texts of the workbench as Qt has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <QString>
#include <QStringList>

namespace kerf::ui::inline session {

/// Text that came from a file, as it is shown: what would turn the direction of writing or hide itself is spelled out.
/// For showing only: what names something (a path, a node) is QString::fromStdString() of it.
QString text(std::string_view value);

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
