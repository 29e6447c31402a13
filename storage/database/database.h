// Database: one SQLite file behind Result; prepared statements are kept, every write runs in an immediate transaction.
// Not thread-safe: one Database per thread. Several processes may have the same file open (WAL, busy timeout).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline storage::inline database {

/// A bound parameter. Text and bytes are borrowed for the length of the call. NaN is stored as NULL and read as NaN.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string_view, std::span<const std::byte>>;
using SqlValues = std::vector<SqlValue>;

/// One row of a result while it is being visited.
class SqlRow {
 public:
  explicit SqlRow(const void* statement) : m_statement(statement) {}
  bool isNull(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;  ///< NULL reads as NaN
  std::string text(int column) const;
  std::span<const std::byte> bytes(int column) const;  ///< valid until the next row

 private:
  const void* m_statement;
};

class Database {
 public:
  /// Opens, or creates with its parent folders. Environment when the file or folder cannot be used; BadInput when it is
  /// no SQLite database. A file that may not be written, or lies in a folder that may not, is opened for reading; so is
  /// any with Access::Read. New files get page checksums (checked_pages.h).
  enum class Access { Write, Read, Untouched };  ///< Untouched: nothing is made beside the file, not even for locks
  static Result<Database> open(const std::filesystem::path& path, Access access = Access::Write);
  /// An empty database in memory.
  static Result<Database> openMemory();
  /// The content of a file in memory, under that file's path: for reading what would have to be changed first.
  static Result<Database> openCopy(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::filesystem::path& path() const;
  bool readOnly() const;  ///< whether writing fails with Environment
  /// Makes the tables of another file readable as `name.table`; not inside a transaction.
  Result<void> attach(const std::filesystem::path& path, std::string_view name);
  Result<void> detach(std::string_view name);
  bool checksPages() const;  ///< whether the file's pages end with checksums
  /// Asks now and then, during long statements, whether to go on; those that should not end with Cancelled. Empty: no
  /// more.
  void setWatch(std::function<bool()> goOn);
  Result<void> execute(std::string_view sql, const SqlValues& values = {});
  /// Several statements separated by semicolons, without parameters (migrations).
  Result<void> executeScript(std::string_view sql);
  Result<void> query(std::string_view sql, const SqlValues& values, const std::function<void(const SqlRow&)>& visit);
  /// First column of the first row, if there is a row.
  Result<std::optional<std::int64_t>> queryInteger(std::string_view sql, const SqlValues& values = {});
  std::int64_t lastInsertId() const;
  int changes() const;

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT; rolls back when it returns an error. Nested calls join the outer
  /// transaction.
  Result<void> transaction(const std::function<Result<void>()>& body);

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

/// All rows of a query, each made by `make(row)`.
template <class T, class Make>
Result<std::vector<T>> queryAll(Database& database, std::string_view sql, const SqlValues& values, Make make) {
  std::vector<T> rows;
  KERF_CHECK(database.query(sql, values, [&](const SqlRow& row) { rows.push_back(make(row)); }));
  return rows;
}

/// The only row of a query, or NotFound with `missing` as its message.
template <class T, class Make>
Result<T> queryOne(Database& database, std::string_view sql, const SqlValues& values, Make make,
                   const std::string& missing) {
  KERF_TRY(auto rows, (queryAll<T>(database, sql, values, make)));
  if (rows.empty()) return fail(ErrorCode::NotFound, "{}", missing);
  return std::move(rows.front());
}

}  // namespace kerf::inline storage::inline database
