#include "ui/session/text.h"

#include <algorithm>

#include "engine/support/printable.h"

namespace kerf::ui::inline session {

namespace {

bool isHidden(QChar character) {
  const auto code = character.unicode();
  return code != u'\n' && code != u'\t' && code != u'\r' && isUnprintable(code);
}

}  // namespace

QString text(std::string_view value) {
  auto shown = QString::fromUtf8(value.data(), qsizetype(value.size()));
  if (std::ranges::none_of(shown, isHidden)) return shown;
  QString spelled;
  for (const QChar character : shown)
    spelled += isHidden(character) ? QString("\\u%1").arg(character.unicode(), 4, 16, QChar('0')) : QString(character);
  return spelled;
}

}  // namespace kerf::ui::inline session
