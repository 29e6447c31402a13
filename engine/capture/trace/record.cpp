#include "engine/capture/trace/record.h"

#include "engine/capture/common/json.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {
namespace {

std::string baseName(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// The record's own name where its kind gives it one: an artifact's, a dumped file's.
std::string nameOf(const TraceHeader& header) {
  const bool code = header.kind == "inductor_output_code";
  const auto name = jsonString(jsonMember(header.value, code ? "filename" : "name"));
  if (!name || name->empty() || (header.kind != "artifact" && header.value.front() != '{')) return header.kind;
  return code ? baseName(*name) : *name;
}

/// Kinds that print JSON as text; artifacts say their encoding.
bool isJson(const TraceHeader& header, std::string_view rawPayload) {
  if (header.kind == "artifact") return jsonMember(header.value, "encoding") == "\"json\"";
  if (header.kind == "chromium_event") return true;
  const std::size_t first = rawPayload.find_first_not_of("\t\n ");
  return first != std::string_view::npos && (rawPayload[first] == '{' || rawPayload[first] == '[');
}

CaptureRecord::Form formOf(const TraceHeader& header, const std::string& name, GraphForm graph,
                           std::string_view rawPayload) {
  using Form = CaptureRecord::Form;
  if (rawPayload.empty()) return Form::None;
  if (graph == GraphForm::Text || graph == GraphForm::Repro || header.kind == "inductor_output_code" ||
      name.ends_with(".py"))
    return Form::Python;
  return graph == GraphForm::None && isJson(header, rawPayload) ? Form::Json : Form::Text;
}

/// The log's name knows best: processes that are started before ranks are given out, and copied logs, say others.
int rankOf(const TraceHeader& header, int ofLog) {
  if (ofLog >= 0) return ofLog;
  return header.rank && *header.rank >= 0 && *header.rank < INT32_MAX ? int(*header.rank) : -1;
}

}  // namespace

PreparedRecord prepareRecord(std::string_view text, const RawRecord& raw, std::int64_t base,
                             const std::filesystem::path& path, int rank) {
  PreparedRecord prepared;
  const auto json = text.substr(std::size_t(raw.json), std::size_t(raw.jsonLength));
  auto header = parseTraceHeader(json);
  if (!header) return prepared;
  prepared.good = true;
  prepared.header = std::move(*header);
  prepared.payload = text.substr(std::size_t(raw.payload), std::size_t(raw.payloadLength));
  prepared.form = graphFormOf(prepared.header.kind, prepared.payload);
  CaptureRecord& record = prepared.record;
  record.kind = prepared.header.kind;
  record.name = nameOf(prepared.header);
  record.form = formOf(prepared.header, record.name, prepared.form, prepared.payload);
  record.metadata = validUtf8(json);
  record.tabbed = true;
  if (raw.payloadLength > 0) record.payload = {path, base + raw.payload, raw.payloadLength};
  record.origin.file = path;
  record.origin.line = raw.line;
  record.origin.rank = rankOf(prepared.header, rank);
  record.origin.compileId = prepared.header.id.text();
  record.origin.stage = record.kind == "artifact" ? record.name : record.kind;
  return prepared;
}

}  // namespace kerf::inline capture::trace
