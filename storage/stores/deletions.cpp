#include "storage/stores/deletions.h"

#include <algorithm>
#include <set>

#include "storage/stores/blobs.h"
#include "storage/stores/process_owner.h"

namespace kerf::inline storage::inline stores {

namespace {

struct ItemKind {
  char letter;
  std::string_view table, noun;
};
constexpr ItemKind itemKinds[] = {
    {'c', "captures", "capture"}, {'m', "reductions", "reduction"}, {'p', "repros", "repro"}, {'r', "runs", "run"}};

/// A query for the numbers of the items of one kind that depend on an item of another.
struct Dependency {
  char on, kind;
  std::string_view sql;
};
constexpr Dependency dependencies[] = {
    {'c', 'r',
     "SELECT id FROM runs WHERE deletion IS NULL AND graph IN (SELECT id FROM graphs WHERE capture = ?) ORDER BY id"},
    {'c', 'm',
     "SELECT id FROM reductions WHERE deletion IS NULL AND graph IN (SELECT id FROM graphs WHERE capture = ?) ORDER BY "
     "id"},
    {'c', 'p',
     "SELECT id FROM repros WHERE deletion IS NULL AND graph IN (SELECT id FROM graphs WHERE capture = ?) ORDER BY id"},
    {'m', 'p', "SELECT id FROM repros WHERE deletion IS NULL AND reduction = ? ORDER BY id"},
};

constexpr std::size_t namedItems = 8;

const ItemKind& kindOf(char letter) {
  const auto* found = std::ranges::find(itemKinds, letter, &ItemKind::letter);
  return found == std::end(itemKinds) ? itemKinds[0] : *found;
}

std::string listed(const std::vector<StoreItem>& items) {
  std::vector<std::string> names;
  for (const auto& item : items)
    if (names.size() < namedItems) names.push_back(item.text());
  auto text = fmt::format("{}", fmt::join(names, ", "));
  if (items.size() > names.size()) text += fmt::format(" and {} more", items.size() - names.size());
  return text;
}

struct ItemState {
  bool there = false;
  std::optional<std::int64_t> deletion;
};

Result<ItemState> stateOf(Database& database, StoreItem item) {
  ItemState state;
  KERF_CHECK(database.query(fmt::format("SELECT deletion FROM {} WHERE id = ?", kindOf(item.kind).table), {item.number},
                            [&](const SqlRow& row) {
                              state.there = true;
                              if (!row.isNull(0)) state.deletion = row.integer(0);
                            }));
  return state;
}

Result<void> checkThere(Database& database, StoreItem item) {
  KERF_CHECK(checkNotDeleted(database, item));
  KERF_TRY(const auto state, stateOf(database, item));
  if (state.there) return {};
  return fail(ErrorCode::NotFound, "the store has no {} {}", kindOf(item.kind).noun, item.text());
}

Result<void> checkIdle(Database& database, StoreItem item) {
  if (item.kind != 'm') return {};
  std::string owner;
  KERF_CHECK(database.query("SELECT owner FROM reductions WHERE id = ? AND status = 'running'", {item.number},
                            [&](const SqlRow& row) { owner = row.text(0); }));
  if (owner.empty() || !isOtherLiveProcess(owner)) return {};
  return fail(ErrorCode::BadUsage, "reduction {} is being worked on by another process ({}); stop that first",
              item.text(), owner.substr(owner.find(':') + 1));
}

Result<void> mark(Database& database, StoreItem item, const SqlValue& deletion) {
  return database.execute(fmt::format("UPDATE {} SET deletion = ? WHERE id = ?", kindOf(item.kind).table),
                          {deletion, item.number});
}

Result<Deletion> markAll(Database& database, std::vector<StoreItem> items) {
  Deletion deletion;
  deletion.at = nowUtc();
  deletion.items = std::move(items);
  const auto what = listed(deletion.items);
  KERF_CHECK(database.execute("INSERT INTO deletions(at, what) VALUES (?, ?)",
                              {std::string_view(deletion.at), std::string_view(what)}));
  deletion.id = database.lastInsertId();
  for (const auto item : deletion.items) KERF_CHECK(mark(database, item, deletion.id));
  return deletion;
}

Result<std::vector<StoreItem>> itemsOf(Database& database, std::int64_t deletion) {
  std::vector<StoreItem> items;
  for (const auto& kind : itemKinds) {
    KERF_CHECK(database.query(fmt::format("SELECT id FROM {} WHERE deletion = ? ORDER BY id", kind.table), {deletion},
                              [&](const SqlRow& row) { items.push_back({kind.letter, row.integer(0)}); }));
  }
  return items;
}

/// What has come back must not hang on something that stays deleted.
Result<void> checkWhole(Database& database) {
  constexpr std::string_view sql =
      "SELECT 'r' || runs.id, 'c' || captures.id FROM runs JOIN graphs ON graphs.id = runs.graph JOIN captures ON "
      "captures.id = graphs.capture WHERE runs.deletion IS NULL AND captures.deletion IS NOT NULL "
      "UNION ALL SELECT 'm' || reductions.id, 'c' || captures.id FROM reductions JOIN graphs ON graphs.id = "
      "reductions.graph JOIN captures ON captures.id = graphs.capture WHERE reductions.deletion IS NULL AND "
      "captures.deletion IS NOT NULL "
      "UNION ALL SELECT 'p' || repros.id, 'c' || captures.id FROM repros JOIN graphs ON graphs.id = repros.graph JOIN "
      "captures ON captures.id = graphs.capture WHERE repros.deletion IS NULL AND captures.deletion IS NOT NULL "
      "UNION ALL SELECT 'p' || repros.id, 'm' || reductions.id FROM repros JOIN reductions ON reductions.id = "
      "repros.reduction WHERE repros.deletion IS NULL AND reductions.deletion IS NOT NULL";
  std::string item, on;
  KERF_CHECK(database.query(sql, {}, [&](const SqlRow& row) {
    item = row.text(0);
    on = row.text(1);
  }));
  if (item.empty()) return {};
  return fail(ErrorCode::BadUsage, Hint{Advice::RestoreItems, on + " " + item},
              "{} needs {}, which is deleted too; bring back both", item, on);
}

Result<std::int64_t> deletionOf(Database& database, StoreItem item) {
  KERF_TRY(const auto state, stateOf(database, item));
  if (state.deletion) return *state.deletion;
  if (state.there) return fail(ErrorCode::BadUsage, "{} is not deleted", item.text());
  return fail(ErrorCode::NotFound, "the store has no {} {}, nor a deleted one", kindOf(item.kind).noun, item.text());
}

}  // namespace

Result<std::vector<StoreItem>> dependentsOf(Database& database, const std::vector<StoreItem>& items) {
  std::set<StoreItem> known(items.begin(), items.end());
  std::vector<StoreItem> found;
  auto open = items;
  while (!open.empty()) {
    const auto item = open.back();
    open.pop_back();
    for (const auto& dependency : dependencies) {
      if (dependency.on != item.kind) continue;
      KERF_CHECK(database.query(dependency.sql, {item.number}, [&](const SqlRow& row) {
        const StoreItem next{dependency.kind, row.integer(0)};
        if (!known.insert(next).second) return;
        found.push_back(next);
        open.push_back(next);
      }));
    }
  }
  std::ranges::sort(found);
  return found;
}

Result<Deletion> removeItems(Database& database, const std::vector<StoreItem>& items, bool cascade) {
  Deletion deletion;
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    for (const auto item : items) KERF_CHECK(checkThere(database, item));
    KERF_TRY(const auto dependents, dependentsOf(database, items));
    if (!dependents.empty() && !cascade)
      return fail(ErrorCode::BadUsage, Hint{Advice::DeleteUsers}, "{} cannot be deleted alone: {} depend on it",
                  listed(items), listed(dependents));
    auto all = items;
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.insert(all.end(), dependents.begin(), dependents.end());
    for (const auto item : all) KERF_CHECK(checkIdle(database, item));
    KERF_TRY(deletion, markAll(database, std::move(all)));
    return {};
  }));
  return deletion;
}

