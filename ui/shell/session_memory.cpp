#include "ui/shell/session_memory.h"

#include <QFileInfo>

#include "ui/panels/accuracy_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/table_view.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {
namespace {

/// A file that is still there, or what the store holds.
bool opensStill(const QString& name) { return isStoreName(name) || QFileInfo::exists(name); }

QVariantMap mapOf(const NamedPlace& place) {
  const bool ofPass = place.place.stage == Location::Stage::Pass;
  return {{"capture", QString::fromStdString(place.capture)},
          {"graph", QString::fromStdString(place.graph)},
          {"aotStage", QString::fromStdString(place.place.aotStage)},
          {"body", QString::fromStdString(place.place.body)},
          {"pass", ofPass ? QVariant(place.place.index) : QVariant()},  // steps of a minification are not kept
          {"node", place.place.node}};
}

NamedPlace placeOf(const QVariantMap& map) {
  NamedPlace place{map["capture"].toString().toStdString(), map["graph"].toString().toStdString(), {}};
  place.place.aotStage = map["aotStage"].toString().toStdString();
  place.place.body = map["body"].toString().toStdString();
  place.place.node = map["node"].toString();
  if (map["pass"].isValid()) {
    place.place.stage = Location::Stage::Pass;
    place.place.index = map["pass"].toInt();
  }
  return place;
}

/// Once their graph is there; a user who pinned them in an earlier session has nothing to take back.
void restorePins(Session& session, const NamedPlace& place, const QStringList& pins) {
  if (pins.isEmpty()) return;
  const auto once = std::make_shared<QMetaObject::Connection>();
  *once = QObject::connect(&session, &Session::graphChanged, &session, [&session, place, pins, once] {
    if (!session.graph()) return;
    QObject::disconnect(*once);
    const auto now = session.namedPlace();
    if (!now || now->capture != place.capture || now->graph != place.graph) return;
    for (const auto& node : pins)
      if (session.graph()->find(node.toStdString()) >= 0) session.keepPinned(node);
  });
}

}  // namespace

QVariantMap rememberedSession(MainWindow& window) {
  QStringList names;
  for (const auto& capture : window.session().captures())
    if (capture->error.empty() && !names.contains(QString::fromStdString(capture->name)))
      names << QString::fromStdString(capture->name);
  const auto place = window.session().namedPlace();
  if (names.isEmpty() || !place) return {};
  const auto& view = window.pane().view();
  QVariantMap session{{"captures", names}, {"place", mapOf(*place)}, {"pins", window.session().pins()}};
  if (const auto kept = window.accuracyPanel().kept(); !kept.isEmpty()) session["compared"] = kept;
  if (window.session().shownProgram() >= 0) session["program"] = window.programPanel().place();
  if (!view.scene()) return session;
  QStringList open;
  for (const auto& path : view.scene()->openPaths()) open << QString::fromStdString(path);
  session["zoom"] = view.untouched() ? QVariant() : QVariant(view.zoom());
  session["center"] = view.visibleScene().center();
  session["open"] = open;
  return session;
}

QStringList openedBefore(const QVariantMap& session) {
  QStringList names;
  for (const auto& name : session["captures"].toStringList())
    if (opensStill(name)) names << name;
  return names;
}

void restoreSession(MainWindow& window, const QVariantMap& session) {
  const auto place = placeOf(session["place"].toMap());
  const auto names = openedBefore(session);
  if (names.isEmpty()) return;
  const bool there = names.contains(QString::fromStdString(place.capture));
  if (there && session["zoom"].isValid()) {
    KeptView view;
    for (const auto& path : session["open"].toStringList()) view.open.insert(path.toStdString());
    view.zoom = session["zoom"].toDouble();
    view.center = session["center"].toPointF();
    window.pane().keepView(std::move(view));
  }
  window.session().comeBack(names);
  if (there && session.contains("compared")) window.accuracyPanel().setEarlier(session["compared"].toMap());
  if (there && session.contains("program")) window.programPanel().restore(session["program"].toMap());
  if (there) restorePins(window.session(), place, session["pins"].toStringList());
  if (there) window.session().goTo(place);
  window.session().open(names, !there);
}

QVariantMap columnWidths(const QWidget& window) {
  QVariantMap widths;
  for (const auto* table : window.findChildren<DataTable*>())
    if (const auto chosen = table->chosenWidths(); !chosen.isEmpty()) widths.insert(table->objectName(), chosen);
  return widths;
}

void restoreColumnWidths(const QWidget& window, const QVariantMap& widths) {
  for (auto* table : window.findChildren<DataTable*>())
    if (const auto chosen = widths.value(table->objectName()).toMap(); !chosen.isEmpty())
      table->setChosenWidths(chosen);
}

}  // namespace kerf::ui::inline shell
