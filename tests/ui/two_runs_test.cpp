// Two runs beside each other: what is said is what `kerf diff` says of the two captures, and each stage opens.
#include <algorithm>
#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QJsonArray>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>

#include "tests/ui/window_fixture.h"
#include "ui/panels/align_view.h"
#include "ui/panels/runs_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

const QString everyKind = KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log";

class TwoRuns : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  QString textOf(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll());
  }
  RunsPanel& panel() { return m_window->runsPanel(); }
};

TEST_F(TwoRuns, SayWhereTwoGraphsPart) {
  const auto other = writeFile(
      "other.py", textOf(test::samplePath()).replace("aten.relu.default(", "aten.tanh.default(").toStdString());
  openSample();
  EXPECT_FALSE(m_window->places().buttonOf("runs")->isVisible()) << "there is one capture";
  open(other);
  m_window->actions()["compareRuns"]->trigger();
  settle();
  const auto runs = session().runs();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->error, "");
  EXPECT_FALSE(runs->same);
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("relu"));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("aten.relu.default"));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("aten.tanh.default"));
  const auto told = test::cliJson({"diff", test::samplePath(), other});
  ASSERT_EQ(runs->compiles.size(), 1u);
  EXPECT_EQ(int(runs->compiles[0].stages[0].difference.nodesAfter), told["nodes_after"].toInt());
  for (const auto& each : told["calls"].toArray())
    EXPECT_THAT(panel().detail().toStdString(), HasSubstr(each.toObject()["op"].toString().toStdString()));
  QTest::mouseClick(panel().findChild<QPushButton*>("goToFirstDifference"), Qt::LeftButton);
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_EQ(session().difference()->error, "");
  EXPECT_THAT(session().difference()->text, HasSubstr("tanh"));
}

TEST_F(TwoRuns, AreTheSameWhereNothingChanged) {
  open(everyKind);
  const auto again = writeFile("again.log", textOf(everyKind).toStdString());
  open(again);
  m_window->actions()["compareRuns"]->trigger();
  settle();
  const auto runs = session().runs();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->error, "");
  const auto told = test::cliJson({"diff", everyKind, again});
  EXPECT_EQ(runs->same, told["same"].toBool());
  EXPECT_EQ(int(runs->compiles.size()), told["compiles"].toArray().size());
  EXPECT_EQ(panel().lanes().topLevelItemCount(), told["compiles"].toArray().size());
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("The same"));
}

TEST_F(TwoRuns, ForgetThemselvesWithTheCapture) {
  openSample();
  open(writeFile("other.py", textOf(test::samplePath()).toStdString()));
  m_window->actions()["compareRuns"]->trigger();
  settle();
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("The same"));
  session().close(session().captures().front()->id);
  settle();
  EXPECT_EQ(panel().headline(), "");
  EXPECT_EQ(panel().lanes().topLevelItemCount(), 0);
}

/// The recordings of tests/data/alignment in the page.
class AlignedRuns : public TwoRuns {
 protected:
  QString recording(const char* name) { return QString(KERF_SOURCE_DIR "/tests/data/alignment/") + name; }
  void align(const QString& first, const QString& second) {
    m_window->actions()["alignRecordings"]->trigger();
    view().first().setText(first);
    view().second().setText(second);
    QTest::mouseClick(&view().run(), Qt::LeftButton);
    ASSERT_TRUE(test::waitFor([&] { return session().alignment() && !session().alignment()->running; }));
    settle();
  }
  AlignView& view() { return m_window->alignView(); }
  QString cell(int row, int column) { return view().table().model()->index(row, column).data().toString(); }
};

TEST_F(AlignedRuns, SayWhatTheCommandLineSays) {
  const auto first = recording("mlp-eager.json"), second = recording("mlp-eager-f1.json");
  align(first, second);
  const auto told = test::cliJson({"align", first, second, "--all"});
  const auto doc = session().alignment();
  ASSERT_EQ(doc->error, "");
  EXPECT_EQ(doc->verdict, told["verdict"].toString().toStdString());
  EXPECT_EQ(doc->first, told["first"].toInt());
  ASSERT_GE(doc->first, 0);
  const auto rows = told["rows"].toArray();
  ASSERT_EQ(view().table().model()->rowCount(), rows.size());
  ASSERT_GT(rows.size(), 5);
  for (int i = 0; i < rows.size(); ++i) {
    const auto row = rows[i].toObject();
    EXPECT_EQ(cell(i, 0), QString::number(row["pair"].toInt()));
    EXPECT_EQ(cell(i, 4), row["evidence"].toString());
    EXPECT_EQ(cell(i, 5), row["inputs"].toString());
    EXPECT_EQ(cell(i, 6), row["outputs"].toString());
  }
  const auto wrong =
      std::ranges::find_if(rows, [&](const auto& row) { return row.toObject()["pair"].toInt() == doc->first; });
  const auto name = (*wrong).toObject()["b"].toArray().last().toObject()["name"].toString();
  EXPECT_THAT(view().headline().toStdString(), HasSubstr("Different: the first step with equal inputs"));
  EXPECT_THAT(view().headline().toStdString(), HasSubstr(name.toStdString()));
  EXPECT_EQ(view().table().currentSourceRow(), int(wrong - rows.begin())) << "it is gone to";
  const auto detail = view().detail().toStdString();
  EXPECT_THAT(detail, HasSubstr((*wrong).toObject()["outputs_text"].toString().toStdString()));
  EXPECT_THAT(detail, HasSubstr((*wrong).toObject()["evidence"].toString().toStdString()));
}

