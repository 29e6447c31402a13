// Text of a stranger's file in the window: shown, not obeyed.
#include <QLabel>

#include "tests/ui/window_fixture.h"
#include "ui/session/text.h"

namespace kerf::ui {
namespace {

TEST(ShownText, SpellsOutWhatTurnsTheDirectionOrHides) {
  EXPECT_EQ(text("a\xe2\x80\xae" "b\xe2\x81\xa6").toStdString(), "a\\u202eb\\u2066");
  EXPECT_EQ(text("\x1b[31m").toStdString(), "\\u001b[31m");
  EXPECT_EQ(text("größer\n\t図").toStdString(), "größer\n\t図");
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
