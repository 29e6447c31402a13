// The table of two recordings of runs.
#include <array>

#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

using workbench::AlignedRow, workbench::AlignedStep;

constexpr std::size_t mostNamedSteps = 4;

QString alignedNames(const std::vector<AlignedStep>& steps) {
  QStringList names;
  for (std::size_t i = 0; i < std::min(steps.size(), mostNamedSteps); ++i) names << text(steps[i].name);
  if (steps.size() > mostNamedSteps) names << QString("and %1 more").arg(steps.size() - mostNamedSteps);
  return steps.empty() ? QString("–") : names.join(", ");
}

struct RoleWords {
  const char *role, *words;
};
constexpr std::array roleWords{RoleWords{"same", "same"},         RoleWords{"rounding", "rounding"},
                               RoleWords{"first", "first wrong"}, RoleWords{"new", "wrong anew"},
                               RoleWords{"follows", "follows"},   RoleWords{"unknown", "not compared"}};

QString alignedRoleText(const AlignedRow& row) {
  const auto found = std::ranges::find(roleWords, row.role, &RoleWords::role);
  return found == roleWords.end() ? text(row.role) : QString(found->words);
}

QVariant alignedRoleLook(const AlignedRow& row, int role) {
  const bool wrong = row.role == "first" || row.role == "new";
  const bool fine = row.role == "same" || row.role == "rounding";
  if (role == Qt::DecorationRole)
    return dotIcon(wrong ? theme().bad : fine ? theme().good : theme().faint, wrong || fine);
  return role == Qt::ForegroundRole && wrong ? QVariant(theme().bad) : QVariant();
}

}  // namespace

std::unique_ptr<AlignmentModel> makeAlignmentModel() {
  return std::make_unique<AlignmentModel>(std::vector<Column<AlignedRow>>{
      {"#", [](const AlignedRow& row) { return QString::number(row.pair); },
       [](const AlignedRow& row) { return QVariant(row.pair); }, true},
      {"First run", [](const AlignedRow& row) { return alignedNames(row.a); }},
      {"Second run", [](const AlignedRow& row) { return alignedNames(row.b); }},
      {"Verdict", alignedRoleText, {}, false, alignedRoleLook},
      {"Evidence", [](const AlignedRow& row) { return text(row.evidence); }},
      {"Inputs", [](const AlignedRow& row) { return text(row.inputs); }},
      {"Results", [](const AlignedRow& row) { return text(row.outputs); }},
      {"Relative error", [](const AlignedRow& row) { return row.relative < 0 ? QString() : formatError(row.relative); },
       [](const AlignedRow& row) { return QVariant(row.relative); }, true}});
}

}  // namespace kerf::ui::inline models