Result<std::vector<StoreItem>> restoreItems(Database& database, const std::vector<StoreItem>& items) {
  std::vector<StoreItem> restored;
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    std::set<std::int64_t> undone;
    for (const auto item : items) {
      KERF_TRY(const auto deletion, deletionOf(database, item));
      undone.insert(deletion);
    }
    for (const auto deletion : undone) {
      KERF_TRY(const auto marked, itemsOf(database, deletion));
      for (const auto item : marked) KERF_CHECK(mark(database, item, SqlValue()));
      KERF_CHECK(database.execute("DELETE FROM deletions WHERE id = ?", {deletion}));
      restored.insert(restored.end(), marked.begin(), marked.end());
    }
    return checkWhole(database);
  }));
  return restored;
}

Result<std::vector<Deletion>> deletions(Database& database) {
  KERF_TRY(auto rows,
           (queryAll<Deletion>(database, "SELECT id, at FROM deletions ORDER BY id DESC", {},
                               [](const SqlRow& row) { return Deletion{row.integer(0), row.text(1), {}}; })));
  for (auto& row : rows) {
    KERF_TRY(row.items, itemsOf(database, row.id));
  }
  std::erase_if(rows, [](const Deletion& row) { return row.items.empty(); });
  return rows;
}

Result<std::int64_t> purgeDeleted(Database& database, const std::string& moment) {
  std::int64_t purged = 0;
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    for (const std::string_view table : {"repros", "runs", "reductions", "captures"}) {
      KERF_CHECK(database.execute(
          fmt::format("DELETE FROM {} WHERE deletion IN (SELECT id FROM deletions WHERE at < ?)", table),
          {std::string_view(moment)}));
      purged += database.changes();
    }
    return database.execute(
        "DELETE FROM deletions WHERE at < ? AND id NOT IN (SELECT deletion FROM captures WHERE deletion IS NOT NULL "
        "UNION SELECT deletion FROM runs WHERE deletion IS NOT NULL UNION SELECT deletion FROM reductions WHERE "
        "deletion "
        "IS NOT NULL UNION SELECT deletion FROM repros WHERE deletion IS NOT NULL)",
        {std::string_view(moment)});
  }));
  return purged;
}

Result<void> purgeDeletion(Database& database, std::int64_t deletion) {
  return database.transaction([&]() -> Result<void> {
    for (const std::string_view table : {"repros", "runs", "reductions", "captures"})
      KERF_CHECK(database.execute(fmt::format("DELETE FROM {} WHERE deletion = ?", table), {deletion}));
    return database.execute("DELETE FROM deletions WHERE id = ?", {deletion});
  });
}

Result<void> checkNotDeleted(Database& database, StoreItem item) {
  std::string at;
  KERF_CHECK(database.query(fmt::format("SELECT at FROM deletions WHERE id = (SELECT deletion FROM {} WHERE id = ?)",
                                        kindOf(item.kind).table),
                            {item.number}, [&](const SqlRow& row) { at = row.text(0); }));
  if (at.empty()) return {};
  return fail(ErrorCode::NotFound, Hint{Advice::RestoreItems, item.text()}, "{} {} was deleted at {}",
              kindOf(item.kind).noun, item.text(), at);
}

}  // namespace kerf::inline storage::inline stores
