// The texts of trace records: recompile reasons, graph breaks, sources, patterns with holes.
#include <gtest/gtest.h>

#include "engine/capture/trace/graph_breaks.h"
#include "engine/capture/trace/graph_print.h"
#include "engine/capture/trace/log_text.h"
#include "engine/capture/trace/recompile_reasons.h"

namespace kerf {
namespace {

using namespace trace;

struct ReasonCase {
  const char *reason, *subject, *before, *after;
};

TEST(RecompileReasons, SayWhatChanged) {
  const ReasonCase cases[] = {
      {"0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3", "x.size(0)", "2", "3"},
      {"0/0: tensor 'L['x']' stride mismatch at index 1. expected 1, actual 8", "x.stride(1)", "1", "8"},
      {"0/0: tensor 'x' rank mismatch. expected 2, actual 3", "x.dim()", "2", "3"},
      {"0/0: tensor 'x' dtype mismatch. expected Float, actual Half", "x.dtype", "Float", "Half"},
      {"0/0: tensor 'x' requires_grad mismatch. expected requires_grad=1", "x.requires_grad", "1", ""},
      {"0/0: GLOBAL_STATE changed: grad_mode ", "the global state: grad_mode", "", ""},
      {"0/0: ___check_obj_id(fn, 139870659812992)                   ", "the identity of fn", "", ""},
      {"0/0: ___check_type_id(L['self'].act, 10759232)", "the type of self.act", "", ""},
      {"0/0: len(L['items']) == 3  # train.py:4 in f", "len(items)", "3", ""},
      {"0/0: L['n'] == 7", "n", "7", ""},
      {"0/0: L['x'].size()[0] == 2", "x.size(0)", "2", ""},
      {"0/0: not L['kwargs']", "whether kwargs is empty", "", ""},
      {"0/0: 2 <= L['x'].size()[0]", "2 <= x.size()[0]", "", ""},
      {"something of tomorrow", "something of tomorrow", "", ""}};
  for (const ReasonCase& one : cases) {
    const RecompileCause cause = recompileCause(one.reason);
    EXPECT_EQ(cause.subject, one.subject);
    EXPECT_EQ(cause.before, one.before) << one.reason;
    EXPECT_EQ(cause.after, one.after) << one.reason;
  }
  EXPECT_EQ(recompileCause("- 12/3_1: L['n'] == 7\n  more").from, "[12/3_1]");
  EXPECT_EQ(recompileCause("tensor: x").from, "");
}

TEST(GraphBreaks, KeepTheReasonBehindWhatDynamoWasDoing) {
  const GraphBreak broken = graphBreak(
      "Graph break in user code at /p/m.py:35\nGraph Break Reason: Encountered graph break when attempting to trace "
      "CALL: "
      "a function call, e.g. f(x, y):\n\nFailed to trace builtin operator\n  Explanation: no print\n");
  EXPECT_EQ(broken.reason, "Failed to trace builtin operator");
  EXPECT_EQ(broken.where, "/p/m.py:35");
  EXPECT_EQ(graphBreak("").reason, "");
  EXPECT_EQ(graphBreak("call to print").reason, "call to print");
}

TEST(LogText, HolesEndWhereTheTextBehindThemBegins) {
  EXPECT_EQ(fits("len({}) == {}", "len(x) == 3"), (std::vector<std::string_view>{"x", "3"}));
  EXPECT_TRUE(fits("len({}) == {}", "len(x) != 3").empty());
  EXPECT_TRUE(fits("a{}b", "ab and more").empty());
  EXPECT_EQ(fits("same", "same").size(), 1u);
  EXPECT_TRUE(fits("same", "other").empty());
}

TEST(LogText, SourcesReadAsTheUserSaysThem) {
  EXPECT_EQ(plainSource("L['x'].size()[0]"), "x.size()[0]");
  EXPECT_EQ(plainSource("G['cfg'].n + L['y']"), "cfg.n + y");
  EXPECT_EQ(plainSource("MODEL['x']"), "MODEL['x']");
  EXPECT_EQ(plainSource("L['open"), "L['open");
}

TEST(LogText, ClippingKeepsWholeCharacters) {
  EXPECT_EQ(clippedText("abc", 3), "abc");
  EXPECT_EQ(clippedText("a→b", 2), "a…");
  EXPECT_EQ(clippedText("a→b", 4), "a→…");
}

TEST(GraphPrint, NumbersOfRanksAndObjectsDoNotCount) {
  EXPECT_EQ(withoutRankNumbers("f32[2, 3]cuda:3"), "f32[2, 3]cuda:#");
  EXPECT_EQ(withoutRankNumbers("___check_obj_id(fn, 139870659812992)"), "___check_obj_id(fn, #)");
}

}  // namespace
}  // namespace kerf
