#include "app/cli/context.h"

#include <cmath>
#include <cstdio>

#include "app/cli/interrupts.h"
#include "app/cli/terminal.h"
#include "engine/support/log.h"

namespace kerf::cli {

namespace {

void showNote(const NoteEvent& note, Progress& progress, bool verbose) {
  if (note.weight == NoteEvent::Weight::Detail && !verbose) return;
  progress.finish();
  if (note.weight == NoteEvent::Weight::Detail)
    fmt::print(stderr, "{}\n", escapedText(note.text));
  else
    complain(Tone::Warning, note.text);
}

}  // namespace

Workbench& Context::bench() {
  if (!m_bench) m_bench = std::make_unique<Workbench>(WorkbenchOptions{storePath});
  return *m_bench;
}

Job Context::job(Progress& progress, std::function<void(const JobEvent&)> own) const {
  const auto show = [&progress, own = std::move(own), loud = verbose](const JobEvent& event) {
    if (const auto* step = std::get_if<ProgressEvent>(&event))
      progress.fraction(step->what, step->done);
    else if (const auto* note = std::get_if<NoteEvent>(&event))
      showNote(*note, progress, loud);
    else if (own)
      own(event);
  };
  return {show, interruptToken()};
}

void printJson(const Json& object) {
  const auto text = object.dump(2, ' ', true, Json::error_handler_t::replace);
  fmt::print(stdout, "{}\n", text);
}

void printJsonLine(const Json& object) {
  fmt::print("{}\n", object.dump(-1, ' ', true, Json::error_handler_t::replace));
  std::fflush(stdout);
}

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json orNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

double milliseconds(std::chrono::nanoseconds time) { return double(time.count()) / 1e6; }

}  // namespace kerf::cli
