// The op table, listed: which columns each overload has.
#include <algorithm>

#include "app/workbench/workbench.h"
#include "engine/ops/core/op_columns.h"

namespace kerf::workbench {

namespace {

/// Whether `text` is like `pattern`, in which `*` stands for anything; a pattern without one may be found anywhere.
bool isLike(std::string_view text, std::string_view pattern) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text.find(pattern) != std::string_view::npos;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  for (pattern.remove_prefix(star + 1); (star = pattern.find('*')) != std::string_view::npos;
       pattern.remove_prefix(star + 1)) {
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
  }
  return text.ends_with(pattern);
}

/// Null for an empty name.
Result<const OpColumn*> columnNamed(const std::string& name) {
  if (name.empty()) return nullptr;
  if (const OpColumn* column = findOpColumn(name)) return column;
  std::vector<std::string_view> names;
  for (const OpColumn& column : opColumns()) names.push_back(column.name);
  return fail(ErrorCode::BadUsage, "no column '{}'; there are {}", name, fmt::join(names, ", "));
}

OpEntry entryOf(const OpInfo& op) {
  OpEntry entry{op.schema.qualifiedName(), op.schema.text, {}};
  for (const OpColumn& column : opColumns()) entry.sources.emplace_back(columnSourceName(column.source(op)));
  return entry;
}

}  // namespace

Result<OpListing> perform(Workbench&, const OpsRequest& request, const Job&) {
  KERF_TRY(const OpColumn* missing, columnNamed(request.missing));
  OpListing listing;
  for (const OpColumn& column : opColumns())
    listing.columns.push_back({std::string(column.name), std::string(column.description)});
  for (const ColumnSource source : opColumnSources()) listing.sources.emplace_back(columnSourceName(source));
  for (const OpInfo& op : allOps()) {
    if (!request.pattern.empty() && !isLike(op.schema.qualifiedName(), request.pattern)) continue;
    if (missing == nullptr || missing->source(op) == ColumnSource::Missing) listing.ops.push_back(entryOf(op));
  }
  return listing;
}

}  // namespace kerf::workbench
