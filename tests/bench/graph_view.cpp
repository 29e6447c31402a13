// graph_view: what Studio does between a graph and its picture, against the times it may take. Prints a table; exit 1 if
// one of them takes longer, or a graph cannot be read. Arguments are graphs ("trace.log#aot_joint_graph"); made ones of
// 500 and 50,000 calls are always measured, and so are the first window, the longest gap of its event loop while the
// sample is opened and walked through, and the memory that it then takes; of each graph that is given, the gaps of what is
// done with it in a window, a step from stage to stage, and closing the window in the midst of work. Not run by ctest.
//
//   QT_QPA_PLATFORM=offscreen graph_view trace.log#aot_joint_graph
//   graph                 nodes   groups    first   expand     flat    frame
//   aot_joint_graph       3,557    12 ms    61 ms    24 ms   480 ms   2.1 ms
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <QTimer>

#include <fmt/format.h>

#include "app/workbench/protocol/remote_workbench.h"
#include "app/workbench/protocol/worker_process.h"
#include "tests/support/cpu_time.h"
#include "tests/ui/support.h"
#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/panels/stage_strip.h"
#include "ui/shell/main_window.h"

namespace {

using namespace kerf::ui;

/// Milliseconds; the longest that each may take.
struct Times {
  double groups = 0, first = 0, expand = 0, flat = 0, frame = 0;
};

constexpr double largest =
    4000;  ///< nodes; above this many, only frames have a limit, and the flat layout is for frames

Times limitsOf(std::size_t nodes) {
  if (nodes <= 500) return {300, 300, 150, 300, 17};
  if (nodes <= largest) return {1000, 1000, 150, 3000, 17};
  return {1e9, 1e9, 1e9, 1e9, 17};
}

template <class Work>
double millisecondsOf(const Work& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

ScenePtr laidOut(const GraphDocPtr& graph, const SceneOptions& options, const ScenePtr& before = nullptr) {
  return layOutGraph(graph, options, {}, before);
}

/// Opens every closed block of the first picture on its own; the longest counts.
double longestExpansion(const ScenePtr& first, GraphWidget& view) {
  double longest = 0;
  for (const auto& card : first->cards) {
    if (card.group < 0) continue;
    SceneOptions options;
    options.open = first->openPaths();
    options.open->insert(first->groups->groups[std::size_t(card.group)].path);
    view.setScene(first);
    longest = std::max(longest, millisecondsOf([&] {
                         view.setScene(laidOut(first->graph, options, first), true);
                         view.grab();
                       }));
  }
  return longest;
}

/// The slowest frame of a pan at four zooms, the best of three rounds each.
double slowestFrame(const ScenePtr& scene, GraphWidget& view) {
  double slowest = 0;
  view.setScene(scene);
  for (const double zoom : {0.0, 0.1, 0.4, 1.0}) {
    if (zoom == 0.0)
      view.fit();
    else
      view.setZoom(zoom, QPointF(view.width() / 2.0, view.height() / 2.0));
    for (const double part : {0.1, 0.5, 0.9}) {
      const auto& bounds = scene->bounds;
      view.moveTo({bounds.left() + bounds.width() * part, bounds.top() + bounds.height() * part});
      double best = 1e9;
      for (int round = 0; round < 3; ++round) best = std::min(best, millisecondsOf([&] { view.grab(); }));
      slowest = std::max(slowest, best);
    }
  }
  return slowest;
}

Times measure(const GraphDocPtr& graph) {
  Times times;
  GraphWidget view;
  view.resize(1600, 1000);
  view.grab();  // fonts are read
  ScenePtr first, flat;
  times.groups = millisecondsOf([&] { buildGroups(*graph); });
  times.first = millisecondsOf([&] {
    first = laidOut(graph, {.view = view.size()});
    view.setScene(first);
    view.grab();
  });
  times.expand = longestExpansion(first, view);
  times.flat = millisecondsOf([&] { flat = laidOut(graph, {.budget = 0}); });
  times.frame = std::max(slowestFrame(first, view), slowestFrame(flat, view));
  return times;
}

bool report(const GraphDocPtr& graph) {
  const auto times = measure(graph);
  const auto limits = limitsOf(graph->nodes.size());
  bool good = true;
  std::string row = fmt::format("{:24.24}{:>8}", graph->title, graph->nodes.size());
  for (const auto part : {&Times::groups, &Times::first, &Times::expand, &Times::flat, &Times::frame}) {
    const bool late = times.*part > limits.*part;
    good &= !late;
    row += fmt::format("{:>8.1f}{}", times.*part, late ? "!" : " ");
  }
  fmt::print("{}\n", row);
  std::fflush(stdout);
  return good;
}

constexpr double mostStart = 400, mostGap = 50;  ///< milliseconds

/// The longest time between two turns of the event loop, in CPU time of this thread: what else the machine does is no
/// business of the window.
class Turns {
 public:
  Turns() {
    m_timer.setTimerType(Qt::PreciseTimer);
    QObject::connect(&m_timer, &QTimer::timeout, [this] {
      const double now = kerf::testing::threadSeconds() * 1e3;
      m_longest = std::max(m_longest, now - std::exchange(m_last, now));
    });
    restart();
    m_timer.start(1);
  }
  double longest() const { return m_longest; }
  void restart() {
    m_longest = 0;
    m_last = kerf::testing::threadSeconds() * 1e3;
  }

 private:
  QTimer m_timer;
  double m_last = 0, m_longest = 0;  ///< milliseconds
};

/// Resident memory of this process in MB.
double residentMegabytes() {
  QFile file("/proc/self/statm");
  if (!file.open(QIODevice::ReadOnly)) return 0;
  return file.readAll().split(' ').value(1).toDouble() * 4096 / 1e6;
}

bool reportWindow() {
  std::unique_ptr<MainWindow> window;
  const double start = millisecondsOf([&] {
    window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
    window->resize(1366, 768);
    window->show();
    window->grab();
  });
  QCoreApplication::processEvents();
  const Turns turns;
  window->open({test::samplePath()});
  test::waitFor([&] { return window->idle() && window->pane().view().scene() != nullptr; });
  const auto walk = [&](const char* stage) {
    window->actions()[stage]->trigger();
    test::waitFor([&] { return window->idle(); });
    for (int node = 0; node < 90; node += 5) {
      window->session().selectNode(node);
      QTest::qWait(2);
    }
  };
  for (const char* stage : {"stage0", "stage3", "stage0"}) walk(stage);
  window->pane().search("op:relu users>0");
  QTest::qWait(5);
  fmt::print("first window {:.0f} ms{}, longest gap {:.0f} ms{}, memory {:.0f} MB\n", start,
             start > mostStart ? "!" : "", turns.longest(), turns.longest() > mostGap ? "!" : "", residentMegabytes());
  return start <= mostStart && turns.longest() <= mostGap;
}

/// What a graph of a capture is used for in one window, from opening it to closing the window in the midst of work.
class Workflow {
 public:
  explicit Workflow(const QString& name) : m_name(name.section('#', 1)) {
    m_window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
    m_window->resize(1366, 768);
    m_window->show();
    m_window->grab();
    QCoreApplication::processEvents();
    m_window->open({name.section('#', 0, 0)});
  }

  bool run() {
    Turns turns;
    if (!open()) return false;
    const auto gapOf = [&](const auto& work) {
      turns.restart();
      work();
      settle();
      return turns.longest();
    };
    settle();
    const double opened = turns.longest();
    const double walked = gapOf([&] { walk(); });
    const double expanded = gapOf([&] { m_window->pane().openAll(true); });
    const double folded = gapOf([&] { m_window->pane().openAll(false); });
    const double hulls = gapOf([&] { m_window->actions()["hulls"]->trigger(); });
    const double themes = gapOf([&] { m_window->setTheme("dark"); });
    std::vector<double> first, again;
    const double scrubbed = gapOf([&] {
      for (auto* times : {&first, &again}) scrub(*times);
    });
    const double close = closing();
    const auto worst = [](const std::vector<double>& times) { return times.empty() ? 0 : std::ranges::max(times); };
    fmt::print(
        "{:24.24} gaps: open {:.0f}, walk {:.0f}, open all {:.0f}, close all {:.0f}, outline {:.0f}, theme {:.0f}, "
        "scrub {:.0f}; step {:.0f}, again {:.0f}; closing {:.0f}; memory {:.0f} MB\n",
        m_name.toStdString(), opened, walked, expanded, folded, hulls, themes, scrubbed, worst(first), worst(again),
        close, residentMegabytes());
    return std::max({opened, walked, expanded, folded, hulls, scrubbed}) <= mostGap && worst(again) <= mostGap &&
           close <= mostClosing;
  }

 private:
  static constexpr double mostClosing = 300;

  bool open() {
    auto& session = m_window->session();
    test::waitFor([&] { return std::ranges::none_of(session.captures(), &CaptureDoc::loading); });
    for (const auto& capture : session.captures())
      for (int i = 0; i < int(capture->graphs.size()); ++i)
        if (text(capture->graphs[std::size_t(i)].name) == m_name) {
          session.go({capture->id, i, Location::Stage::Captured, -1, {}});
          return test::waitFor([&] { return session.location().graph == i && shown(); });
        }
    fmt::print("{}: no such graph\n", m_name.toStdString());
    return false;
  }
  bool shown() {
    const auto& scene = m_window->pane().view().scene();
    return scene && scene->shown == m_window->session().graph() && !m_window->pane().busy();
  }
  /// And until what came last has been painted.
  void settle() {
    test::waitFor([&] { return m_window->idle(); });
    QTest::qWait(50);
  }
  void walk() {
    const int count = int(m_window->session().graph()->nodes.size());
    for (int node = 0; node < count; node += std::max(1, count / 20)) {
      m_window->session().selectNode(node);
      test::waitFor([&] { return shown(); });
      QTest::qWait(5);
    }
  }
  /// Over the stages and back: CPU time of all threads of the window's process until each step's picture was there.
  void scrub(std::vector<double>& times) {
    for (const int step : {1, 1, 1, -1, -1, -1}) {
      const auto before = m_window->session().graph();
      const auto began = std::clock();
      m_window->stageStrip().step(step);
      if (QTest::qWaitFor([&] { return m_window->session().graph() != before && shown(); }, 5000))
        times.push_back(double(std::clock() - began) * 1e3 / CLOCKS_PER_SEC);
      QTest::qWait(200);  // what is beside it is read ahead
    }
  }
  double closing() {
    m_window->actions()["compare"]->trigger();
    m_window->pane().openAll(true);
    QTest::qWait(30);
    return millisecondsOf([&] { m_window.reset(); });
  }

  QString m_name;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  fmt::print("{:24}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}   in ms\n", "graph", "nodes", "groups", "first", "expand", "flat",
             "frame");
  bool good = reportWindow();
  good &= report(test::makeChain(500));
  kerf::workbench::RemoteWorkbench bench(kerf::workbench::workerProgram(), "");
  for (const auto& name : QCoreApplication::arguments().mid(1)) {
    const auto graph = bench.perform(kerf::workbench::GraphRequest{{name.toStdString()}});
    if (graph) good &= report(*graph);
    if (graph && name.contains('#')) good &= Workflow(name).run();
    if (graph) continue;
    fmt::print("{}: {}\n", name.toStdString(), graph.error().text());
    good = false;
  }
  good &= report(test::makeChain(50'000));
  return good ? 0 : 1;
}
