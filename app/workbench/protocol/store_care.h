// Store care: deleting with undo, checking, collecting, shrinking, and carrying captures to another store.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

/// What one kind of thing takes in the store.
struct StoreInfoRow {
  std::string kind;  ///< "captures", "files", "storages", …
  std::int64_t count = 0, bytes = 0;

  KERF_FIELDS(kind, count, bytes)
};
struct DeletedRow {
  std::vector<std::string> items;  ///< "c3", "r5": deleted at once
  std::string at;                  ///< ISO 8601 UTC

  KERF_FIELDS(items, at)
};
struct StoreInfo {
  std::string store;
  int schema = 0;
  bool checkedPages = false, readOnly = false;
  std::int64_t fileBytes = 0, logBytes = 0, freeBytes = 0, linkedBytes = 0;
  std::vector<StoreInfoRow> rows;
  std::vector<DeletedRow> deleted;  ///< newest first

  KERF_FIELDS(store, schema, checkedPages, readOnly, fileBytes, logBytes, freeBytes, linkedBytes, rows, deleted)
};
struct StoreInfoRequest {
  using Answer = StoreInfo;
  static constexpr std::string_view name = "store info";
  int version = 1;

  KERF_FIELDS(version)
};

struct StoreFinding {
  std::string what, id, message;  ///< "page", "blob", "content", "link", "row", "log"; its hash or path; what to do

  KERF_FIELDS(what, id, message)
};
struct StoreVerdict {
  std::string store;
  std::int64_t pages = 0, blobs = 0, blobBytes = 0, contents = 0, links = 0;
  bool checkedPages = false;
  std::vector<StoreFinding> findings;

  KERF_FIELDS(store, checkedPages, pages, blobs, blobBytes, contents, links, findings)
};
/// Reads the whole store and what it links to. Damage is in the answer, not an error.
struct StoreVerifyRequest {
  using Answer = StoreVerdict;
  static constexpr std::string_view name = "store verify";
  int version = 1;

  KERF_FIELDS(version)
};

struct Removed {
  std::vector<std::string> items;  ///< the named ones and what went with them
  bool purged = false;

  KERF_FIELDS(items, purged)
};
/// Deletes captures, runs, reductions and repros ("c3", "r5", "m2", "p4"). RestoreRequest undoes it until they are
/// purged.
struct RemoveRequest {
  using Answer = Removed;
  static constexpr std::string_view name = "store remove";
  std::vector<std::string> items;
  bool cascade = false;  ///< take along what depends on them; else that is BadUsage
  bool now = false;      ///< purge at once: no undo

  KERF_FIELDS(items, cascade, now)
};

struct Restored {
  std::vector<std::string> items;

  KERF_FIELDS(items)
};
/// Brings back deleted items, with all that was deleted at the same time; without names the newest deletion.
struct RestoreRequest {
  using Answer = Restored;
  static constexpr std::string_view name = "store restore";
  std::vector<std::string> items;

  KERF_FIELDS(items)
};

struct Swept {
  std::int64_t purged = 0, blobs = 0, contents = 0, snapshots = 0, bytes = 0, files = 0, reductions = 0;

  KERF_FIELDS(purged, blobs, contents, snapshots, bytes, files, reductions)
};
/// Purges what was deleted long ago and drops what nothing needs.
struct SweepRequest {
  using Answer = Swept;
  static constexpr std::string_view name = "store gc";
  int days = 30;  ///< how long deleted things can be brought back; 0: no more

  KERF_FIELDS(days)
};

struct Shrunk {
  std::int64_t before = 0, after = 0;  ///< bytes

  KERF_FIELDS(before, after)
};
struct ShrinkRequest {
  using Answer = Shrunk;
  static constexpr std::string_view name = "store vacuum";
  int version = 1;

  KERF_FIELDS(version)
};

struct CarriedCapture {
  std::string from, to, path;  ///< ids in the source and in the target
  bool known = false;          ///< the target had it

  KERF_FIELDS(from, to, path, known)
};
struct Carried {
  std::string store, file;
  std::vector<CarriedCapture> captures;
  std::int64_t runs = 0, reductions = 0, repros = 0, blobs = 0, bytes = 0;
  std::vector<std::string> notes, failed;  ///< links that stay; captures that are damaged and were left out

  KERF_FIELDS(store, file, captures, runs, reductions, repros, blobs, bytes, notes, failed)
};
/// Writes captures with all that was made of them to a store in one file.
struct StoreExportRequest {
  using Answer = Carried;
  static constexpr std::string_view name = "store export";
  std::string file;
  std::vector<std::string> captures;  ///< "c3"; empty: all

  KERF_FIELDS(file, captures)
};
/// Adds such a file, or any other store, to the store.
struct StoreImportRequest {
  using Answer = Carried;
  static constexpr std::string_view name = "store import";
  std::string file;

  KERF_FIELDS(file)
};

}  // namespace kerf::workbench