TEST_F(AlignedRuns, ListWrongStepsAlone) {
  align(recording("mlp-eager.json"), recording("mlp-eager-f1.json"));
  const int all = view().table().model()->rowCount();
  view().onlyWrong().click();
  const auto& doc = *session().alignment();
  const auto wrong = std::ranges::count_if(doc.rows, [&](const auto& row) {
    return row.role == "first" || row.role == "new" || row.pair == doc.firstUnequal;
  });
  EXPECT_EQ(view().table().model()->rowCount(), int(wrong));
  EXPECT_LT(int(wrong), all);
  view().onlyWrong().click();
  EXPECT_EQ(view().table().model()->rowCount(), all);
}

TEST_F(AlignedRuns, HaveTheTwoSidesOfOneFolder) {
  align(recording("mlp-full"), {});
  const auto doc = session().alignment();
  ASSERT_EQ(doc->error, "");
  EXPECT_EQ(doc->a.part, "eager");
  EXPECT_EQ(doc->b.part, "compiled");
  EXPECT_EQ(doc->verdict, "rounding");
  EXPECT_FALSE(view().findChild<QPushButton*>("openStep")->isEnabled()) << "there is no graph beside the values";
}

/// A .safetensors file of one tensor of four elements.
std::string oneTensor(const std::string& name, const std::array<float, 4>& values) {
  const auto header = "{\"" + name + R"(":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::string bytes(8 + header.size() + sizeof(values), '\0');
  const std::uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, sizeof(size));
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  std::memcpy(bytes.data() + 8 + header.size(), values.data(), sizeof(values));
  return bytes;
}

TEST_F(AlignedRuns, OpenTheGraphOfARecordedStep) {
  const auto graph = writeFile("layer.txt",
                               "class GraphModule(torch.nn.Module):\n"
                               "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                               "        exp: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(x)\n"
                               "        neg: \"f32[4][1]cpu\" = torch.ops.aten.neg.default(exp)\n"
                               "        return (neg,)\n");
  const auto first = writeFile("first.safetensors", oneTensor("exp", {1, 2, 3, 4}));
  const auto second = writeFile("second.safetensors", oneTensor("exp", {1, 2, 3, 5}));
  m_window->actions()["alignRecordings"]->trigger();
  session().align(first, second, graph);
  ASSERT_TRUE(test::waitFor([&] { return session().alignment() && !session().alignment()->running; }));
  const auto doc = session().alignment();
  ASSERT_EQ(doc->error, "");
  ASSERT_EQ(doc->rows.size(), 1u);
  EXPECT_EQ(doc->rows[0].node, "exp");
  view().table().selectSourceRow(0);
  emit view().table().picked(0);
  auto* open = view().findChild<QPushButton*>("openStep");
  ASSERT_TRUE(open->isEnabled());
  open->click();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().nodeDoc(); }));
  EXPECT_EQ(session().nodeDoc()->name, "exp");
  EXPECT_EQ(m_window->places().place(), WorkPlace::Graph);
}

TEST_F(AlignedRuns, RefuseWhatIsNoRecording) {
  align(test::samplePath(), recording("mlp-eager.json"));
  EXPECT_THAT(view().hint().toStdString(), HasSubstr("is no recording of a run"));
  align(recording("nowhere.json"), recording("mlp-eager.json"));
  EXPECT_THAT(view().hint().toStdString(), HasSubstr("there is no file"));
  align(recording("mlp-eager.json"), {});
  EXPECT_THAT(view().hint().toStdString(), HasSubstr("a second recording is missing"));
  align(recording("mlp-eager.json"), recording("mlp-eager.json"));
  EXPECT_THAT(view().headline().toStdString(), HasSubstr("The same"));
}

}  // namespace
}  // namespace kerf::ui
