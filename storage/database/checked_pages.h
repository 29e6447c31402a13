// Checked pages: a layer under SQLite that ends every page of a store with a checksum and refuses pages that lost it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kerf::inline storage::inline database {

/// Bytes at the end of a page that SQLite leaves to the checksum ("reserved space" of its header).
inline constexpr int pageChecksumBytes = 8;

/// Name of the SQLite VFS that checks pages; registers it at the first call. A read of a damaged page ends with
/// SQLITE_IOERR_DATA. Files whose header reserves no space (older stores) are read and written as they are; new files
/// must be given the space before anything is written to them (reservePageChecksums).
const char* checkedVfs();

/// Makes SQLite reserve the space in a database that is still empty, or that will be copied by VACUUM INTO.
/// `connection` is a sqlite3*.
void reservePageChecksums(void* connection);

/// Whether this thread has met a damaged page since it was last asked: SQLite does not always say why it failed.
bool tookDamagedPage();

/// Whether the pages of an opened database (a sqlite3*) end with checksums.
bool pagesAreChecked(void* connection);

/// Checksum of page `number` (from 1) over all but its last bytes: a page that lies in another's place has another one.
std::uint64_t pageChecksum(std::span<const std::byte> page, std::uint64_t number);

}  // namespace kerf::inline storage::inline database
