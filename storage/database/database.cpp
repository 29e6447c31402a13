#include "storage/database/database.h"

#include <cctype>
#include <limits>
#include <map>
#include <thread>

#include <unistd.h>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include "storage/database/checked_pages.h"
#include "storage/database/open_files.h"
#include "storage/database/sqlite_error.h"

namespace kerf::inline storage::inline database {

namespace {

constexpr int busyTimeoutMs = 30'000;
constexpr int watchedSteps = 20'000;  // of SQLite's machine between two questions: about a millisecond

const SQLite::Statement& statementOf(const void* statement) {
  return *static_cast<const SQLite::Statement*>(statement);
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

bool mayBeWritten(const std::filesystem::path& path) {
  if (::access(path.c_str(), F_OK) != 0) return true;  // to be made, or an error that says why not
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return ::access(path.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
}

/// SQLite's name for a file that is only read. Where it could not be written anyway, and has no write-ahead log,
/// nothing but the file is looked at: nothing can be made beside it.
std::string readingName(const std::filesystem::path& path, bool untouched = false) {
  std::string name = "file:";
  for (const unsigned char c : path.string()) {
    const bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-';
    name += plain ? std::string(1, char(c)) : fmt::format("%{:02x}", c);
  }
  std::error_code missing;
  const auto logBytes = std::filesystem::file_size(path.string() + "-wal", missing);
  const bool alone = (untouched || !mayBeWritten(path)) && (missing || logBytes == 0);
  return name + (alone ? "?mode=ro&immutable=1" : "?mode=ro");
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
  std::shared_ptr<void> noted;  ///< closes behind the handle
  std::unique_ptr<SQLite::Database> opened;
  SQLite::Database& handle;
  bool readOnly = false;
  std::map<std::string, std::unique_ptr<SQLite::Statement>, std::less<>> statements;
  bool inTransaction = false;
  std::function<bool()> goOn;

  Impl(const std::filesystem::path& file, const std::string& name, int flags)
      : path(file),
        opened(openHandle(file, name, flags)),
        handle(*opened),
        readOnly((flags & SQLite::OPEN_READONLY) != 0) {
    noted = std::shared_ptr<void>(nullptr, [file](void*) { noteClosed(file); });
  }

  static std::unique_ptr<SQLite::Database> openHandle(const std::filesystem::path& file, const std::string& name,
                                                      int flags) {
    std::unique_ptr<SQLite::Database> handle;
    openNoted(file, [&] { handle = std::make_unique<SQLite::Database>(name, flags, busyTimeoutMs, checkedVfs()); });
    return handle;
  }

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

Result<Database> Database::open(const std::filesystem::path& path, Access access) {
  std::error_code error;
  const bool reads = access != Access::Write || !mayBeWritten(path);
  if (!reads && path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(ErrorCode::Environment, "cannot create the folder of the store {}: {}", path.string(), error.message());
  try {
    auto impl = reads ? std::make_unique<Impl>(path, readingName(path, access == Access::Untouched),
                                               SQLite::OPEN_READONLY | SQLite::OPEN_URI)
                      : std::make_unique<Impl>(path, path.string(),
                                               SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI);
    reservePageChecksums(impl->handle.getHandle());
    impl->handle.exec("PRAGMA foreign_keys = ON");
    impl->handle.exec("PRAGMA synchronous = NORMAL");
    impl->handle.exec("PRAGMA trusted_schema = OFF");  // a stranger's file may have any
    return Database(std::move(impl));
  } catch (const SQLite::Exception& exception) {
    return sqliteError(exception, path);
  }
}

Result<Database> Database::openCopy(const std::filesystem::path& path) {
  KERF_TRY(const auto original, open(path, Access::Read));
  try {
    auto impl = std::make_unique<Impl>(path, ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(impl->handle, original.m_impl->handle).executeStep(-1);
    impl->readOnly = true;
    return Database(std::move(impl));
  } catch (const SQLite::Exception& exception) {
    return sqliteError(exception, path);
  }
}

Result<Database> Database::openMemory() {
  try {
    return Database(std::make_unique<Impl>(":memory:", ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  } catch (const SQLite::Exception& exception) {
    return sqliteError(exception, ":memory:");
  }
}

bool Database::readOnly() const { return m_impl->readOnly; }

Result<void> Database::attach(const std::filesystem::path& path, std::string_view name) {
  const auto file = readingName(path);
  return execute(fmt::format("ATTACH ? AS {}", name), {std::string_view(file)});
}

Result<void> Database::detach(std::string_view name) {
  m_impl->statements.clear();  // a kept statement keeps the file
  return execute(fmt::format("DETACH {}", name));
}

bool Database::checksPages() const { return pagesAreChecked(m_impl->handle.getHandle()); }

void Database::setWatch(std::function<bool()> goOn) {
  m_impl->goOn = std::move(goOn);
  const auto ask = [](void* watch) { return (*static_cast<std::function<bool()>*>(watch))() ? 0 : 1; };
  sqlite3_progress_handler(m_impl->handle.getHandle(), m_impl->goOn ? watchedSteps : 0,
                           m_impl->goOn ? static_cast<int (*)(void*)>(ask) : nullptr, &m_impl->goOn);
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
    return sqliteError(exception, m_impl->path);
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
    return sqliteError(exception, m_impl->path);
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
