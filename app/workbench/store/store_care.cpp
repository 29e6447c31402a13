// What keeps the store in order, behind the workbench's door.
#include "storage/stores/store_care.h"

#include <charconv>

#include "app/workbench/workbench.h"
#include "storage/stores/deletions.h"
#include "storage/stores/store_transfer.h"

namespace kerf::workbench {

namespace {

constexpr std::int64_t secondsOfDay = 24 * 60 * 60;

/// "c3", "m2", "p4" or "r5".
Result<StoreItem> itemOf(const std::string& text) {
  StoreItem item{text.empty() ? '?' : text[0], 0};
  const bool known = std::string_view("cmpr").find(item.kind) != std::string_view::npos;
  const char* end = text.data() + text.size();
  if (known && text.size() > 1) {
    const auto [stop, problem] = std::from_chars(text.data() + 1, end, item.number);
    if (problem == std::errc() && stop == end && item.number > 0) return item;
  }
  return fail(ErrorCode::BadUsage, Hint{Advice::ListIds}, "\"{}\" cannot be deleted; name c3, m2, p4 or r5", text);
}

Result<std::vector<StoreItem>> itemsOf(const std::vector<std::string>& texts) {
  std::vector<StoreItem> items;
  for (const auto& text : texts) {
    KERF_TRY(const auto item, itemOf(text));
    items.push_back(item);
  }
  return items;
}

std::vector<std::string> textsOf(const std::vector<StoreItem>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(item.text());
  return texts;
}

/// For what changes the store.
Result<Store*> writableStore(Workbench& bench) {
  KERF_TRY(auto* store, bench.store());
  if (!store->readOnly()) return store;
  return fail(
      Error{ErrorCode::Environment,
            "this store can only be read: its file or folder cannot be written, or lies on a medium that cannot",
            store->path().string()});
}

StoreProgress progressOf(const Job& job, std::string what) {
  return [&job, what = std::move(what)](double done) { return job.progress(what, done); };
}

Carried carried(const Store& store, const std::string& file, StoreTransfer transfer) {
  Carried report{store.path().string(),
                 file,
                 {},
                 transfer.runs,
                 transfer.reductions,
                 transfer.repros,
                 transfer.blobs,
                 transfer.bytes,
                 std::move(transfer.notes),
                 std::move(transfer.failed)};
  for (auto& row : transfer.captures)
    report.captures.push_back(
        {fmt::format("c{}", row.from), fmt::format("c{}", row.to), std::move(row.path), row.known});
  return report;
}

/// Of a store that is so damaged that it cannot be opened.
Result<StoreVerdict> unopened(const Error& error) {
  auto damage = damageOfOpening(error);
  if (!damage) return fail(error);
  StoreVerdict verdict;
  verdict.store = error.file;
  verdict.findings.push_back({std::move(damage->what), std::move(damage->id), std::move(damage->message)});
  return verdict;
}

}  // namespace

Result<StoreInfo> perform(Workbench& bench, const StoreInfoRequest&, const Job&) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(auto figures, figuresOf(*store));
  StoreInfo info{store->path().string(),
                 figures.schema,
                 figures.checkedPages,
                 store->readOnly(),
                 figures.fileBytes,
                 figures.logBytes,
                 figures.freeBytes,
                 figures.linkedBytes,
                 {},
                 {}};
  for (auto& share : figures.shares) info.rows.push_back({std::move(share.kind), share.count, share.bytes});
  KERF_TRY(const auto deleted, deletions(store->database()));
  for (const auto& row : deleted) info.deleted.push_back({textsOf(row.items), row.at});
  return info;
}

Result<StoreVerdict> perform(Workbench& bench, const StoreVerifyRequest&, const Job& job) {
  const auto opened = bench.store();
  if (!opened) return unopened(opened.error());
  Store* store = *opened;
  KERF_TRY(auto check, verifyStore(*store, progressOf(job, "checking " + store->path().string())));
  StoreVerdict verdict{
      store->path().string(),          check.pages, check.blobs, check.blobBytes, check.contents, check.links,
      store->database().checksPages(), {}};
  for (auto& damage : check.damage)
    verdict.findings.push_back({std::move(damage.what), std::move(damage.id), std::move(damage.message)});
  return verdict;
}

Result<Removed> perform(Workbench& bench, const RemoveRequest& request, const Job& job) {
  KERF_TRY(const auto items, itemsOf(request.items));
  if (items.empty()) return fail(ErrorCode::BadUsage, "nothing was named to delete");
  KERF_TRY(auto* store, writableStore(bench));
  KERF_TRY(const auto deletion, removeItems(store->database(), items, request.cascade));
  if (request.now) {
    KERF_CHECK(purgeDeletion(store->database(), deletion.id));
    KERF_CHECK(sweepStore(*store, {}, progressOf(job, "collecting what nothing needs")));
  }
  for (const auto& item : deletion.items) bench.forget(item.text());
  return Removed{textsOf(deletion.items), request.now};
}

Result<Restored> perform(Workbench& bench, const RestoreRequest& request, const Job&) {
  KERF_TRY(auto items, itemsOf(request.items));
  KERF_TRY(auto* store, writableStore(bench));
  if (items.empty()) {
    KERF_TRY(const auto deleted, deletions(store->database()));
    if (deleted.empty()) return fail(ErrorCode::NotFound, "nothing is deleted that could be brought back");
    items = {deleted.front().items.front()};
  }
  KERF_TRY(const auto restored, restoreItems(store->database(), items));
  return Restored{textsOf(restored)};
}

Result<Swept> perform(Workbench& bench, const SweepRequest& request, const Job& job) {
  KERF_TRY(auto* store, writableStore(bench));
  const auto moment = momentBefore(request.days > 0 ? request.days * secondsOfDay : -1);
  KERF_TRY(const auto sweep, sweepStore(*store, moment, progressOf(job, "collecting what nothing needs")));
  return Swept{sweep.purged, sweep.blobs, sweep.contents, sweep.snapshots, sweep.bytes, sweep.files, sweep.reductions};
}

Result<Shrunk> perform(Workbench& bench, const ShrinkRequest&, const Job& job) {
  KERF_TRY(auto* store, writableStore(bench));
  const auto before = std::filesystem::file_size(store->path());
  KERF_TRY(const auto saved, shrinkStore(*store, progressOf(job, "shrinking " + store->path().string())));
  return Shrunk{std::int64_t(before), std::int64_t(before) - saved};
}

Result<Carried> perform(Workbench& bench, const StoreExportRequest& request, const Job& job) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto items, itemsOf(request.captures));
  std::vector<std::int64_t> captures;
  for (const auto& item : items) {
    if (item.kind != 'c')
      return fail(ErrorCode::BadUsage,
                  "{} is not a capture; whole captures are exported, with all that was made of them", item.text());
    captures.push_back(item.number);
  }
  KERF_TRY(auto transfer, exportStore(*store, request.file, captures, progressOf(job, "writing " + request.file)));
  return carried(*store, request.file, std::move(transfer));
}

Result<Carried> perform(Workbench& bench, const StoreImportRequest& request, const Job& job) {
  KERF_TRY(auto* store, writableStore(bench));
  KERF_TRY(auto transfer, importStore(*store, request.file, progressOf(job, "adding " + request.file)));
  return carried(*store, request.file, std::move(transfer));
}

}  // namespace kerf::workbench
