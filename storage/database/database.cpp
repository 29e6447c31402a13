#include "storage/database/database.h"

#include <limits>
#include <map>
#include <thread>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

namespace kerf::inline storage::inline database {

namespace {

constexpr int busyTimeoutMs = 30'000;

const SQLite::Statement& statementOf(const void* statement) {
  return *static_cast<const SQLite::Statement*>(statement);
}

ErrorCode codeOf(int sqliteCode) {
  switch (sqliteCode & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return ErrorCode::BadInput;
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return ErrorCode::Internal;
    case SQLITE_TOOBIG:
      return ErrorCode::TooLarge;
    default:
      return ErrorCode::Environment;
  }
}

std::string hintFor(int sqliteCode) {
  switch (sqliteCode & 0xff) {
    case SQLITE_BUSY:
      return "; another process has kept the store busy for too long";
    case SQLITE_NOTADB:
      return "; this is no Kerf store, choose another file with --store";
    case SQLITE_CORRUPT:
      return "; the store is damaged, choose another file with --store";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
      return "; check the folder's permissions or choose another file with --store";
    default:
      return "";
  }
}

std::unexpected<Error> convert(const SQLite::Exception& exception, const std::filesystem::path& path) {
  const int code = exception.getErrorCode();
  Error error{codeOf(code), fmt::format("store: {}{}", exception.what(), hintFor(code)), {}, 0, {}, {}};
  error.atFile(path.string());
  return fail(std::move(error));
}

void bind(SQLite::Statement& statement, int index, const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    statement.bind(index, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    statement.bind(index, *real);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    statement.bind(index, std::string(*text));
  } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&value)) {
    // A zero-length blob must not become NULL, so it never gets a null pointer.
    statement.bindNoCopy(index, bytes->empty() ? static_cast<const void*>("") : bytes->data(), int(bytes->size()));
  } else {
    statement.bind(index);
  }
}

/// Leaves a kept statement ready for its next use whatever happens while it runs.
class ResetOnExit {
 public:
  explicit ResetOnExit(SQLite::Statement& statement) : m_statement(statement) {}
  ~ResetOnExit() {
    m_statement.tryReset();
    try {
      m_statement.clearBindings();
    } catch (const SQLite::Exception&) {  // clearing bindings of a live statement cannot fail
    }
  }
  ResetOnExit(const ResetOnExit&) = delete;
  ResetOnExit& operator=(const ResetOnExit&) = delete;

 private:
  SQLite::Statement& m_statement;
};

}  // namespace

bool SqlRow::isNull(int column) const { return statementOf(m_statement).isColumnNull(column); }

std::int64_t SqlRow::integer(int column) const {
  return const_cast<SQLite::Statement&>(statementOf(m_statement)).getColumn(column).getInt64();
}

double SqlRow::real(int column) const {
  if (isNull(column)) return std::numeric_limits<double>::quiet_NaN();
  return const_cast<SQLite::Statement&>(statementOf(m_statement)).getColumn(column).getDouble();
}

std::string SqlRow::text(int column) const {
  return const_cast<SQLite::Statement&>(statementOf(m_statement)).getColumn(column).getString();
}

std::span<const std::byte> SqlRow::bytes(int column) const {
  const auto cell = const_cast<SQLite::Statement&>(statementOf(m_statement)).getColumn(column);
  return {static_cast<const std::byte*>(cell.getBlob()), std::size_t(cell.getBytes())};
}

struct Database::Impl {
  std::filesystem::path path;
  SQLite::Database handle;
  std::map<std::string, std::unique_ptr<SQLite::Statement>, std::less<>> statements;
  bool inTransaction = false;

  explicit Impl(const std::filesystem::path& file)
      : path(file), handle(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, busyTimeoutMs) {}

  SQLite::Statement& prepared(std::string_view sql) {
    auto found = statements.find(sql);
    if (found == statements.end())
      found = statements.emplace(sql, std::make_unique<SQLite::Statement>(handle, std::string(sql))).first;
    return *found->second;
  }
};

Database::Database(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(ErrorCode::Environment, "cannot create the folder of the store {}: {}", path.string(), error.message());
  try {
    auto impl = std::make_unique<Impl>(path);
    impl->handle.exec("PRAGMA foreign_keys = ON");
    impl->handle.exec("PRAGMA synchronous = NORMAL");
    return Database(std::move(impl));
  } catch (const SQLite::Exception& exception) {
    return convert(exception, path);
  }
}

const std::filesystem::path& Database::path() const { return m_impl->path; }

Result<void> Database::execute(std::string_view sql, const SqlValues& values) {
  return query(sql, values, [](const SqlRow&) {});
}

Result<void> Database::executeScript(std::string_view sql) {
  try {
    m_impl->handle.exec(std::string(sql));
    return {};
  } catch (const SQLite::Exception& exception) {
    return convert(exception, m_impl->path);
  }
}

Result<void> Database::query(std::string_view sql, const SqlValues& values,
                             const std::function<void(const SqlRow&)>& visit) {
  try {
    auto& statement = m_impl->prepared(sql);
    const ResetOnExit reset(statement);
    int index = 0;
    for (const auto& value : values) bind(statement, ++index, value);
    while (statement.executeStep()) visit(SqlRow(&statement));
    return {};
  } catch (const SQLite::Exception& exception) {
    return convert(exception, m_impl->path);
  }
}

Result<std::optional<std::int64_t>> Database::queryInteger(std::string_view sql, const SqlValues& values) {
  std::optional<std::int64_t> first;
  KERF_CHECK(query(sql, values, [&](const SqlRow& row) {
    if (!first) first = row.integer(0);
  }));
  return first;
}

std::int64_t Database::lastInsertId() const { return m_impl->handle.getLastInsertRowid(); }

int Database::changes() const { return m_impl->handle.getChanges(); }

Result<void> Database::transaction(const std::function<Result<void>()>& body) {
  if (m_impl->inTransaction) return body();
  KERF_CHECK(execute("BEGIN IMMEDIATE"));
  m_impl->inTransaction = true;
  auto outcome = body();
  if (outcome) outcome = execute("COMMIT");
  if (!outcome) (void)execute("ROLLBACK");  // the first error is the one to report
  m_impl->inTransaction = false;
  return outcome;
}

}  // namespace kerf::inline storage::inline database
