#include "app/cli/import_report.h"

#include <cstdio>
#include <filesystem>

#include "app/cli/json_forms.h"

namespace kerf::cli {

namespace {

Json graphJson(const FollowEvent& event) {
  return {{"event", "graph"},
          {"name", event.name},
          {"stage", orNull(event.stage)},
          {"compile_id", orNull(event.compileId)},
          {"file", event.file},
          {"line", event.line}};
}
std::string graphText(const FollowEvent& event, bool) {
  const auto file = std::filesystem::path(event.file).filename().string();
  return fmt::format("graph    {}  {}:{}\n", event.name, file, event.line);
}

Json recordJson(const FollowEvent& event) {
  return {{"event", "record"},  {"kind", event.recordKind},
          {"name", event.name}, {"compile_id", orNull(event.compileId)},
          {"file", event.file}, {"line", event.line}};
}
std::string recordText(const FollowEvent& event, bool verbose) {
  return verbose ? fmt::format("record   {} {}  {}\n", event.compileId, event.recordKind, event.name) : std::string();
}

Json compileJson(const FollowEvent& event) {
  return {{"event", "compile"},
          {"compile_id", event.compileId},
          {"rank", event.rank < 0 ? Json() : Json(event.rank)},
          {"status", event.status},
          {"failure", orNull(event.failure)},
          {"frame", orNull(event.frame)}};
}
std::string compileText(const FollowEvent& event, bool) {
  return fmt::format("compile  {}  {}  {}{}\n", event.compileId,
                     event.status == "incomplete" ? "running" : event.status, event.frame,
                     event.failure.empty() ? "" : ": " + event.failure);
}

struct FollowForm {
  Json (*json)(const FollowEvent&);
  std::string (*text)(const FollowEvent&, bool verbose);
};
constexpr FollowForm followForms[] = {
    {graphJson, graphText}, {recordJson, recordText}, {compileJson, compileText}};  // by Kind

void show(const Context& context, const JobEvent& event) {
  const auto* news = std::get_if<FollowEvent>(&event);
  if (news == nullptr) return;
  const auto& form = followForms[std::size_t(news->kind)];
  if (context.json) return printJsonLine(form.json(*news));
  fmt::print("{}", form.text(*news, context.verbose));
  std::fflush(stdout);
}

}  // namespace

Result<int> followLog(Context& context, const std::string& path) {
  if (!context.json) fmt::print(stderr, "following {}; press Ctrl-C to stop and store it\n", path);
  KERF_TRY(const auto imported,
           context.perform(FollowRequest{path}, [&](const JobEvent& event) { show(context, event); }));
  Json captures = Json::array();
  for (const auto& capture : imported.captures) {
    captures.push_back(jsonOf(capture));
    if (!context.json) printImported(capture, context.verbose);
  }
  if (context.json)
    printJsonLine({{"event", "done"}, {"store", imported.store}, {"captures", std::move(captures)}});
  else if (imported.captures.empty())
    fmt::print("the log has nothing yet, so nothing is stored\n");
  return 0;
}

}  // namespace kerf::cli
