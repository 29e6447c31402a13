// The first view of a trace: the compilations by the user's stack, how they went, and why; what it says is what `kerf show`
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QJsonArray>
#include <QLineEdit>
#include <QTextBrowser>
#include <QTreeView>
#include <QTreeWidget>

#include "tests/ui/window_fixture.h"
#include "ui/models/format.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/overview_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

const QString everyKind = KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log";

class OverviewWindow : public Window {
 protected:
  void openTrace() {
    open(everyKind);
    ASSERT_TRUE(test::waitFor([&] { return session().traceLog(session().location().capture) && m_window->idle(); }));
  }
  OverviewPanel& panel() { return m_window->overviewPanel(); }
  CaptureDocPtr capture() { return session().capture(session().location().capture); }
};

TEST_F(OverviewWindow, IsTheFirstViewOfATraceAndOfNothingElse) {
  openSample();
  EXPECT_FALSE(panel().isVisible());
  EXPECT_EQ(m_window->places().place(), WorkPlace::Graph);
  openTrace();
  EXPECT_TRUE(panel().isVisible());
  EXPECT_EQ(m_window->places().place(), WorkPlace::Overview);
}

/// A log of kernels has no graph to go to; its page says what ran and where it comes from.
TEST_F(OverviewWindow, ShowsKernelsOfALogWithoutGraphs) {
  const auto log = writeFile(
      "kernels.ndjson",
      R"({"event_type": "compilation", "stack": [], "payload": {"metadata": {"hash": "ab12cd34ef", "name": "twice", "num_warps": 4}, "file_content": {"twice.ttir": "%0 = f loc(\"m.py\":3:1)\n%1 = f loc(\"m.py\":3:9)\n"}}}
{"event_type": "launch", "name": "twice", "grid": [8, 2], "compilation_metadata": {"hash": "ab12cd34ef"}, "extracted_args": {"n": {"type": "int", "value": 64}}, "stack": [{"line": 41, "name": "scale", "filename": "m.py", "loc": "x"}]}
)");
  open(log);
  ASSERT_TRUE(test::waitFor([&] { return session().traceLog(session().shownCapture()) && m_window->idle(); }));
  EXPECT_TRUE(panel().isVisible());
  if (!panel().rows().empty()) panel().showCompile(panel().rows().front().compile);
  const auto said = panel().detail().toStdString();
  for (const char* words :
       {"twice", "4 warps", "launched once", "[8, 2] ×1", "n: 64", "m.py:41 in scale", "m.py:3", "1-2"})
    EXPECT_THAT(said, HasSubstr(words));
}

TEST_F(OverviewWindow, HasEveryCompileIdOnceWithStatusTimeAndWhy) {
  openTrace();
  const auto told = test::cliJson({"show", everyKind});
  const auto compiles = told["compiles"].toArray();
  ASSERT_GT(compiles.size(), 3);
  ASSERT_EQ(std::size_t(compiles.size()), capture()->compiles.size());
  std::map<int, OverviewRow> rows;
  for (const auto& row : panel().rows())
    if (row.compile >= 0) {
      EXPECT_TRUE(rows.emplace(row.compile, row).second) << qPrintable(row.where);
    }
  ASSERT_EQ(rows.size(), capture()->compiles.size());
  for (int i = 0; i < compiles.size(); ++i) {
    const auto one = compiles[i].toObject();
    const auto& row = rows.at(i);
    EXPECT_TRUE(row.where.startsWith(one["id"].toString())) << qPrintable(row.where);
    EXPECT_EQ(row.status, one["status"].toString());
    if (one["elapsed_ms"].isDouble()) {
      EXPECT_EQ(row.time, formatSeconds(one["elapsed_ms"].toDouble() / 1000));
    }
    for (const auto& remark : one["remarks"].toArray())
      EXPECT_TRUE(row.remarks.contains(remark.toString())) << qPrintable(remark.toString());
  }
  const auto stacks = test::cliJson({"show", everyKind, "--format", "stacks"})["rows"].toArray();
  int frames = 0;
  for (const auto& row : panel().rows()) frames += row.compile < 0;
  EXPECT_GT(frames, 0);
  EXPECT_LE(frames, stacks.size()) << "frames in a line are one row";
}

TEST_F(OverviewWindow, SaysWhyAndWhatToDo) {
  openTrace();
  const auto breaks = test::cliJson({"show", everyKind, "--format", "breaks"})["rows"].toArray();
  ASSERT_FALSE(breaks.isEmpty());
  const auto& id = breaks[0].toObject()["id"].toString();
  int compile = 0;
  while (text(capture()->compiles[std::size_t(compile)].id) != id) ++compile;
  panel().showCompile(compile);
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("Hint: Use `torch.cond`."));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr(breaks[0].toObject()["where"].toString().toStdString()));
  const auto again = test::cliJson({"show", everyKind, "--format", "recompiles"})["rows"].toArray()[0].toObject();
  compile = 0;
  while (text(capture()->compiles[std::size_t(compile)].id) != again["id"].toString()) ++compile;
  panel().showCompile(compile);
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr(again["changed"].toString().toStdString()));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("mark_dynamic"));
}

