// The tables of what passes and partitions do to a graph: differences between two graphs, saved values.
#include <algorithm>
#include <cstdlib>

#include <QStringList>

#include "ui/models/format.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

using Kind = ChangeRow::Kind;

struct Look {
  const char *mark, *said;
};
Look lookOf(Kind kind) {
  static constexpr Look looks[] = {{"+", "added"}, {"−", "removed"}, {"~", "rewritten"}, {"≠", "called otherwise"}};
  return looks[std::size_t(kind)];
}

QColor colorOf(Kind kind) {
  return kind == Kind::Added ? theme().good : kind == Kind::Removed ? theme().bad : theme().warn;
}

/// "var_mean, sub, mul (+6)"
QString opsText(const std::vector<std::string>& ops) {
  constexpr std::size_t most = 3;
  QStringList shown;
  for (std::size_t i = 0; i < std::min(most, ops.size()); ++i) shown << text(ops[i]);
  const auto more = ops.size() > most ? QString(" (+%1)").arg(ops.size() - most) : QString();
  return ops.empty() ? QStringLiteral("nothing") : shown.join(", ") + more;
}

QString signedCount(int count) { return (count > 0 ? "+" : count < 0 ? "−" : "") + formatCount(std::abs(count)); }

}  // namespace

std::unique_ptr<OpCountModel> makeOpCountModel() {
  const auto change = [](const OpCountDoc& row) { return row.after - row.before; };
  return std::make_unique<OpCountModel>(
      std::vector<Column<OpCountDoc>>{{"Op", [](const OpCountDoc& row) { return text(row.op); }},
                                      {"Before", [](const OpCountDoc& row) { return formatCount(row.before); },
                                       [](const OpCountDoc& row) { return QVariant(row.before); }, true},
                                      {"After", [](const OpCountDoc& row) { return formatCount(row.after); },
                                       [](const OpCountDoc& row) { return QVariant(row.after); }, true},
                                      {"Change", [change](const OpCountDoc& row) { return signedCount(change(row)); },
                                       [change](const OpCountDoc& row) { return QVariant(change(row)); }, true,
                                       [change](const OpCountDoc& row, int role) {
                                         if (role != Qt::ForegroundRole) return QVariant();
                                         return QVariant(change(row) > 0 ? theme().good : theme().bad);
                                       }}});
}

std::unique_ptr<ChangeModel> makeChangeModel() {
  return std::make_unique<ChangeModel>(std::vector<Column<ChangeRow>>{
      {"", [](const ChangeRow& row) { return QString::fromUtf8(lookOf(row.kind).mark); },
       [](const ChangeRow& row) { return QVariant(int(row.kind)); }, false,
       [](const ChangeRow& row, int role) {
         if (role == Qt::ForegroundRole) return QVariant(colorOf(row.kind));
         return role == Qt::ToolTipRole ? QVariant(QString(lookOf(row.kind).said)) : QVariant();
       }},
      {"Node",
       [](const ChangeRow& row) { return text(row.node.empty() ? row.gone : row.node); },
       {},
       false,
       [](const ChangeRow& row, int role) { return role == Qt::ToolTipRole ? QVariant(row.detail) : QVariant(); }},
      {"What", [](const ChangeRow& row) { return row.what; }}});
}

QString savedReason(const std::string& rule) {
  static const std::pair<std::string_view, const char*> reasons[] = {
      {"min_cut", "the cheapest cut runs here"},
      {"input", "an input of the step"},
      {"random", "random: computing it again would give other values"},
      {"allow_list", "its op is not among those that are computed again"},
      {"compute_intensive", "costly to compute again"},
      {"materialized", "must be in memory for its users anyway"},
      {"distance", "its users in backward are far away"},
      {"reduction", "small, of something large"},
      {"used_far_apart", "used at places far apart"},
      {"long_chain", "at the end of a long chain of what would be fused"},
      {"must_save", "the user said so"},
  };
  for (const auto& [name, said] : reasons)
    if (rule == name) return said;
  return text(rule);
}

std::unique_ptr<SavedModel> makeSavedModel() {
  using Saved = workbench::SavedValueDoc;
  return std::make_unique<SavedModel>(std::vector<Column<Saved>>{
      {"Saved value", [](const Saved& row) { return text(row.name); }},
      {"Type", [](const Saved& row) { return text(row.value); }},
      {"Bytes", [](const Saved& row) { return formatBytes(row.bytes); },
       [](const Saved& row) { return QVariant(qlonglong(row.bytes)); }, true},
      {"Why",
       [](const Saved& row) { return savedReason(row.rule); },
       {},
       false,
       [](const Saved& row, int role) { return role == Qt::ToolTipRole ? QVariant(text(row.rule)) : QVariant(); }}});
}

std::vector<ChangeRow> changeRows(const DifferenceDoc& difference) {
  std::vector<ChangeRow> rows;
  for (const auto& rewrite : difference.rewritten) {
    ChangeRow row{Kind::Rewritten, {}, {}, opsText(rewrite.opsBefore) + " → " + opsText(rewrite.opsAfter), {}};
    if (!rewrite.after.empty()) row.node = rewrite.after.front();
    if (!rewrite.before.empty()) row.gone = rewrite.before.front();
    row.detail = QString("%1, known by %2\n%3\n→\n%4")
                     .arg(text(rewrite.kind), text(rewrite.evidence), texts(rewrite.before).join(", "),
                          texts(rewrite.after).join(", "));
    rows.push_back(std::move(row));
  }
  for (const auto& name : difference.added) rows.push_back({Kind::Added, name, {}, "new", {}});
  for (const auto& change : difference.changed)
    rows.push_back({Kind::Changed, change.name, {}, text(change.after), text(change.before + "\n→\n" + change.after)});
  for (const auto& name : difference.removed) rows.push_back({Kind::Removed, {}, name, "gone", {}});
  return rows;
}

}  // namespace kerf::ui::inline models
