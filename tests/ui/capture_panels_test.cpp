// The panels of a whole capture: timeline, fusion groups, record; and symbolic sizes of a graph.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "tests/ui/support.h"
#include "tests/unit/fusion_captures.h"
#include "ui/panels/fusion_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/record_panel.h"
#include "ui/panels/timeline_panel.h"
#include "ui/shell/main_window.h"

namespace kerf::ui {
namespace {

/// Two threads: one with a bar of 1 s that holds one of 0.4 s, one with a bar of 0.5 s at the end.
std::shared_ptr<const TimelineDoc> twoThreads() {
  auto doc = std::make_shared<TimelineDoc>();
  doc->lanes = {{"thread 0", 0, 2}, {"thread 7", 2, 1}};
  doc->spans = {{"entire_frame_compile", "", "[0/0]", 0, 1'000'000, 0},
                {"inductor_compile", "", "[0/0]", 200'000, 400'000, 1},
                {"async_compile", "", "[1/0]", 500'000, 500'000, 2}};
  doc->length = 1'000'000;
  return doc;
}

TEST(TimelinePanel, PlacesBarsByTimeThreadAndDepth) {
  Session session;
  TimelinePanel panel(session);
  panel.resize(1000, 200);
  panel.show();
  panel.setTimeline(twoThreads());
  const int width = panel.viewport()->width();
  EXPECT_EQ(panel.rectOf(0).width(), width);
  EXPECT_NEAR(panel.rectOf(1).left(), width * 0.2, 1);
  EXPECT_NEAR(panel.rectOf(1).width(), width * 0.4, 1);
  EXPECT_GT(panel.rectOf(1).top(), panel.rectOf(0).bottom());
  EXPECT_GT(panel.rectOf(2).top(), panel.rectOf(1).bottom());
  EXPECT_EQ(panel.spanAt(panel.rectOf(1).center()), 1);
  EXPECT_EQ(panel.spanAt({5, panel.rectOf(1).center().y()}), -1);
}

TEST(TimelinePanel, PicksAndZooms) {
  Session session;
  TimelinePanel panel(session);
  panel.resize(1000, 200);
  panel.show();
  panel.setTimeline(twoThreads());
  QSignalSpy picked(&panel, &TimelinePanel::spanPicked);
  QTest::mouseClick(panel.viewport(), Qt::LeftButton, {}, panel.rectOf(1).center());
  ASSERT_EQ(picked.count(), 1);
  EXPECT_EQ(picked.first().first().toInt(), 1);
  QTest::mouseDClick(panel.viewport(), Qt::LeftButton, {}, panel.rectOf(1).center());
  EXPECT_NEAR(panel.rectOf(1).width(), panel.viewport()->width() / 1.1, 2);  // 5 % margin on both sides
  panel.zoomToAll();
  EXPECT_EQ(panel.rectOf(0).width(), panel.viewport()->width());
}

TEST(TimelinePanel, PaintsAMillionBarsQuickly) {
  auto doc = std::make_shared<TimelineDoc>();
  doc->lanes = {{"thread 0", 0, 1}};
  for (int i = 0; i < 1'000'000; ++i) doc->spans.push_back({"step", "", "", i * 10LL, 8, 0});
  doc->length = 10'000'000;
  Session session;
  TimelinePanel panel(session);
  panel.resize(1000, 200);
  panel.setTimeline(doc);
  panel.show();
  EXPECT_EQ(panel.grab().toImage().size(), QSize(1000, 200));
}

/// A log of one compile id: a graph, two timeline events, guards and fusion groups.
QByteArray smallLog() {
  const QByteArray stamp = "V1206 15:18:15.925000 1500233 torch/_dynamo/utils.py:1288] ";
  const QByteArray id = R"("frame_id": 0, "frame_compile_id": 0, "attempt": 0)";
  const auto record = [&](const QByteArray& json, const QByteArray& payload) {
    QByteArray text = stamp + "{" + json + ", " + id;
    text += payload.isEmpty() ? "}\n" : ", \"has_payload\": \"00\"}\n";
    for (const auto& line : payload.isEmpty() ? QList<QByteArray>() : payload.split('\n')) text += "\t" + line + "\n";
    return text;
  };
  return record(R"("chromium_event": {})",
                R"({"name": "dynamo", "ts": 1000, "ph": "B", "cat": "x", "tid": 0, "pid": 0})") +
         record(R"("aot_joint_graph": {})",
                "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[s0, 3]\", s0: \"Sym(s0)\"):\n"
                "        relu: \"f32[s0, 3]\" = torch.ops.aten.relu.default(x);  x = None\n        return (relu,)") +
         record(
             R"("artifact": {"name": "inductor_provenance_tracking_node_mappings", "encoding": "json"})",
             R"({"preToPost": {}, "postToPre": {}, "cppCodeToPost": {"cpp_fused_relu_0": ["relu"]}, "postToCppCode": {"relu": ["cpp_fused_relu_0"]}, "version": 2.0})") +
         record(R"("dynamo_guards": {})", R"([{"code": "s0 >= 2"}])") +
         record(R"("chromium_event": {})",
                R"({"name": "dynamo", "ts": 9000, "ph": "E", "cat": "x", "tid": 0, "pid": 0})");
}

TEST(CapturePanels, ShowWhatATraceHolds) {
  QTemporaryDir folder;
  QFile file(folder.filePath("dedicated_log_torch_trace_x.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(smallLog());
  file.close();
  MainWindow window({false, "light"});
  window.resize(1600, 1000);
  window.show();
  window.open({file.fileName()});
  ASSERT_TRUE(test::waitFor([&] { return window.idle() && window.session().graph(); }));
  ASSERT_TRUE(test::waitFor([&] { return window.fusionPanel().model()->rowCount() > 0; }));
  EXPECT_EQ(window.session().graph()->nodes.size(), 4u);
  ASSERT_EQ(window.fusionPanel().model()->rowCount(), 1);
  EXPECT_EQ(window.fusionPanel().model()->index(0, 1).data().toString(), "cpp_fused_relu_0");
  EXPECT_EQ(window.fusionPanel().model()->index(0, 3).data().toString(), "relu");
  EXPECT_EQ(window.timelinePanel().rectOf(0).width(), window.timelinePanel().viewport()->width());
  const auto capture = window.session().captures().front();
  ASSERT_EQ(capture->compiles.size(), 1u);
  EXPECT_EQ(capture->compiles[0].id, "[0/0]");
  int guards = 0;
  while (capture->records[std::size_t(guards)].kind != "dynamo_guards") ++guards;
  window.session().showRecord(capture->id, guards);
  ASSERT_TRUE(test::waitFor([&] { return window.session().record() != nullptr; }));
  EXPECT_EQ(window.recordPanel().title(), "dynamo_guards");
  EXPECT_TRUE(window.recordPanel().code().code().contains("\"code\": \"s0 >= 2\""));
}

/// A log without provenance maps: what was fused stands in the comments of the output code.
TEST(CapturePanels, ShowFusionGroupsOfTheOutputCode) {
  QTemporaryDir folder;
  QFile file(folder.filePath("chain.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(testing::chainLog()));
  file.close();
  MainWindow window({false, "light"});
  window.show();
  window.open({file.fileName()});
  const QAbstractItemModel& groups = *window.fusionPanel().model();
  ASSERT_TRUE(test::waitFor([&] { return window.idle() && groups.rowCount() > 0; }));
  ASSERT_EQ(groups.rowCount(), 1);
  EXPECT_TRUE(groups.index(0, 1).data().toString().startsWith("triton_poi_fused_add_mul_sigmoid_sub_0"));
  EXPECT_EQ(groups.index(0, 3).data().toString().toStdString(), "mul, add, sigmoid, mul_1, sub, mul_2, whole");
  const int id = window.session().captures().front()->id;
  ASSERT_TRUE(window.session().fusion(id));
  window.session().close(id);
  EXPECT_EQ(groups.rowCount(), 0);
  EXPECT_FALSE(window.session().fusion(id));
}

TEST(CapturePanels, AskForSymbolicSizes) {
  QTemporaryDir folder;
  QFile file(folder.filePath("trace.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(smallLog());
  file.close();
  MainWindow window({false, "light"});
  window.show();
  window.open({file.fileName()});
  ASSERT_TRUE(test::waitFor([&] { return window.idle() && window.session().graph(); }));
  window.places().go(WorkPlace::Graph);  // a trace is looked over first
  auto& symbols = window.pane().symbols();
  ASSERT_TRUE(symbols.isVisible());
  EXPECT_EQ(symbols.text(), "s0=");
  symbols.setText("s0=8");
  emit symbols.editingFinished();
  EXPECT_EQ(window.session().symbols(), QStringList{"s0=8"});
  ASSERT_TRUE(test::waitFor([&] {
    const auto guards = window.session().guards();
    return guards && guards->symbols.size() == 1 && guards->symbols[0].given == 8;
  }));
  EXPECT_TRUE(window.inspectorPanel().toPlainText().contains("SYMBOLS"))
      << window.inspectorPanel().toPlainText().toStdString();
}

}  // namespace
}  // namespace kerf::ui
