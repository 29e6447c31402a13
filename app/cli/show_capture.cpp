#include "app/cli/show_capture.h"

#include <map>

#include "app/cli/capture_rows.h"
#include "app/cli/import_report.h"
#include "app/cli/json_values.h"
#include "app/cli/store_id.h"
#include "app/cli/text_table.h"

namespace kerf::cli {
namespace {

std::map<std::string, int> recordKinds(const CaptureIndex& index) {
  std::map<std::string, int> kinds;
  for (const auto& record : index.records) ++kinds[record.kind];
  return kinds;
}

Json overviewJson(const CaptureIndex& index) {
  Json graphs = Json::array(), compiles = Json::array();
  for (const auto& graph : index.graphs) graphs.push_back(graphRowJson(index, graph));
  for (const auto& compile : index.compiles) compiles.push_back(compileRowJson(index, compile));
  return {{"capture", index.id},
          {"kind", index.kind},
          {"path", index.path},
          {"torch_version", index.torchVersion},
          {"graphs", std::move(graphs)},
          {"compiles", std::move(compiles)},
          {"records", recordKinds(index)},
          {"notes", index.notes}};
}

bool belongs(const RecordedFusionGroup& group, const std::string& compileId, int rank) {
  return compileId.empty() || (group.origin.compileId == compileId && group.origin.rank == rank);
}

std::string dumped(const Json& object) { return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Result<std::optional<RecordSource>> storedRecord(Context& context, const std::string& text, const StoreId& id) {
  KERF_TRY(auto* store, context.store());
  KERF_TRY(const auto row, store->record(id.number, id.record));
  KERF_TRY(auto source, openStoredFiles(context, text, id.number));
  const auto index = std::size_t(id.record) - 1;
  const auto* details = source.capture.details.get();
  const bool there = details != nullptr && index < details->records.size() &&
                     details->records[index].kind == row.kind && details->records[index].origin.line == row.source.line;
  if (!there) return fail(ErrorCode::NotFound, "{} is not in the capture's files any more; import them again", text);
  return RecordSource{std::move(source), index};
}

}  // namespace

Result<std::string> overviewText(Context& context, const std::string& capture) {
  KERF_TRY(const auto index, captureIndex(context, capture));
  if (context.json) return dumped(overviewJson(index));
  auto text = headline(index) + "\n" + compileTree(index);
  if (!index.records.empty()) {
    text += fmt::format("\n{} (`kerf ls records {}`)\n", counted(std::ssize(index.records), "record"), index.id);
    TextTable table({"kind", "count"});
    for (const auto& [kind, count] : recordKinds(index)) table.add({kind, std::to_string(count)});
    text += table.text();
  }
  for (const auto& note : index.notes) text += "note: " + note + "\n";
  return text;
}

Result<std::optional<RecordSource>> resolveRecord(Context& context, const std::string& text) {
  const auto id = parseStoreId(text);
  if (id && id->record != 0) return storedRecord(context, text, *id);
  const auto [path, name] = splitAtHash(text);
  if (id || name.empty()) return std::nullopt;
  KERF_TRY(auto source, openCapture(context, path));
  for (const auto& graph : source.capture.graphs) {
    if (graph.name == name) return std::nullopt;
  }
  const auto index = findRecord(source.capture, name);
  if (!index || source.capture.details->records[*index].graph >= 0) return std::nullopt;
  return RecordSource{std::move(source), *index};
}

Result<std::string> recordText(const Context& context, const std::string& id, const CaptureRecord& record) {
  KERF_TRY(auto text, record.text());
  if (!context.json) {
    if (text.empty()) text = record.metadata;
    return text.ends_with('\n') ? text : text + "\n";
  }
  const auto metadata = Json::parse(record.metadata, nullptr, false);
  return dumped({{"id", id},
                 {"kind", record.kind},
                 {"name", record.name},
                 {"compile_id", orNull(record.origin.compileId)},
                 {"rank", record.origin.rank < 0 ? Json() : Json(record.origin.rank)},
                 {"file", record.origin.file.string()},
                 {"line", record.origin.line},
                 {"form", formName(record.form)},
                 {"metadata", metadata.is_discarded() ? Json() : metadata},
                 {"text", text}});
}

Json fusionJson(const CaptureDetails* details, const std::string& compileId, int rank) {
  Json groups = Json::array();
  if (details == nullptr) return groups;
  for (const auto& group : details->fusionGroups) {
    if (!belongs(group, compileId, rank)) continue;
    groups.push_back({{"kernel", orNull(group.kernel)},
                      {"compile_id", orNull(group.origin.compileId)},
                      {"rank", group.origin.rank < 0 ? Json() : Json(group.origin.rank)},
                      {"stage", orNull(group.origin.stage)},
                      {"line", group.origin.line},
                      {"buffers", group.buffers},
                      {"post_grad_nodes", group.postGradNodes},
                      {"pre_grad_nodes", group.preGradNodes}});
  }
  return groups;
}

std::string fusionText(const CaptureDetails* details, const std::string& compileId, int rank) {
  std::string text;
  if (details != nullptr) {
    for (const auto& group : details->fusionGroups) {
      if (!belongs(group, compileId, rank)) continue;
      text += fmt::format("{}{}{}\n", group.kernel.empty() ? "(not fused yet)" : group.kernel,
                          group.origin.compileId.empty() ? "" : "  " + group.origin.compileId,
                          group.origin.stage.empty() ? "" : "  " + group.origin.stage);
      if (!group.buffers.empty()) text += fmt::format("  buffers    {}\n", fmt::join(group.buffers, ", "));
      if (!group.postGradNodes.empty()) text += fmt::format("  post grad  {}\n", fmt::join(group.postGradNodes, ", "));
      if (!group.preGradNodes.empty()) text += fmt::format("  pre grad   {}\n", fmt::join(group.preGradNodes, ", "));
    }
  }
  return text.empty() ? "no fusion groups are recorded here\n" : text;
}

}  // namespace kerf::cli