TEST_F(OverviewWindow, TellsTheTotalsAndTheAnswer) {
  openTrace();
  const auto told = test::cliJson({"show", everyKind});
  EXPECT_TRUE(panel().totals().startsWith(QString::number(told["compiles"].toArray().size()) + " compilation"))
      << qPrintable(panel().totals());
  for (const auto& sentence : told["answer"].toArray())
    EXPECT_THAT(panel().detail().toStdString(), HasSubstr(sentence.toObject()["text"].toString().toStdString()));
}

TEST_F(OverviewWindow, ARowOpensItsGraphInOneStep) {
  openTrace();
  const auto& rows = panel().rows();
  const auto row =
      std::ranges::find_if(rows, [](const OverviewRow& each) { return each.compile >= 0 && each.graph > 0; });
  ASSERT_NE(row, rows.end());
  panel().showCompile(row->compile);
  panel().tree().setFocus();
  QTest::keyClick(&panel().tree(), Qt::Key_Return);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(m_window->places().place(), WorkPlace::Graph);
  EXPECT_EQ(session().location().graph, row->graph);
  EXPECT_TRUE(m_window->pane().view().isVisible());
  EXPECT_THAT(m_window->inspectorPanel().toPlainText().toStdString(),
              HasSubstr(capture()->compiles[std::size_t(row->compile)].id));
}

TEST_F(OverviewWindow, TheTreeAndThePaletteAnswerTheSame) {
  openTrace();
  const auto remark = session().traceLog(capture()->id)->remarks.front();
  const auto& tree = m_window->capturesPanel().tree();
  QStringList tips;
  const std::function<void(const QModelIndex&)> read = [&](const QModelIndex& parent) {
    for (int row = 0; row < tree.model()->rowCount(parent); ++row) {
      const auto index = tree.model()->index(row, 0, parent);
      tips << index.data(Qt::ToolTipRole).toString();
      read(index);
    }
  };
  read({});
  EXPECT_TRUE(tips.join('\n').contains(text(remark.text)));
  m_window->actions()["palette"]->trigger();
  auto* edit = m_window->findChild<QLineEdit*>("choice");
  ASSERT_NE(edit, nullptr);
  QTest::keyClicks(edit, "why " + text(remark.id));
  QTest::keyClick(edit, Qt::Key_Return);
  EXPECT_EQ(m_window->places().place(), WorkPlace::Overview);
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr(remark.id));
}

TEST_F(OverviewWindow, CapturesAreCalledByModelAndFoundByTheFilter) {
  EXPECT_EQ(captureTitle("/data/gpt2/trace/dedicated_log_torch_trace_rank_0_x.log"), "gpt2");
  EXPECT_EQ(captureTitle("/data/resnet50/aot/torch_compile_debug/run_2026-pid_3/minifier/minifier_launcher.py"),
            "resnet50");
  EXPECT_EQ(captureTitle("/data/attention.pt2"), "attention.pt2");
  EXPECT_EQ(captureTitle("repro.py"), "repro.py");
  openSample();
  openTrace();
  auto& panel = m_window->capturesPanel();
  const auto& model = *panel.tree().model();
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_TRUE(model.index(0, 0).data().toString().startsWith("mlp8"))
      << qPrintable(model.index(0, 0).data().toString());
  panel.filter().setText("mlp8");
  EXPECT_FALSE(panel.tree().isRowHidden(0, {}));
  EXPECT_TRUE(panel.tree().isRowHidden(1, {}));
  panel.filter().clear();
  EXPECT_FALSE(panel.tree().isRowHidden(1, {}));
}

TEST_F(OverviewWindow, AFrameBehindACompilationIsBelowIt) {
  CaptureDoc capture;
  capture.compiles = {{"[0/0]", "", "ok", ""}, {"[1/0]", "", "ok", ""}};
  capture.compiles[0].id = "[0/0]";
  capture.compiles[1].id = "[1/0]";
  TraceLogDoc log;
  workbench::LogTable stacks{"stacks", "", {{"frame", "", false}, {"ids", "", false}}, {}, ""};
  stacks.rows = {{{"a", ""}, "", 0}, {{"b", "[0/0]"}, "", 0}, {{"c", ""}, "", 1}, {{"d", "[1/0]"}, "", 1}};
  log.tables.push_back(stacks);
  const auto rows = overviewRows(capture, &log);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].where, "b");
  EXPECT_EQ(rows[0].tip, "a\nb");
  EXPECT_EQ(rows[1].compile, 0);
  EXPECT_EQ(rows[2].where, "d");
  EXPECT_EQ(rows[2].parent, 0);
  EXPECT_EQ(rows[3].compile, 1);
  EXPECT_EQ(rows[3].parent, 2);
}

}  // namespace
}  // namespace kerf::ui
