// The table of recorded output code: its calls, line by line.
#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {

using workbench::CodeSpan;

std::unique_ptr<CodeSpanModel> makeCodeSpanModel() {
  const auto kernel = [](const CodeSpan& span, int role) {
    return role == Qt::DecorationRole ? dotIcon(theme().accent, span.nodes.size() > 1) : QVariant();
  };
  return std::make_unique<CodeSpanModel>(std::vector<Column<CodeSpan>>{
      {"Line", [](const CodeSpan& span) { return formatCount(span.last + 1); },
       [](const CodeSpan& span) { return QVariant(span.last); }, true},
      {"Kernel", [](const CodeSpan& span) { return text(span.kernel); }, {}, false, kernel},
      {"Nodes", [](const CodeSpan& span) { return texts(span.nodes).join(", "); }}});
}

}  // namespace kerf::ui::inline models
