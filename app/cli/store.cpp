// kerf store …: what the store takes, whether it is whole, deleting with undo, collecting, shrinking, carrying away.
#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/store_report.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Result<int> runStoreInfo(Context& context) {
  KERF_TRY(const auto info, context.perform(StoreInfoRequest{}));
  if (context.json)
    printJson(jsonOf(info));
  else
    printInfo(info);
  return 0;
}

Result<int> runStoreVerify(Context& context) {
  KERF_TRY(const auto verdict, context.perform(StoreVerifyRequest{}));
  if (context.json)
    printJson(jsonOf(verdict));
  else
    printVerdict(verdict);
  return verdict.findings.empty() ? 0 : 1;
}

Result<int> runStoreRemove(Context& context, const RemoveRequest& request) {
  KERF_TRY(const auto removed, context.perform(request));
  if (context.json)
    printJson({{"deleted", removed.items}, {"purged", removed.purged}});
  else
    fmt::print("deleted {}{}\n", fmt::join(removed.items, ", "),
               removed.purged ? "" : fmt::format("; `kerf store restore {}` brings back", removed.items.front()));
  return 0;
}

Result<int> runStoreRestore(Context& context, const RestoreRequest& request) {
  KERF_TRY(const auto restored, context.perform(request));
  if (context.json)
    printJson({{"restored", restored.items}});
  else
    fmt::print("restored {}\n", fmt::join(restored.items, ", "));
  return 0;
}

Result<int> runStoreSweep(Context& context, const SweepRequest& request) {
  KERF_TRY(const auto swept, context.perform(request));
  if (context.json)
    printJson(jsonOf(swept));
  else
    printSwept(swept);
  return 0;
}

Result<int> runStoreShrink(Context& context) {
  KERF_TRY(const auto shrunk, context.perform(ShrinkRequest{}));
  if (context.json)
    printJson({{"bytes_before", shrunk.before}, {"bytes_after", shrunk.after}});
  else
    fmt::print("{} before, {} after\n", byteText(shrunk.before), byteText(shrunk.after));
  return 0;
}

/// A capture that was left out is an error of the whole, told after what was done.
Result<int> reportCarried(const Context& context, const Carried& carried, const char* verb) {
  if (context.json)
    printJson(jsonOf(carried));
  else
    printCarried(carried, verb);
  return carried.failed.empty() ? 0 : exitCode(ErrorCode::BadInput);
}

Result<int> runStoreExport(Context& context, const StoreExportRequest& request) {
  KERF_TRY(const auto carried, context.perform(request));
  return reportCarried(context, carried, "written to");
}

Result<int> runStoreImport(Context& context, const StoreImportRequest& request) {
  KERF_TRY(const auto carried, context.perform(request));
  return reportCarried(context, carried, "added from");
}

/// One of `kerf store`'s own commands.
CLI::App& addStorePart(CommandLine& line, CLI::App& store, const std::string& name, const std::string& description,
                       const std::string& examples) {
  auto* part = store.add_subcommand(name, description);
  part->footer("Examples:\n" + examples);
  line.addCommonOptions(*part);
  return *part;
}

void addDeleting(CommandLine& line, CLI::App& store) {
  auto remove = std::make_shared<RemoveRequest>();
  auto& rm = addStorePart(line, store, "rm",
                          "Delete captures, runs, reductions or repros. `kerf store restore` brings them back",
                          "  kerf store rm r5 r6\n"
                          "  kerf store rm c3 --cascade\n"
                          "  kerf store rm m2 --now --cascade");
  rm.add_option("ID", remove->items, "c3, m2, p4, r5")->required();
  rm.add_flag("--cascade", remove->cascade, "Also delete what depends on them. By default that is an error");
  rm.add_flag("--now", remove->now,
              "Remove for good, together with data that nothing else uses. This cannot be undone");
  line.onRun(rm, [remove](Context& context) { return runStoreRemove(context, *remove); });

  auto restore = std::make_shared<RestoreRequest>();
  auto& undo = addStorePart(line, store, "restore",
                            "Restore what was deleted, with everything that was deleted together with it",
                            "  kerf store restore\n"
                            "  kerf store restore c3");
  undo.add_option("ID", restore->items, "Ids that were deleted (default: the newest deletion)");
  line.onRun(undo, [restore](Context& context) { return runStoreRestore(context, *restore); });
}

void addKeeping(CommandLine& line, CLI::App& store) {
  line.onRun(addStorePart(line, store, "info", "Show the size of the store by kind, and what is deleted",
                          "  kerf store info\n  kerf store info --json"),
             runStoreInfo);
  line.onRun(
      addStorePart(line, store, "verify",
                   "Check all pages, blobs and linked files against their hashes (exit 1 if something is damaged)",
                   "  kerf store verify\n  kerf store verify --store /backup/kerf.db --json"),
      runStoreVerify);
  auto sweep = std::make_shared<SweepRequest>();
  auto& gc =
      addStorePart(line, store, "gc", "Purge what was deleted long ago, and remove unused data and temporary files",
                   "  kerf store gc\n  kerf store gc --now\n  kerf store gc --days 7");
  auto* days = gc.add_option("--days", sweep->days, "Purge what was deleted this many days ago")
                   ->check(CLI::Range(0, 36500))
                   ->capture_default_str();
  gc.add_flag_callback("--now", [sweep] { sweep->days = 0; }, "Purge everything that is deleted")->excludes(days);
  line.onRun(gc, [sweep](Context& context) { return runStoreSweep(context, *sweep); });
  line.onRun(addStorePart(line, store, "vacuum", "Return unused space to the file system",
                          "  kerf store gc && kerf store vacuum"),
             runStoreShrink);
}

void addCarrying(CommandLine& line, CLI::App& store) {
  auto out = std::make_shared<StoreExportRequest>();
  auto& exporting =
      addStorePart(line, store, "export",
                   "Write captures, with their runs, reductions and repros, to one file, which is a store itself",
                   "  kerf store export captures.kerf\n"
                   "  kerf store export bug.kerf c3 c5\n"
                   "  kerf ls --store bug.kerf");
  exporting.add_option("FILE", out->file, "File to write")->required();
  exporting.add_option("CAPTURE", out->captures, "Captures, e.g. c3 (default: all)");
  line.onRun(exporting, [out](Context& context) { return runStoreExport(context, *out); });

  auto in = std::make_shared<StoreImportRequest>();
  auto& importing = addStorePart(line, store, "import",
                                 "Add everything from an exported file, or from another store. What is there already "
                                 "stays as it is",
                                 "  kerf store import bug.kerf");
  importing.add_option("FILE", in->file, "An exported file, or a store")->required();
  line.onRun(importing, [in](Context& context) { return runStoreImport(context, *in); });
}

}  // namespace

void addStore(CommandLine& line) {
  auto& command = line.add("store", "Maintain the store: info, verify, rm, restore, gc, vacuum, export, import",
                           "  kerf store info\n"
                           "  kerf store verify\n"
                           "  kerf store rm c3 --cascade && kerf store restore c3\n"
                           "  kerf store gc --now && kerf store vacuum\n"
                           "  kerf store export bug.kerf c3\n"
                           "  kerf ls --store bug.kerf\n"
                           "  kerf store import bug.kerf");
  command.require_subcommand(1);
  addKeeping(line, command);
  addDeleting(line, command);
  addCarrying(line, command);
}

}  // namespace kerf::cli
