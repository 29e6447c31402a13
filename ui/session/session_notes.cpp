// Session: bookmarks and notes at nodes, which the store keeps.
#include <algorithm>

#include "ui/session/aot_stages.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

/// "name", "name@stage:joint", "name@body:body_graph_0": a place of a capture, as notes keep it.
const std::string stageMark = "@stage:", bodyMark = "@body:";

std::string notedPlace(const std::string& graph, const Location& location) {
  auto place = graph;
  if (!location.aotStage.empty()) place += stageMark + location.aotStage;
  if (!location.body.empty()) place += bodyMark + location.body;
  return place;
}

/// Cuts what stands behind the last `mark` off the end.
std::string cutAt(std::string& place, const std::string& mark) {
  const auto at = place.rfind(mark);
  if (at == std::string::npos) return {};
  const auto behind = place.substr(at + mark.size());
  place.resize(at);
  return behind;
}

}  // namespace

QString notedPlaceTitle(const NodeNoteDoc& note) {
  auto place = note.graph;
  const auto body = cutAt(place, bodyMark), stage = cutAt(place, stageMark);
  auto title = text(place);
  if (!stage.empty()) title += ", " + titleOfStage(stage);
  if (!body.empty()) title += Session::tr(", in %1").arg(text(body));
  return title;
}

void Session::goToNote(const NodeNoteDoc& note) {
  NamedPlace wanted{note.capture, note.graph, {}};
  wanted.place.node = QString::fromStdString(note.node);
  wanted.place.body = cutAt(wanted.graph, bodyMark);
  wanted.place.aotStage = cutAt(wanted.graph, stageMark);
  goTo(wanted);
}

const NodeNoteDoc* Session::noteAt(const std::string& node) const {
  if (!m_notes || !m_graph) return nullptr;
  const auto found = std::ranges::find_if(
      *m_notes, [&](const NodeNoteDoc& note) { return note.graphHash == m_graph->hash && note.node == node; });
  return found == m_notes->end() ? nullptr : &*found;
}

void Session::listNotes() {
  m_jobs.submit<Result<std::vector<NodeNoteDoc>>>(
      "notes",
      [worker = m_workers.forJob()](std::stop_token stop) {
        return worker->perform(workbench::NotesRequest{}, {{}, stop});
      },
      [this](Result<std::vector<NodeNoteDoc>> notes) {
        if (!notes) return emit noted(tr("Notes cannot be read: %1").arg(windowText(notes.error())));
        m_notes = std::make_shared<const std::vector<NodeNoteDoc>>(std::move(*notes));
        emit notesChanged();
      },
      JobQueue::Weight::Quiet);
}

void Session::leaveNote(const QString& node, const QString& text) {
  const auto doc = capture(m_location.capture);
  if (!m_graph || !doc || m_graph->find(node.toStdString()) < 0) return;
  const auto& entry = doc->graphs[std::size_t(m_location.graph)];
  const NodeNoteDoc note{m_graph->hash, node.toStdString(), text.toStdString(), doc->name,
                         notedPlace(entry.name, m_location)};
  const auto* known = noteAt(note.node);
  const workbench::NoteRequest before = known ? workbench::NoteRequest{*known} : workbench::NoteRequest{note, true};
  sendNote({note});
  addUndo({text.isEmpty() ? tr("bookmark") : tr("note"), [this, before] { sendNote(before); }});
}

void Session::forgetNote(const NodeNoteDoc& note) {
  sendNote({note, true});
  addUndo(
      {note.text.empty() ? tr("removing the bookmark") : tr("removing the note"), [this, note] { sendNote({note}); }});
}

/// One after the other, and what there is then is read again.
void Session::sendNote(const workbench::NoteRequest& request) {
  static int number = 0;
  m_jobs.submit<Result<workbench::Done>>(
      QString("note:%1").arg(++number),
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this](const Result<workbench::Done>& done) {
        if (!done) emit failed(tr("The note cannot be kept"), windowText(done.error()));
        listNotes();
      });
}

}  // namespace kerf::ui::inline session
