#include "storage/database/checked_pages.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "engine/support/hash.h"

namespace kerf::inline storage::inline database {

namespace {

constexpr const char* vfsName = "kerf-checked";
constexpr int headerBytes = 100;
constexpr int reservedAt = 20;  // in the header: bytes that SQLite leaves free at the end of each page
constexpr int smallestPage = 512;
constexpr std::uint64_t pageStep = 0x9e3779b97f4a7c15u;

/// SQLite's file with ours in front; the file of the system's VFS follows behind it.
struct CheckedFile : sqlite3_file {
  int pageBytes = 0;     ///< 0: not known yet
  bool checked = false;  ///< pages end with checksums
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

CheckedFile& own(sqlite3_file* file) { return *static_cast<CheckedFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return own(file).real(); }
sqlite3_vfs* system() { return sqlite3_vfs_find(nullptr); }

int pageBytesOf(const unsigned char* header) {
  const int bytes = header[16] << 8 | header[17];
  return bytes == 1 ? 65536 : bytes;
}

std::span<const std::byte> bytesOf(const void* page, int count) {
  return {static_cast<const std::byte*>(page), std::size_t(count)};
}

bool matches(std::span<const std::byte> page, std::uint64_t number) {
  std::uint64_t stored = 0;
  std::memcpy(&stored, page.data() + page.size() - pageChecksumBytes, sizeof stored);
  return stored == pageChecksum(page, number);
}

/// Whether page 1 had a checksum before its note of the reserved space was damaged: it matches with the note put right.
bool lostItsNote(std::span<const std::byte> page) {
  std::vector<std::byte> repaired(page.begin(), page.end());
  repaired[reservedAt] = std::byte(pageChecksumBytes);
  return matches(repaired, 1);
}

void noteHeader(CheckedFile& file, const void* bytes) {
  const auto* header = static_cast<const unsigned char*>(bytes);
  if (std::memcmp(header, "SQLite format 3", 16) != 0) return;
  file.pageBytes = pageBytesOf(header);
  file.checked = header[reservedAt] == pageChecksumBytes;
}

thread_local bool damageSeen = false;

int damaged(sqlite3_int64 page) {
  damageSeen = true;
  sqlite3_log(SQLITE_IOERR_DATA, "page %lld of the store is damaged", static_cast<long long>(page));
  return SQLITE_IOERR_DATA;
}

/// Checks a page that was read whole.
int checkPage(CheckedFile& file, std::span<const std::byte> page, sqlite3_int64 number) {
  if (file.checked) return matches(page, std::uint64_t(number)) ? SQLITE_OK : damaged(number);
  if (number == 1 && lostItsNote(page)) return damaged(number);
  return SQLITE_OK;
}

/// Part of a page was read (a long value's continuation): the page is read again as a whole and checked.
int checkAround(CheckedFile& file, sqlite3_int64 number) {
  std::vector<std::byte> page(std::size_t(file.pageBytes));
  const int status = file.real()->pMethods->xRead(file.real(), page.data(), file.pageBytes,
                                                  (number - 1) * sqlite3_int64(file.pageBytes));
  return status == SQLITE_OK ? checkPage(file, page, number) : status;
}

int readPart(sqlite3_file* handle, void* target, int count, sqlite3_int64 offset) {
  auto& file = own(handle);
  const int status = file.real()->pMethods->xRead(file.real(), target, count, offset);
  if (status != SQLITE_OK) return status;
  if (offset == 0 && count >= headerBytes) noteHeader(file, target);
  if (count < smallestPage || file.pageBytes < smallestPage) return status;
  const auto number = offset / file.pageBytes + 1;
  if (count == file.pageBytes && offset % file.pageBytes == 0) return checkPage(file, bytesOf(target, count), number);
  return file.checked ? checkAround(file, number) : status;
}

int writePart(sqlite3_file* handle, const void* source, int count, sqlite3_int64 offset) {
  auto& file = own(handle);
  if (offset == 0 && count >= headerBytes) noteHeader(file, source);
  const bool page = count >= smallestPage && (count & (count - 1)) == 0 && offset % count == 0;
  if (!file.checked || !page) return file.real()->pMethods->xWrite(file.real(), source, count, offset);
  std::vector<std::byte> sealed(bytesOf(source, count).begin(), bytesOf(source, count).end());
  const auto sum = pageChecksum(sealed, std::uint64_t(offset / count + 1));
  std::memcpy(sealed.data() + count - pageChecksumBytes, &sum, sizeof sum);
  return file.real()->pMethods->xWrite(file.real(), sealed.data(), count, offset);
}

/// Handing on to the system's file.
template <auto Member, class... Arguments>
auto pass(sqlite3_file* file, Arguments... arguments) {
  return (real(file)->pMethods->*Member)(real(file), arguments...);
}
int closeFile(sqlite3_file* file) {
  const int status = real(file)->pMethods->xClose(real(file));
  own(file).~CheckedFile();
  return status;
}
/// No page may be looked at past the checks.
int fetchNothing(sqlite3_file*, sqlite3_int64, int, void** memory) {
  *memory = nullptr;
  return SQLITE_OK;
}
int unfetchNothing(sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; }
void barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }

using Methods = sqlite3_io_methods;
constexpr Methods checkedMethods = {
    3,
    closeFile,
    readPart,
    writePart,
    [](sqlite3_file* file, sqlite3_int64 size) { return pass<&Methods::xTruncate>(file, size); },
    [](sqlite3_file* file, int flags) { return pass<&Methods::xSync>(file, flags); },
    [](sqlite3_file* file, sqlite3_int64* size) { return pass<&Methods::xFileSize>(file, size); },
    [](sqlite3_file* file, int level) { return pass<&Methods::xLock>(file, level); },
    [](sqlite3_file* file, int level) { return pass<&Methods::xUnlock>(file, level); },
    [](sqlite3_file* file, int* held) { return pass<&Methods::xCheckReservedLock>(file, held); },
    [](sqlite3_file* file, int code, void* value) { return pass<&Methods::xFileControl>(file, code, value); },
    [](sqlite3_file* file) { return pass<&Methods::xSectorSize>(file); },
    [](sqlite3_file* file) { return pass<&Methods::xDeviceCharacteristics>(file); },
    [](sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
      return pass<&Methods::xShmMap>(file, page, size, extend, memory);
    },
    [](sqlite3_file* file, int offset, int count, int flags) {
      return pass<&Methods::xShmLock>(file, offset, count, flags);
    },
    barrier,
    [](sqlite3_file* file, int remove) { return pass<&Methods::xShmUnmap>(file, remove); },
    fetchNothing,
    unfetchNothing,
};

/// A new file has checksums from its first page on; those pages may be written before the header is.
bool isEmpty(CheckedFile& file) {
  sqlite3_int64 size = 0;
  return file.real()->pMethods->xFileSize(file.real(), &size) == SQLITE_OK && size == 0;
}

int openFile(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* handle, int flags, int* given) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return system()->xOpen(system(), name, handle, flags, given);
  auto* file = new (handle) CheckedFile();
  const int status = system()->xOpen(system(), name, file->real(), flags, given);
  if (status != SQLITE_OK) return status;  // pMethods stays null: SQLite will not close it
  file->pMethods = &checkedMethods;
  file->checked = isEmpty(*file);
  return status;
}

bool registerVfs() {
  static sqlite3_vfs checked = *system();
  checked.szOsFile = int(sizeof(CheckedFile)) + system()->szOsFile;
  checked.pNext = nullptr;
  checked.zName = vfsName;
  checked.xOpen = openFile;
  return sqlite3_vfs_register(&checked, 0) == SQLITE_OK;
}

}  // namespace

const char* checkedVfs() {
  static const bool registered = registerVfs();
  return registered ? vfsName : nullptr;
}

void reservePageChecksums(void* connection) {
  int bytes = pageChecksumBytes;
  sqlite3_file_control(static_cast<sqlite3*>(connection), "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

bool tookDamagedPage() { return std::exchange(damageSeen, false); }

bool pagesAreChecked(void* connection) {
  sqlite3_file* file = nullptr;
  const int status = sqlite3_file_control(static_cast<sqlite3*>(connection), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (status != SQLITE_OK || file == nullptr || file->pMethods != &checkedMethods) return false;
  return own(file).checked;
}

std::uint64_t pageChecksum(std::span<const std::byte> page, std::uint64_t number) {
  return hashBytes(page.first(page.size() - pageChecksumBytes)).low ^ number * pageStep;
}

}  // namespace kerf::inline storage::inline database
