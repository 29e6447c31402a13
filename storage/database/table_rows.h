// Rows of a table as structs: a struct lists its columns once, and is read and inserted by that list.
//   template <>
//   inline constexpr auto columnsOf<NoteRow> = tableColumns("notes", column("node", &NoteRow::node), …);
//   selectRows<NoteRow>(database, "WHERE graph_hash = ?", {hash});  insertRow(database, note);
#pragma once

#include <concepts>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "storage/database/database.h"

namespace kerf::inline storage::inline database {

/// How a column may be used beside being read.
enum class ColumnUse {
  Both,
  Read,  ///< "id", and what SQL computes: not inserted
};

/// One column: its name (or SQL expression) and the field that it holds, a member pointer or a function that gives a
/// reference to a part of the row.
template <class Field>
struct TableColumn {
  const char* name;
  Field field;
  ColumnUse use;
};
template <class... Fields>
struct TableColumns {
  const char* table;
  std::tuple<TableColumn<Fields>...> columns;
};

template <class Field>
constexpr auto column(const char* name, Field field) {
  return TableColumn<Field>{name, field, ColumnUse::Both};
}
template <class Field>
constexpr auto readOnly(const char* name, Field field) {
  return TableColumn<Field>{name, field, ColumnUse::Read};
}
template <class... Fields>
constexpr auto tableColumns(const char* table, TableColumn<Fields>... columns) {
  return TableColumns<Fields...>{table, {columns...}};
}

/// The columns of Row: a specialisation for each struct.
template <class Row>
inline constexpr auto columnsOf = std::tuple<>();

/// Calls visit(column) for each column of Row, in order.
template <class Row>
void eachColumn(auto&& visit) {
  std::apply([&](const auto&... columns) { (visit(columns), ...); }, columnsOf<Row>.columns);
}

/// A value of a row as SQLite takes it; texts are borrowed from it. NULL for an empty optional.
template <class Value>
SqlValue sqlValue(const Value& value) {
  if constexpr (requires { value.has_value(); })
    return value ? sqlValue(*value) : SqlValue();
  else if constexpr (std::integral<Value>)
    return SqlValue(std::int64_t{value});
  else if constexpr (std::floating_point<Value>)
    return SqlValue(double{value});
  else
    return SqlValue(std::string_view(value));
}

/// Reads one column. NULL is an empty optional, and an empty text.
template <class Value>
void readColumn(const SqlRow& row, int index, Value& value) {
  if constexpr (requires { value.emplace(); }) {
    if (!row.isNull(index)) readColumn(row, index, value.emplace());
  } else if constexpr (std::same_as<Value, bool>) {
    value = row.integer(index) != 0;
  } else if constexpr (std::integral<Value>) {
    value = Value(row.integer(index));
  } else if constexpr (std::floating_point<Value>) {
    value = row.real(index);
  } else if (!row.isNull(index)) {
    value = row.text(index);
  }
}

/// The struct of a row that selectOf<Row>() asked for.
template <class Row>
Row rowOf(const SqlRow& row) {
  Row result{};
  int index = 0;
  eachColumn<Row>([&](const auto& column) { readColumn(row, index++, std::invoke(column.field, result)); });
  return result;
}

/// "SELECT a, b FROM table" and what follows it.
template <class Row>
std::string selectOf(std::string_view rest) {
  std::string names;
  eachColumn<Row>([&](const auto& column) { names += (names.empty() ? "" : ", ") + std::string(column.name); });
  return fmt::format("SELECT {} FROM {} {}", names, columnsOf<Row>.table, rest);
}

template <class Row>
Result<std::vector<Row>> selectRows(Database& database, std::string_view rest, const SqlValues& values = {}) {
  return queryAll<Row>(database, selectOf<Row>(rest), values, rowOf<Row>);
}
/// The only row, or NotFound with `missing` as its message.
template <class Row>
Result<Row> selectRow(Database& database, std::string_view rest, const SqlValues& values, const std::string& missing) {
  return queryOne<Row>(database, selectOf<Row>(rest), values, rowOf<Row>, missing);
}

/// Columns that are in the table and not in the struct, with their values.
using MoreColumns = std::vector<std::pair<std::string_view, SqlValue>>;

/// Inserts what the columns of Row say that may be written, and `more`; `conflict` stands behind the values.
template <class Row>
Result<void> insertRow(Database& database, const Row& row, const MoreColumns& more = {},
                       std::string_view conflict = {}) {
  std::string names, marks;
  SqlValues values;
  const auto add = [&](std::string_view name, SqlValue value) {
    const std::string_view comma = values.empty() ? "" : ", ";
    names.append(comma).append(name);
    marks.append(comma).append("?");
    values.push_back(value);
  };
  eachColumn<Row>([&](const auto& column) {
    if (column.use == ColumnUse::Both) add(column.name, sqlValue(std::invoke(column.field, row)));
  });
  for (const auto& [name, value] : more) add(name, value);
  return database.execute(
      fmt::format("INSERT INTO {}({}) VALUES ({}) {}", columnsOf<Row>.table, names, marks, conflict), values);
}

}  // namespace kerf::inline storage::inline database
