#include "ui/shell/command_palette.h"

#include <functional>

#include <QFileInfo>

#include "ui/models/format.h"
#include "ui/panels/overview_panel.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/choice_popup.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {
namespace {

/// What can be chosen, and what then happens.
struct Palette {
  std::vector<Choice> choices;
  std::vector<std::function<void()>> deeds;

  void add(Choice choice, std::function<void()> deed) {
    choices.push_back(std::move(choice));
    deeds.push_back(std::move(deed));
  }
};

void addCommands(Palette& palette, const Actions& actions) {
  for (auto* action : actions.all()) {
    if (!action->isEnabled() || action->objectName() == "palette") continue;
    const auto keys = action->shortcut().toString(QKeySequence::NativeText);
    palette.add({QString(action->text()).remove('&').remove("…"), keys, action->icon(), '>'},
                [action] { action->trigger(); });
  }
}

void addGraphs(Palette& palette, Session& session) {
  const auto icon = themedIcon("open");
  for (const auto& capture : session.captures())
    for (int i = 0; i < int(capture->graphs.size()); ++i) {
      const auto& graph = capture->graphs[std::size_t(i)];
      const auto compile = graph.compileId.empty() ? QString() : text(graph.compileId) + "  ";
      palette.add(
          {text(graph.name),
           compile + captureTitle(text(capture->path)) + "  " + QFileInfo(text(capture->path)).fileName(), icon, '#'},
          [&session, id = capture->id, i] { session.go({id, i, Location::Stage::Captured, -1, {}}); });
    }
}

/// Why compilations broke, restarted, were made again or failed: found by "why" as well as by what happened.
void addRemarks(Palette& palette, MainWindow& window) {
  auto& session = window.session();
  const int shown = session.location().capture;
  const auto capture = session.capture(shown);
  const auto log = session.traceLog(shown);
  for (const auto& remark : log ? log->remarks : std::vector<workbench::LogRemark>())
    for (int i = 0; i < int(capture->compiles.size()); ++i) {
      const auto& entry = capture->compiles[std::size_t(i)];
      if (entry.id != remark.id || entry.rank != remark.rank) continue;
      palette.add({QObject::tr("why %1: %2").arg(text(remark.id), text(remark.text).left(120)),
                   captureTitle(text(capture->path)),
                   {},
                   '?',
                   false},
                  [&window, i] {
                    window.raisePanel("overview");
                    window.overviewPanel().showCompile(i);
                  });
    }
}

/// What the store holds and what was opened lately, but is not open.
void addCaptures(Palette& palette, MainWindow& window) {
  const auto icon = themedIcon("folder");
  for (const auto& path : window.recentPaths())
    palette.add({QFileInfo(path).fileName(), QFileInfo(path).path(), icon, '#', false},
                [&window, path] { window.open({path}); });
  const auto store = window.session().store();
  for (const auto& capture : store ? store->captures : std::vector<workbench::StoredCapture>())
    palette.add({text(capture.id + "  " + QFileInfo(text(capture.path)).fileName().toStdString()),
                 QObject::tr("in the store"), icon, '#', false},
                [&window, id = QString::fromStdString(capture.id)] { window.open({id}); });
}

void addNodes(Palette& palette, MainWindow& window) {
  const auto graph = window.session().graph();
  for (int i = 0; graph && i < int(graph->nodes.size()); ++i) {
    const auto& node = graph->nodes[std::size_t(i)];
    palette.add({text(node.name), text(node.op + "  " + node.value), {}, '@', false}, [&window, i] {
      window.session().selectNode(i);
      window.pane().view().reveal(i);
    });
  }
}

}  // namespace

void showCommandPalette(MainWindow& window, const Actions& actions) {
  Palette palette;
  addCommands(palette, actions);
  addGraphs(palette, window.session());
  addCaptures(palette, window);
  addRemarks(palette, window);
  addNodes(palette, window);
  showChoices(window, QObject::tr("Commands, graphs, captures and nodes  (> # @ for one of them)"),
              std::move(palette.choices), [deeds = std::move(palette.deeds)](int at) { deeds[std::size_t(at)](); });
}

}  // namespace kerf::ui::inline shell
