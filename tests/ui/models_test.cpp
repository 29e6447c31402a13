// Models, checked as the text that they show.
#include <gtest/gtest.h>

#include "tests/ui/support.h"
#include "ui/models/capture_tree_model.h"
#include "ui/models/format.h"
#include "ui/models/store_model.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"
#include "ui/panels/table_view.h"
#include "ui/session/history.h"

namespace kerf::ui {
namespace {

QString shownText(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0) {
  QStringList lines;
  for (int row = 0; row < model.rowCount(parent); ++row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(parent); ++column)
      cells << model.index(row, column, parent).data().toString();
    lines << QString(depth * 2, ' ') + cells.join(" | ");
    if (const auto below = shownText(model, model.index(row, 0, parent), depth + 1); !below.isEmpty()) lines << below;
  }
  return lines.join('\n');
}

TEST(PassModel, ShowsNodesBeforeAndAfter) {
  const auto model = makePassModel();
  model->setRows({{0, "remove_no_ops", "post_grad", "", "", 87, 87, 0.4, false, {}, {}},
                  {1, "cse", "post_grad", "", "", 87, 80, 1.25, true, {}, {"mul_1"}}});
  EXPECT_EQ(shownText(*model).toStdString(),
            "1 | remove_no_ops | post_grad | 87 | 0.40 ms\n"
            "2 | cse | post_grad | 87 → 80 | 1.25 ms");
  EXPECT_EQ(model->index(1, 1).data(Qt::ToolTipRole).toString(), "post_grad: 0 nodes added, 1 removed");
  EXPECT_EQ(model->index(0, 1).data(Qt::ForegroundRole).value<QColor>(), theme().muted);
}

TEST(CaptureTreeModel, ListsFilesAndTheirGraphs) {
  auto ready = std::make_shared<CaptureDoc>();
  ready->id = 4;
  ready->path = "/data/run/repro.py";
  ready->torchVersion = "2.11.0";
  ready->kind = "repro";
  ready->graphs.push_back({"forward", 1, 5, {}, {}, {}, -1, 0});
  auto refused = std::make_shared<CaptureDoc>();
  refused->id = 5;
  refused->path = "/data/run/bad.py";
  refused->error = "bad.py:3: unexpected end";
  CaptureTreeModel model;
  model.setCaptures({ready, refused});
  EXPECT_EQ(shownText(model).toStdString(), "run  repro.py\n  forward\nbad.py");
  const auto graph = model.index(0, 0, model.index(0, 0));
  EXPECT_EQ(graph.data(CaptureTreeModel::detailRole).toString(), "5 nodes");
  EXPECT_EQ(model.location(graph).capture, 4);
  EXPECT_EQ(model.location(model.index(1, 0)).capture, -1);
  EXPECT_EQ(model.index(1, 0).data(CaptureTreeModel::detailRole).toString(), "refused");
  EXPECT_EQ(model.indexOf({4, 0, Location::Stage::Pass, 2, {}}), graph);
}

TEST(CaptureTreeModel, ListsCompileIdsWithTheirGraphsAndRecords) {
  auto log = std::make_shared<CaptureDoc>();
  log->id = 7;
  log->path = "/data/trace.log";
  for (const char* name : {"dynamo_output_graph[0/0]", "aot_joint_graph[0/0]", "dynamo_output_graph[1/0]"})
    log->graphs.push_back({name, -1, -1, name, "[0/0]", {}, -1, 12});
  log->records = {{"dynamo_guards", "", "[0/0]", "/data/trace.log", -1, 9, 2048, -1},
                  {"aot_joint_graph", "", "[0/0]", "/data/trace.log", -1, 12, 100, 1},
                  {"str", "", "", "/data/trace.log", -1, 1, 0, -1}};
  log->compiles.push_back({"[0/0]", "/src/model.py:12 in forward", "ok", {}, -1, 1.5, {0, 1}, {0, 1}, {}});
  log->compiles.push_back({"[1/0]", {}, "failed", "Unsupported: no", -1, -1, {2}, {}, {}});
  CaptureTreeModel model;
  model.setCaptures({log});
  EXPECT_EQ(shownText(model).toStdString(),
            "data  trace.log\n"
            "  [0/0]  model.py:12 in forward\n"
            "    dynamo_output_graph[0/0]\n"
            "    aot_joint_graph[0/0]\n"
            "    Records\n"
            "      dynamo_guards\n"
            "  [1/0]\n"
            "    dynamo_output_graph[1/0]\n"
            "  Records\n"
            "    str");
  const auto capture = model.index(0, 0), first = model.index(0, 0, capture), second = model.index(1, 0, capture);
  EXPECT_EQ(first.data(CaptureTreeModel::detailRole).toString(), "1.5 s");
  EXPECT_EQ(second.data(CaptureTreeModel::detailRole).toString(), "failed");
  EXPECT_EQ(model.location(second).graph, 2);
  EXPECT_EQ(model.indexOf({7, 1, Location::Stage::Captured, -1, {}}), model.index(1, 0, first));
  EXPECT_EQ(model.record(model.index(0, 0, model.index(2, 0, first))), 0);
  EXPECT_EQ(model.parent(first), capture);
}

TEST(CaptureTreeModel, GroupsSeveralRanks) {
  auto logs = std::make_shared<CaptureDoc>();
  logs->path = "/data/logs";
  for (const int rank : {0, 1}) logs->compiles.push_back({"[0/0]", {}, "ok", {}, rank, -1, {}, {}, {}});
  CaptureTreeModel model;
  model.setCaptures({logs});
  EXPECT_EQ(shownText(model).toStdString(), "data  logs\n  rank 0\n    [0/0]\n  rank 1\n    [0/0]");
}

TEST(StoreModel, GroupsWhatTheStoreHoldsNewestFirst) {
  StoreListing store;
  store.captures = {{"c1", "repro", "/data/a/repro.py", "2.11.0", "2026-01-31T12:00:01Z", 1, 0, 0},
                    {"c2", "text", "/data/b.txt", "", "2026-02-01T08:30:00Z", 2, 0, 0}};
  store.graphs.push_back({"forward", 1, 5});
  store.graphs.back().id = "c1/g1";
  store.runs = {{"r1", "c1/g1", "compare", "llvm", "different", "2026-02-01T08:31:00Z", "", 12.5}};
  store.reductions = {{"m1", "c1/g1", "finished", "2026-02-01T08:32:00Z", "accuracy", "engine", 94, 3, 4, 20}};
  store.repros = {{"p1", "c1/g1", "m1", "2026-02-01T08:33:00Z", "", 3}};
  const auto model = makeStoreModel();
  fillStoreModel(*model, store);
  EXPECT_EQ(shownText(*model).toStdString(),
            "Captures | 2 |  | \n"
            "  c2 | text | 2 graphs  ·  data/b.txt | 2026-02-01 08:30:00\n"
            "  c1 | repro | 1 graph  ·  a/repro.py | 2026-01-31 12:00:01\n"
            "    c1/g1 |  | forward | 5 nodes\n"
            "Runs | 1 |  | \n"
            "  r1 | compare of c1/g1 | different | 2026-02-01 08:31:00\n"
            "Reductions | 1 |  | \n"
            "  m1 | finished, of c1/g1 | 94 → 3  ·  accuracy | 2026-02-01 08:32:00\n"
            "Repros | 1 |  | \n"
            "  p1 | of c1/g1 | 3 nodes | 2026-02-01 08:33:00");
  const auto run = model->index(0, 0, model->index(1, 0));
  EXPECT_EQ(run.data(storeNameRole).toString(), "c1/g1") << "a run opens its graph";
}

TEST(NodeModel, ShowsEveryNodeOfAGraph) {
  const auto model = makeNodeModel();
  const auto chain = test::makeChain(3);
  model->setRows(nodeRows(chain.get()));
  EXPECT_EQ(shownText(*model).toStdString(),
            "0 | x | x | 0 | 1 | f32[2, 2] | \n"
            "1 | n1 | add | 1 | 1 | f32[2, 2] | \n"
            "2 | n2 | add | 1 | 0 | f32[2, 2] | ");
}

TEST(DataTable, SortsNumbersAsNumbers) {
  auto* model = makeOutputModel().release();
  model->setRows({{.name = "out0", .same = true, .ratioToLimit = 9.5},
                  {.name = "out1", .same = true, .ratioToLimit = 120},
                  {.name = "out2", .same = true, .ratioToLimit = 10.25}});
  DataTable table(model);
  table.sortByColumn(2, Qt::DescendingOrder);
  EXPECT_EQ(table.model()->index(0, 0).data().toString(), "out1");
  EXPECT_EQ(table.model()->index(1, 0).data().toString(), "out2");
  table.filter().setKeep([](int row) { return row != 1; });
  EXPECT_EQ(table.model()->rowCount(), 2);
}

/// Sum of the widths of what is shown.
int widthOfColumns(const DataTable& table) {
  int width = 0;
  for (int column = 0; column < table.model()->columnCount(); ++column) width += table.columnWidth(column);
  return width;
}

TEST(DataTable, LongNamesGiveWayAndComeBackWithRoom) {
  auto* model = makeStepModel().release();
  StepDoc step;
  step.reduction = std::string(60, 'r');
  step.nodes = 1234567;
  model->setRows({step});
  DataTable table(model);
  table.resize(420, 200);
  table.show();
  table.fitColumns();
  EXPECT_LE(widthOfColumns(table), table.viewport()->width());
  const int nodes = table.columnWidth(2);
  EXPECT_GE(nodes, table.fontMetrics().horizontalAdvance("1,234,567")) << "what is short is not cut";
  const int narrow = table.columnWidth(1);
  table.resize(900, 200);
  QApplication::processEvents();
  EXPECT_GT(table.columnWidth(1), narrow);
  EXPECT_EQ(table.columnWidth(2), nodes);
  table.setChosenWidths({{"Reduction", 300}});
  table.resize(420, 200);
  QApplication::processEvents();
  EXPECT_EQ(table.columnWidth(1), 300) << "the user's own";
}

TEST(DataTable, HasRoomForTheLastNumberAndKeepsTheCurrentRowInView) {
  auto* model = makeStepModel().release();
  std::vector<StepDoc> steps(12'000);
  for (int i = 0; i < int(steps.size()); ++i) steps[std::size_t(i)].index = i;
  model->setRows(steps);
  DataTable table(model);
  table.resize(600, 600);
  table.show();
  table.fitColumns();
  EXPECT_GE(table.columnWidth(0), table.fontMetrics().horizontalAdvance("11999"));
  table.selectSourceRow(6'000);
  table.resize(600, 160);
  QApplication::processEvents();
  EXPECT_TRUE(table.viewport()->rect().contains(table.visualRect(table.currentIndex())));
}

TEST(Format, KeepsNumbersShort) {
  EXPECT_EQ(formatMilliseconds(0.42).toStdString(), "0.42 ms");
  EXPECT_EQ(formatMilliseconds(1250).toStdString(), "1.25 s");
  EXPECT_EQ(formatSeconds(125).toStdString(), "2 min 5 s");
  EXPECT_EQ(formatError(1.2e-5).toStdString(), "1.20e-05");
  EXPECT_EQ(formatRatio(std::numeric_limits<double>::infinity()).toStdString(), "inf");
  EXPECT_EQ(formatBytes(3300).toStdString(), "3.2 KiB");
  EXPECT_EQ(plural(1, "node").toStdString(), "1 node");
  EXPECT_EQ(plural(12345, "node").toStdString(), "12,345 nodes");
}

TEST(Theme, HeatGoesFromGoodToBad) {
  EXPECT_EQ(theme().heat(0), theme().good);
  EXPECT_EQ(theme().heat(1.5), theme().bad);
  EXPECT_EQ(theme().heat(std::numeric_limits<double>::quiet_NaN()), theme().bad);
  EXPECT_NE(theme().heat(0.5), theme().good);
}

TEST(Theme, StyleSheetHasNoUnknownNames) {
  for (const bool dark : {false, true}) {
    setTheme(dark);
    EXPECT_FALSE(theme().styleSheet().contains('@'));
  }
  setTheme(false);
}

TEST(History, ForgetsWhatLayAhead) {
  History<int> history;
  for (const int place : {1, 2, 2, 3}) history.push(place);
  EXPECT_EQ(history.back(), 2);
  EXPECT_EQ(history.back(), 1);
  EXPECT_FALSE(history.canBack());
  EXPECT_EQ(history.forward(), 2);
  history.push(9);
  EXPECT_FALSE(history.canForward());
  EXPECT_EQ(history.back(), 2);
}

}  // namespace
}  // namespace kerf::ui
