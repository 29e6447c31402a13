#include "ui/session/text.h"

#include "engine/support/printable.h"

namespace kerf::ui::inline session {

QString text(std::string_view value) { return QString::fromStdString(printableText(value)); }

}  // namespace kerf::ui::inline session
