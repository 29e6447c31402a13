// Lines of code that belong to a document: each becomes a text when it is looked at.
#include <memory>

#include <gtest/gtest.h>

#include "ui/panels/code_lines.h"
#include "ui/panels/code_view.h"
#include "ui/session/text.h"

namespace kerf::ui {
namespace {

using Document = std::shared_ptr<const std::vector<std::string>>;

Document documentOf(std::vector<std::string> lines) {
  return std::make_shared<const std::vector<std::string>>(std::move(lines));
}

TEST(CodeLines, OfADocumentAreThoseOfItsTexts) {
  const std::vector<std::string> given{"def f(x):", "    return x  # \u00e9\u20ac", "\tx\u202e", " ", ""};
  const CodeLines shared(documentOf(given));
  QStringList texts;
  for (const auto& line : given) texts << text(line);
  const CodeLines own(texts);
  EXPECT_EQ(shared.size(), 3) << "blank lines at the end are left out";
  ASSERT_EQ(shared.size(), own.size());
  for (int line = -1; line < 6; ++line) EXPECT_EQ(shared.at(line), own.at(line)) << line;
  EXPECT_EQ(shared.joined(), own.joined());
  EXPECT_EQ(shared.longest(), own.longest());
  EXPECT_EQ(shared.longest(), int(shared.at(1).size()));
}

TEST(CodeLines, CanBeNone) {
  for (const CodeLines& lines :
       {CodeLines(), CodeLines(Document()), CodeLines(documentOf({})), CodeLines(QStringList())}) {
    EXPECT_TRUE(lines.isEmpty());
    EXPECT_EQ(lines.joined(), "");
    EXPECT_EQ(lines.longest(), 0);
    EXPECT_EQ(lines.at(0), "");
  }
}

TEST(CodeLines, OutliveWhoeverMadeThem) {
  CodeView view;
  {
    const auto document = documentOf({"a = 1", "b = 2"});
    view.setCode(CodeLines(document));
  }
  EXPECT_EQ(view.code(), "a = 1\nb = 2");
  EXPECT_EQ(view.line(1), "b = 2");
  EXPECT_EQ(view.lineCount(), 2);
}

}  // namespace
}  // namespace kerf::ui
