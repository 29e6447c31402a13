// Text of a stranger's file in the window: shown, not obeyed.
#include <QFileInfo>
#include <QLabel>

#include "tests/ui/window_fixture.h"
#include "ui/session/text.h"

namespace kerf::ui {
namespace {

TEST(ShownText, SpellsOutWhatTurnsTheDirectionOrHides) {
  EXPECT_EQ(text("a\xe2\x80\xae"
                 "b\xe2\x81\xa6")
                .toStdString(),
            "a\\u202eb\\u2066");
  EXPECT_EQ(text("\x1b[31m").toStdString(), "\\x1b[31m");
  EXPECT_EQ(text("a\xf3\xa0\x81\xa1"
                 "b")
                .toStdString(),
            "a\\U000e0061b")
      << "a tag letter, which nothing draws";
  EXPECT_EQ(text("\xf0\x9f\x98\x80").toStdString(), "\xf0\x9f\x98\x80");
  EXPECT_EQ(text("a\xff"
                 "b")
                .toStdString(),
            "a\\xffb")
      << "no UTF-8";
  EXPECT_EQ(text("one\r\ntwo\rthree").toStdString(), "one\ntwo\\x0dthree");
  EXPECT_EQ(text("größer\n\t図").toStdString(), "größer\n\t図");
}

TEST_F(Window, AFileWhoseNameTurnsTheDirectionIsOpenedOnceAndReloaded) {
  const QTemporaryDir folder;
  const auto path = QFileInfo(folder.path()).canonicalFilePath() + QString::fromUtf8(
                                                                       "/a\xe2\x80\xae"
                                                                       "b.py");
  ASSERT_TRUE(QFile::copy(test::samplePath(), path));
  open(path);
  ASSERT_EQ(session().captures().size(), 1u);
  const int first = session().location().capture;
  open(path);
  EXPECT_EQ(session().captures().size(), 1u);
  EXPECT_EQ(session().location().capture, first) << "what is open already is shown";
  session().reload();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  ASSERT_EQ(session().captures().size(), 1u);
  const auto again = session().captures().front();
  EXPECT_NE(again->id, first);
  EXPECT_EQ(again->name, path.toStdString());
  EXPECT_EQ(again->error, "");
  ASSERT_TRUE(session().graph());
  EXPECT_EQ(session().graph()->nodes.size(), 94u);
}

TEST_F(Window, LabelsAreNoHtmlUnlessTheySaySo) {
  QLabel guessed("<img src='x'><b>name</b>"), meant("<b>name</b>");
  meant.setTextFormat(Qt::RichText);
  guessed.ensurePolished();
  meant.ensurePolished();
  EXPECT_EQ(guessed.textFormat(), Qt::PlainText);
  EXPECT_EQ(meant.textFormat(), Qt::RichText);
}

}  // namespace
}  // namespace kerf::ui
