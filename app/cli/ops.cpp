// kerf ops [PATTERN]: the op table, and which columns each overload has.
#include <algorithm>
#include <map>

#include "app/cli/commands.h"
#include "app/cli/text_table.h"
#include "engine/ops/core/op_columns.h"

namespace kerf::cli {

namespace {

struct OpsOptions {
  std::string pattern;
  std::string missing;
};

/// Whether `text` is like `pattern`, in which `*` stands for anything; a pattern without one may be found anywhere.
bool isLike(std::string_view text, std::string_view pattern) {
  if (pattern.find('*') == std::string_view::npos) return text.find(pattern) != std::string_view::npos;
  std::size_t at = 0, star = std::string_view::npos, mark = 0, p = 0;
  while (at < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = at;
    } else if (p < pattern.size() && pattern[p] == text[at]) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<const OpColumn*> columnNamed(const std::string& name) {
  if (const OpColumn* column = findOpColumn(name)) return column;
  std::vector<std::string_view> names;
  for (const OpColumn& column : opColumns()) names.push_back(column.name);
  return fail(ErrorCode::BadUsage, "no column '{}'; there are {}", name, fmt::join(names, ", "));
}

Result<std::vector<const OpInfo*>> chosenOps(const OpsOptions& options) {
  const OpColumn* missing = nullptr;
  if (!options.missing.empty()) {
    KERF_TRY(missing, columnNamed(options.missing));
  }
  std::vector<const OpInfo*> chosen;
  for (const OpInfo& op : allOps()) {
    if (!options.pattern.empty() && !isLike(op.schema.qualifiedName(), options.pattern)) continue;
    if (missing == nullptr || missing->source(op) == ColumnSource::Missing) chosen.push_back(&op);
  }
  return chosen;
}

/// Per column: how many overloads have it from where.
std::map<std::string_view, std::map<std::string_view, std::int64_t>> countsOf(const std::vector<const OpInfo*>& ops) {
  std::map<std::string_view, std::map<std::string_view, std::int64_t>> counts;
  for (const OpColumn& column : opColumns()) {
    auto& of = counts[column.name];
    for (const auto source : opColumnSources()) of[columnSourceName(source)] = 0;
    for (const OpInfo* op : ops) ++of[columnSourceName(column.source(*op))];
  }
  return counts;
}

Json jsonOf(const OpInfo& op) {
  Json columns;
  for (const OpColumn& column : opColumns()) {
    const ColumnSource source = column.source(op);
    columns[column.name] = source == ColumnSource::Missing ? Json() : Json(columnSourceName(source));
  }
  return {{"op", op.schema.qualifiedName()}, {"schema", op.schema.text}, {"columns", std::move(columns)}};
}

void printOpsJson(const std::vector<const OpInfo*>& ops) {
  Json rows = Json::array(), counts;
  for (const OpInfo* op : ops) rows.push_back(jsonOf(*op));
  for (const auto& [column, sources] : countsOf(ops))
    for (const auto& [source, count] : sources)
      counts[column][source == columnSourceName(ColumnSource::Missing) ? "missing" : source] = count;
  printJson({{"overloads", ops.size()}, {"counts", std::move(counts)}, {"ops", std::move(rows)}});
}

void printOpsTable(const std::vector<const OpInfo*>& ops) {
  std::vector<std::string> headings{"op"}, totals{counted(std::int64_t(ops.size()), "overload")};
  const auto counts = countsOf(ops);
  for (const OpColumn& column : opColumns()) {
    headings.emplace_back(column.name);
    totals.push_back(std::to_string(std::int64_t(ops.size()) - counts.at(column.name).at("-")));
  }
  TextTable table(headings);
  for (const OpInfo* op : ops) {
    std::vector<std::string> row{op->schema.qualifiedName()};
    for (const OpColumn& column : opColumns()) row.emplace_back(columnSourceName(column.source(*op)));
    table.add(std::move(row));
  }
  table.add(std::move(totals));
  fmt::print("{}", table.text());
}

Result<int> listOps(Context& context, const OpsOptions& options) {
  KERF_TRY(const auto ops, chosenOps(options));
  if (context.json) {
    printOpsJson(ops);
  } else {
    printOpsTable(ops);
  }
  return 0;
}

}  // namespace

void addOps(CommandLine& line) {
  auto& command = line.add("ops", "List the overloads that Kerf knows, and what it knows of each",
                           "  kerf ops softmax\n"
                           "  kerf ops 'aten.add*' --json\n"
                           "  kerf ops --missing lowering");
  auto options = std::make_shared<OpsOptions>();
  command.add_option("PATTERN", options->pattern, "Part of an overload's name, or a pattern with *");
  std::string columns = "Only overloads without this column:";
  for (const OpColumn& column : opColumns()) columns += fmt::format(" {} ({}),", column.name, column.description);
  columns.pop_back();
  command.add_option("--missing", options->missing, columns)->type_name("COLUMN");
  line.onRun(command, [options](Context& context) { return listOps(context, *options); });
}

}  // namespace kerf::cli
