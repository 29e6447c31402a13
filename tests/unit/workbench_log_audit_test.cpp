// The part of a trace's report about its output code: a row for each program, and what is refuted, as text.
#include <gmock/gmock.h>

#include "app/workbench/logs/log_audit.h"

namespace kerf::workbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AuditedProgram program() {
  AuditedProgram made;
  made.name = "[0/0] c<b>.py";
  made.kernels = 3;
  made.counts = {{"inside", "every access lies inside of its buffer", 17, 1, 2}};
  made.claims = {{"inside", "refuted", 12, "tl.load(in_ptr0 + (x0))", 4, "buf0 = empty_strided_cpu((36, ), (1, ))",
                  "in_ptr0 of k (buf0)", "it reaches element 36", "element 36"},
                 {"inside", "not known", 15, "x", 0, "", "buf1", "its sizes are not known", ""}};
  return made;
}

TEST(LogAudit, CountsClaimsAndShowsWhatIsRefuted) {
  const std::string html = auditHtml({program()});
  EXPECT_THAT(html, HasSubstr("[0/0] c&lt;b&gt;.py"));
  EXPECT_THAT(html, HasSubstr("<td class=\"num\">3</td><td class=\"num\">17</td><td class=\"num problem\">1</td>"));
  EXPECT_THAT(html, HasSubstr("line 12: tl.load(in_ptr0 + (x0))\nline 4: buf0"));
  EXPECT_THAT(html, HasSubstr("counterexample: element 36"));
  EXPECT_THAT(html, Not(HasSubstr("its sizes are not known")));
}

TEST(LogAudit, SaysWhyAProgramIsNotAudited) {
  AuditedProgram unread;
  unread.name = "[1/0]";
  unread.error = "left out";
  EXPECT_THAT(auditHtml({unread}), HasSubstr("<td>[1/0]</td><td colspan=\"4\">left out</td>"));
  EXPECT_EQ(auditHtml({}), "");
}

}  // namespace
}  // namespace kerf::workbench
